//! Random texts and numbers. Each is made once for an instance, and kept.

use data_encoding::BASE64;
use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, Type, Value};

use crate::made::once;

const DIGITS: &[u8] = b"0123456789";
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LETTERS_AND_DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const LENGTH: &[Type] = &[Type::INT];

/// Random texts and numbers.
pub const FUNCTIONS: &[Function] = &[
    Function::new("randAlphaNum", LENGTH, |call| {
        text(call, LETTERS_AND_DIGITS)
    }),
    Function::new("randAlpha", LENGTH, |call| text(call, LETTERS)),
    Function::new("randNumeric", LENGTH, |call| text(call, DIGITS)),
    Function::new("randAscii", LENGTH, |call| {
        let printable: Vec<u8> = (b' '..=b'~').collect();
        text(call, &printable)
    }),
    Function::new("randBytes", LENGTH, |call| {
        let length = length(call)?;
        let made = once(call, |random| {
            let mut bytes = vec![0; length];
            random.fill(&mut bytes);
            Ok(BASE64.encode(&bytes))
        });
        Ok(made?.into())
    }),
    Function::new("randInt", &[Type::INT, Type::INT], |call| {
        let (from, to) = (call.int(0)?, call.int(1)?);
        let width = to.checked_sub(from).filter(|width| *width > 0);
        let width = width.ok_or_else(|| Failure::new("invalid argument to Intn"))?;
        let made = once(call, |random| {
            Ok(random.below(width.unsigned_abs()).to_string())
        });
        let above: i64 = made?.parse().unwrap_or_default();
        Ok(Value::int(from.saturating_add(above)))
    }),
    Function::new("uuidv4", &[], |call| {
        let made = once(call, |random| {
            let mut bytes = [0; 16];
            random.fill(&mut bytes);
            Ok(uuid::Builder::from_random_bytes(bytes)
                .into_uuid()
                .to_string())
        });
        Ok(made?.into())
    }),
    Function::new("shuffle", &[Type::String], |call| {
        let text = call.string(0)?.to_str();
        call.budget().spend_string(text.len())?;
        let made = once(call, |random| {
            let mut letters: Vec<char> = text.chars().collect();
            for last in (1..letters.len()).rev() {
                let other = random.below(last as u64 + 1);
                letters.swap(last, usize::try_from(other).unwrap_or(last));
            }
            Ok(letters.into_iter().collect())
        });
        Ok(made?.into())
    }),
];

fn text(call: &mut Call<'_>, alphabet: &[u8]) -> Result<Value, Failure> {
    let length = length(call)?;
    let made = once(call, |random| {
        Ok((0..length)
            .map(|_| char::from(random.of(alphabet)))
            .collect())
    });
    Ok(made?.into())
}

/// A negative length is that of an empty text.
fn length(call: &mut Call<'_>) -> Result<usize, Failure> {
    let length = usize::try_from(call.int(0)?).unwrap_or(0);
    call.budget().spend_string(length)?;
    Ok(length)
}
