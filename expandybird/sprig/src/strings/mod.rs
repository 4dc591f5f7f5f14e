//! Texts. Lengths and positions count bytes, as Sprig counts them.

mod cases;
mod parts;
mod paths;
mod words;

pub use cases::CASES;
pub use parts::PARTS;
pub use paths::PATHS;

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::text::{RUNE_ERROR, decode_rune, is_space};
use expandybird_gotemplate::value::{Call, Function, GoString, Type, Value};

const TEXT: &[Type] = &[Type::String];
const TWO_TEXTS: &[Type] = &[Type::String, Type::String];
const NUMBER_AND_TEXT: &[Type] = &[Type::INT, Type::String];

/// Trimming, searching, indenting.
pub const FUNCTIONS: &[Function] = &[
    Function::new("trim", TEXT, |call| {
        Ok(part(call.string(0)?, trimmed(call.string(0)?, is_space)))
    }),
    Function::new("trimAll", TWO_TEXTS, trim_all),
    Function::new("trimall", TWO_TEXTS, trim_all),
    Function::new("trimPrefix", TWO_TEXTS, |call| {
        let text = call.string(1)?;
        Ok(part(
            text,
            text.strip_prefix(&**call.string(0)?).unwrap_or(text),
        ))
    }),
    Function::new("trimSuffix", TWO_TEXTS, |call| {
        let text = call.string(1)?;
        Ok(part(
            text,
            text.strip_suffix(&**call.string(0)?).unwrap_or(text),
        ))
    }),
    Function::new("contains", TWO_TEXTS, |call| {
        let found = memchr::memmem::find(call.string(1)?, call.string(0)?);
        Ok(found.is_some().into())
    }),
    Function::new("hasPrefix", TWO_TEXTS, |call| {
        Ok(call.string(1)?.starts_with(call.string(0)?).into())
    }),
    Function::new("hasSuffix", TWO_TEXTS, |call| {
        Ok(call.string(1)?.ends_with(call.string(0)?).into())
    }),
    Function::new("repeat", NUMBER_AND_TEXT, repeat),
    Function::new(
        "replace",
        &[Type::String, Type::String, Type::String],
        |call| {
            let (old, new, text) = (call.string(0)?, call.string(1)?, call.string(2)?);
            let replaced = replaced(call, text, old, new)?;
            Ok(replaced.into())
        },
    ),
    Function::new("indent", NUMBER_AND_TEXT, |call| {
        let padded = indented(call, b"")?;
        Ok(padded.into())
    }),
    Function::new("nindent", NUMBER_AND_TEXT, |call| {
        let padded = indented(call, b"\n")?;
        Ok(padded.into())
    }),
    Function::new("plural", &[Type::String, Type::String, Type::INT], |call| {
        let chosen = if call.int(2)? == 1 { 0 } else { 1 };
        Ok(call.string(chosen)?.clone().into())
    }),
];

/// A part of a text as a value: the text itself where it is all of it.
fn part(whole: &GoString, part: &[u8]) -> Value {
    if part.len() == whole.len() {
        return whole.clone().into();
    }
    Value::String(part.into())
}

/// The text without the characters at both ends that `cut` holds for.
fn trimmed(text: &[u8], cut: impl Fn(char) -> bool) -> &[u8] {
    let mut rest = text;
    while let (rune, length @ 1..) = decode_rune(rest) {
        if !cut(rune.unwrap_or(RUNE_ERROR)) {
            break;
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    while let (rune, length @ 1..) = decode_last_rune(rest) {
        if !cut(rune.unwrap_or(RUNE_ERROR)) {
            break;
        }
        rest = rest.get(..rest.len() - length).unwrap_or_default();
    }
    rest
}

/// The last character and its length in bytes: `None` and 1 for a byte that is not UTF-8, `None` and 0 at the start.
fn decode_last_rune(bytes: &[u8]) -> (Option<char>, usize) {
    for length in 1..=bytes.len().min(4) {
        let end = bytes.get(bytes.len() - length..).unwrap_or_default();
        if let (Some(rune), decoded) = decode_rune(end)
            && decoded == length
        {
            return (Some(rune), length);
        }
    }
    (None, bytes.len().min(1))
}

fn trim_all(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (cut, text) = (call.string(0)?, call.string(1)?);
    call.budget().spend(cut.len())?;
    let cut: std::collections::HashSet<char> = expandybird_gotemplate::text::runes(cut).collect();
    Ok(part(text, trimmed(text, |rune| cut.contains(&rune))))
}

fn repeat(call: &mut Call<'_>) -> Result<Value, Failure> {
    let text = call.string(1)?;
    let Ok(count) = usize::try_from(call.int(0)?) else {
        return Err(Failure::new("strings: negative Repeat count"));
    };
    call.budget()
        .spend_string(text.len().saturating_mul(count))?;
    Ok(Value::string(text.repeat(count)))
}

/// `text` with `new` for each `old`. An empty `old` stands before each character and at the end.
fn replaced(
    call: &mut Call<'_>,
    text: &GoString,
    old: &[u8],
    new: &[u8],
) -> Result<GoString, Failure> {
    if old.is_empty() {
        return spread(call, text, new);
    }
    let found: Vec<usize> = memchr::memmem::find_iter(text, old).collect();
    if found.is_empty() {
        return Ok(text.clone());
    }
    let grown = new
        .len()
        .saturating_mul(found.len())
        .saturating_add(text.len());
    call.budget()
        .spend_string(grown - found.len().saturating_mul(old.len()).min(grown))?;
    let mut out = Vec::with_capacity(grown);
    let mut from = 0;
    for start in found {
        out.extend_from_slice(text.get(from..start).unwrap_or_default());
        out.extend_from_slice(new);
        from = start + old.len();
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
    Ok(out.into())
}

fn spread(call: &mut Call<'_>, text: &[u8], new: &[u8]) -> Result<GoString, Failure> {
    let grown = new
        .len()
        .saturating_mul(text.len() + 1)
        .saturating_add(text.len());
    call.budget().spend_string(grown)?;
    let mut out = new.to_vec();
    let mut rest = text;
    while let (_, length @ 1..) = decode_rune(rest) {
        out.extend_from_slice(rest.get(..length).unwrap_or_default());
        out.extend_from_slice(new);
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(out.into())
}

/// Each line after so many spaces, empty lines as well.
fn indented(call: &mut Call<'_>, start: &[u8]) -> Result<GoString, Failure> {
    let text = call.string(1)?;
    let Ok(width) = usize::try_from(call.int(0)?) else {
        return Err(Failure::new("strings: negative Repeat count"));
    };
    let lines = memchr::memchr_iter(b'\n', text).count() + 1;
    let grown = width.saturating_mul(lines).saturating_add(text.len());
    call.budget().spend_string(grown)?;
    let pad = vec![b' '; width];
    let mut out = Vec::with_capacity(grown + start.len());
    out.extend_from_slice(start);
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if index > 0 {
            out.push(b'\n');
        }
        out.extend_from_slice(&pad);
        out.extend_from_slice(line);
    }
    Ok(out.into())
}
