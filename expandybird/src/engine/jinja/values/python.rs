//! Python's conversions, iteration, equality and attributes of values.

use minijinja::value::{Tuple, ValueKind};
use minijinja::{Error, ErrorKind, Value};

use super::repr;
use crate::engine::jinja::filters::Group;
use crate::engine::jinja::globals::range::Range;
use crate::engine::jinja::{meter, values};

pub fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

/// An operation that an undefined value does not support. minijinja adds its name.
pub fn undefined(value: &Value, what: &str) -> Error {
    match value.get_attr("") {
        Err(error) => error,
        Ok(_) => Error::new(
            ErrorKind::UndefinedError,
            format!("an undefined value {what}"),
        ),
    }
}

/// An integer or a boolean as an integer. Beyond 64 bits, the nearest value that fits.
pub fn integer(value: &Value) -> Result<i64, Error> {
    match value.kind() {
        ValueKind::Bool => Ok(i64::from(value.is_true())),
        ValueKind::Number if value.is_integer() => Ok(match value.as_i64() {
            Some(number) => number,
            None if i128::try_from(value.clone()).is_ok_and(i128::is_negative) => i64::MIN,
            None => i64::MAX,
        }),
        ValueKind::Undefined => Err(undefined(value, "is not an integer")),
        _ => Err(invalid(format!(
            "'{}' object cannot be interpreted as an integer",
            repr::type_name(value)
        ))),
    }
}

/// A number of characters or items. Negative numbers count as zero.
pub fn count(value: &Value) -> Result<usize, Error> {
    Ok(usize::try_from(integer(value)?.max(0)).unwrap_or(usize::MAX))
}

/// A float, from any number or boolean.
pub fn float(value: &Value) -> Result<f64, Error> {
    match value.kind() {
        ValueKind::Bool => Ok(f64::from(u8::from(value.is_true()))),
        ValueKind::Number => f64::try_from(value.clone()),
        ValueKind::Undefined => Err(undefined(value, "is not a number")),
        _ => Err(invalid(format!(
            "must be real number, not {}",
            repr::type_name(value)
        ))),
    }
}

/// A text. Other types are errors.
pub fn text(value: &Value) -> Result<&str, Error> {
    value.as_str().ok_or_else(|| {
        invalid(format!(
            "a text is needed here, not {}",
            repr::type_name(value)
        ))
    })
}

/// `str()` of a value. Empty for an undefined one.
pub fn string(value: &Value) -> Result<String, Error> {
    meter::text(|out| repr::write_str(out, value))
}

/// A tuple, or a pair of `groupby`, which is one with names.
pub fn is_tuple(value: &Value) -> bool {
    value.downcast_object_ref::<Tuple>().is_some() || value.downcast_object_ref::<Group>().is_some()
}

/// A list. Not a tuple or a range, because they cannot be changed.
pub fn is_mutable_list(value: &Value) -> bool {
    let is_fixed = is_tuple(value) || value.downcast_object_ref::<Range>().is_some();
    is_list(value) && !is_fixed
}

/// A map whose keys are its items. Not a namespace or a module.
pub fn is_map(value: &Value) -> bool {
    repr::is_dict(value)
}

/// A value with items. A namespace has attributes but no items.
pub fn is_iterable(value: &Value) -> bool {
    value.kind() != ValueKind::Map || is_map(value)
}

pub fn is_list(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
}

/// Items of a list, keys of a map, characters of a text. Nothing for an undefined value.
pub fn items(value: &Value) -> Result<Vec<Value>, Error> {
    values::items(value)
}

/// Pairs of a map.
pub fn pairs(map: &Value) -> Result<Vec<(Value, Value)>, Error> {
    let keys = items(map)?.into_iter();
    keys.map(|key| {
        let value = map.get_item(&key)?;
        Ok((key, value))
    })
    .collect()
}

/// `environment.getitem`: an item, otherwise an attribute, otherwise undefined.
pub fn item(value: &Value, key: &Value) -> Result<Value, Error> {
    if value.is_undefined() {
        return Err(undefined(value, "has no attributes"));
    }
    let found = match (value.as_str(), integer(key)) {
        (Some(text), Ok(index)) => character(text, index),
        _ => value.get_item(key).unwrap_or_default(),
    };
    Ok(found)
}

fn character(text: &str, index: i64) -> Value {
    let found = match usize::try_from(index) {
        Ok(index) => text.chars().nth(index),
        Err(_) => usize::try_from(-(index + 1))
            .ok()
            .and_then(|index| text.chars().rev().nth(index)),
    };
    found.map(Value::from).unwrap_or_default()
}

/// The path in an `attribute=`: `a.0.b`, or an integer.
pub fn path(attribute: &Value) -> Vec<Value> {
    match attribute.as_str() {
        Some(text) => text.split('.').map(step).collect(),
        None if attribute.is_none() => Vec::new(),
        None => vec![attribute.clone()],
    }
}

fn step(name: &str) -> Value {
    let is_index = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    match name.parse::<i64>() {
        Ok(index) if is_index => Value::from(index),
        _ => Value::from(name),
    }
}

/// The value at the path. The default, if there is one, replaces undefined values on the path.
pub fn follow(value: &Value, path: &[Value], default: Option<&Value>) -> Result<Value, Error> {
    path.iter().try_fold(value.clone(), |value, step| {
        let found = item(&value, step)?;
        Ok(match default {
            Some(default) if found.is_undefined() => default.clone(),
            _ => found,
        })
    })
}

/// For comparisons without regard to case.
pub fn folded(value: Value, case_sensitive: bool) -> Value {
    match value.as_str() {
        Some(text) if !case_sensitive => Value::from(text.to_lowercase()),
        _ => value,
    }
}

/// White space, as in `str.isspace`.
pub fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

/// A capital, followed by lower-case letters.
pub fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(titled).unwrap_or_default();
    first + &characters.as_str().to_lowercase()
}

/// A character at the start of a word: `ß` as `Ss`.
pub fn titled(character: char) -> String {
    let mut upper = character.to_uppercase();
    let first: String = upper.by_ref().take(1).collect();
    first + &upper.collect::<String>().to_lowercase()
}

/// Which ends of a text to strip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    Both,
    Start,
    End,
}

/// The text without these characters, or without white space, at its ends.
pub fn stripped(text: &str, characters: Option<Value>, sides: Sides) -> Result<&str, Error> {
    let set = characters.as_ref().map(self::text).transpose()?;
    let is_in = |c: char| set.map_or_else(|| is_space(c), |set| set.contains(c));
    Ok(match sides {
        Sides::Both => text.trim_matches(is_in),
        Sides::Start => text.trim_start_matches(is_in),
        Sides::End => text.trim_end_matches(is_in),
    })
}

/// The lines of a text, as in `str.splitlines`.
pub fn lines(text: &str, keep_ends: bool) -> Vec<&str> {
    let is_end = |c: char| {
        matches!(
            c,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'
                ..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_end) {
        let width = match rest[at..].starts_with("\r\n") {
            true => 2,
            false => rest[at..].chars().next().map_or(1, char::len_utf8),
        };
        lines.push(&rest[..if keep_ends { at + width } else { at }]);
        rest = &rest[at + width..];
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}
