//! Lists, defaults, JSON and cases of letters.

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, List, Type, Value};
use expandybird_sprig::json::{Style, encode};

/// `json`: also what every action that prints ends with.
pub const JSON: Function = Function::new("json", &[Type::Any], |call| {
    let value = call.argument(0)?;
    let json = encode(call.budget(), value, Style::COMPACT);
    Ok(Value::string(json?))
});

pub const FUNCTIONS: &[Function] = &[
    JSON,
    Function::variadic("list", &[], Type::Any, |call| {
        Ok(Value::List(List::any(call.arguments().to_vec())))
    }),
    Function::new("default", &[Type::Any, Type::Any], |call| {
        let (default, value) = (call.argument(0)?, call.argument(1)?);
        Ok(match value {
            Value::Nil => default.clone(),
            value => value.clone(),
        })
    }),
    Function::new("required", &[Type::Any], |call| match call.argument(0)? {
        Value::Nil => Err(Failure::new("required value is nil")),
        value => Ok(value.clone()),
    }),
    Function::new("upper", &[Type::String], |call| {
        changed(call, |text| text.to_uppercase())
    }),
    Function::new("lower", &[Type::String], |call| {
        changed(call, |text| text.to_lowercase())
    }),
    Function::new("title", &[Type::String], |call| changed(call, title)),
];

fn changed(call: &mut Call<'_>, change: fn(&str) -> String) -> Result<Value, Failure> {
    let text = call.string(0)?;
    // A letter may become three.
    call.budget().spend_string(text.len().saturating_mul(3))?;
    Ok(change(&text.to_str()).into())
}

/// Go's `strings.Title`: a word begins after what is no letter, no digit and no underscore.
fn title(text: &str) -> String {
    let mut titled = String::with_capacity(text.len());
    let mut before = ' ';
    for letter in text.chars() {
        match before.is_alphanumeric() || before == '_' {
            true => titled.push(letter),
            false => titled.extend(letter.to_uppercase()),
        }
        before = letter;
    }
    titled
}
