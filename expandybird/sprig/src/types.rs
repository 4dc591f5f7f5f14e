//! Types, defaults and choices.

use expandybird_gotemplate::budget::Budget;
use expandybird_gotemplate::error::{Failure, Limit};
use expandybird_gotemplate::text::write_quoted;
use expandybird_gotemplate::value::{Call, Function, Type, Value};

use crate::convert::{printed, to_text};
use crate::equal::deep_equal;

/// `typeOf` and its relatives, `default` and its relatives.
pub const FUNCTIONS: &[Function] = &[
    Function::new("typeOf", &[Type::Any], |call| {
        Ok(call.argument(0)?.type_text().into())
    }),
    Function::new("typeIs", &[Type::String, Type::Any], |call| {
        Ok(has_type(call, false)?.into())
    }),
    Function::new("typeIsLike", &[Type::String, Type::Any], |call| {
        Ok(has_type(call, true)?.into())
    }),
    Function::new("kindOf", &[Type::Any], |call| {
        Ok(call.argument(0)?.kind_text().into())
    }),
    Function::new("kindIs", &[Type::String, Type::Any], |call| {
        Ok((**call.string(0)? == *call.argument(1)?.kind_text().as_bytes()).into())
    }),
    Function::new("deepEqual", &[Type::Any, Type::Any], |call| {
        let (left, right) = (call.argument(0)?, call.argument(1)?);
        Ok(deep_equal(call.budget(), left, right)?.into())
    }),
    Function::variadic("default", &[Type::Any], Type::Any, |call| {
        let given = call.rest().first().filter(|value| !is_empty(value));
        Ok(given.unwrap_or(call.argument(0)?).clone())
    }),
    Function::new("empty", &[Type::Any], |call| {
        Ok(is_empty(call.argument(0)?).into())
    }),
    Function::variadic("coalesce", &[], Type::Any, |call| {
        let found = call.rest().iter().find(|value| !is_empty(value));
        Ok(found.cloned().unwrap_or_default())
    }),
    Function::variadic("all", &[], Type::Any, |call| {
        Ok((!call.rest().iter().any(is_empty)).into())
    }),
    Function::variadic("any", &[], Type::Any, |call| {
        Ok(call.rest().iter().any(|value| !is_empty(value)).into())
    }),
    Function::new("ternary", &[Type::Any, Type::Any, Type::Bool], |call| {
        let chosen = if call.bool(2)? { 0 } else { 1 };
        Ok(call.argument(chosen)?.clone())
    }),
    Function::new("fail", &[Type::String], |call| {
        Err(Failure::new(call.string(0)?.to_str()))
    }),
    Function::new("toString", &[Type::Any], |call| {
        let value = call.argument(0)?;
        Ok(to_text(call.budget(), value)?.into())
    }),
    Function::new("hello", &[], |_| Ok("Hello!".into())),
    Function::variadic("quote", &[], Type::Any, |call| {
        spaced(call, |budget, value| {
            let mut quoted = Vec::new();
            write_quoted(&mut quoted, &to_text(budget, value)?, false);
            Ok(quoted)
        })
    }),
    Function::variadic("squote", &[], Type::Any, |call| {
        spaced(call, |budget, value| {
            Ok([b"'", &*printed(budget, value)?, b"'"].concat())
        })
    }),
    Function::variadic("cat", &[], Type::Any, |call| {
        spaced(call, |budget, value| Ok(printed(budget, value)?.to_vec()))
    }),
];

/// The texts of the arguments that are not nil, with spaces between them.
fn spaced(
    call: &mut Call<'_>,
    text: impl Fn(&mut Budget, &Value) -> Result<Vec<u8>, Limit>,
) -> Result<Value, Failure> {
    let given = call
        .rest()
        .iter()
        .filter(|value| !matches!(value, Value::Nil));
    let budget = call.budget();
    let texts = given
        .map(|value| text(budget, value))
        .collect::<Result<Vec<_>, _>>()?;
    let text = texts.join(&b' ');
    budget.spend_string(text.len())?;
    Ok(Value::string(text))
}

fn has_type(call: &Call<'_>, or_pointer: bool) -> Result<bool, Failure> {
    let wanted = call.string(0)?;
    let found = call.argument(1)?.type_text();
    let pointee = found.strip_prefix('*').filter(|_| or_pointer);
    Ok(**wanted == *found.as_bytes() || pointee.is_some_and(|name| **wanted == *name.as_bytes()))
}

/// Sprig's `empty`: the zero of a type, no text, no items. A struct is never empty.
pub fn is_empty(value: &Value) -> bool {
    !value.is_true()
}
