//! Random passwords.

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, Type, Value};
use expandybird_sprig::made::once;

const DICTIONARY: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

pub const FUNCTIONS: &[Function] = &[Function::new(
    "generatePassword",
    &[Type::INT, Type::Any],
    password,
)];

/// Every character of the dictionary with the same probability.
fn password(call: &mut Call<'_>) -> Result<Value, Failure> {
    let length = usize::try_from(call.int(0)?).unwrap_or_default();
    let dictionary = match call.argument(1)? {
        Value::Nil => DICTIONARY.into(),
        Value::String(text) => text.to_str(),
        _ => return Err(Failure::new("password dictionary not a string")),
    };
    let characters: Vec<char> = dictionary.chars().collect();
    if characters.is_empty() {
        return Err(Failure::new("password dictionary is empty"));
    }
    if length == 0 {
        return Ok("".into());
    }
    call.budget().spend_string(length.saturating_mul(4))?;
    let made = once(call, |random| {
        let count = characters.len() as u64;
        let one = || {
            let at = usize::try_from(random.below(count)).unwrap_or_default();
            characters.get(at).copied().unwrap_or_default()
        };
        Ok(std::iter::repeat_with(one).take(length).collect())
    });
    Ok(made?.into())
}
