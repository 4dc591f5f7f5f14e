//! For web pages: escapes, attributes, tags, queries.

use minijinja::value::ValueKind;
use minijinja::{Error, Value};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::entity;
use crate::engine::jinja::signature::Call;
use crate::engine::jinja::values::python::{self, string};
use crate::engine::jinja::values::repr;
use crate::engine::jinja::{meter, values};

/// The characters that Python's `urllib.parse.quote` does not change, apart from letters and digits.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'_')
    .remove(b'.')
    .remove(b'-')
    .remove(b'~');
const PATH: &AsciiSet = &QUERY.remove(b'/');

/// `&`, `<`, `>` and quotes. Text that is already escaped stays unchanged.
pub fn escape(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    escaped_once(&call.subject())
}

fn escaped_once(value: &Value) -> Result<Value, Error> {
    match value.is_safe() {
        true => Ok(value.clone()),
        false => escaped_again(value),
    }
}

pub fn forceescape(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    escaped_again(&call.subject())
}

fn escaped_again(value: &Value) -> Result<Value, Error> {
    let escaped = escaped(&string(value)?);
    meter::check(escaped.len())?;
    Ok(Value::from_safe_string(escaped))
}

/// A text that is already escaped.
pub fn safe(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    string(&call.subject()).map(Value::from_safe_string)
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&#34;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Removes tags and comments, reduces white space to single blanks, decodes entities.
pub fn striptags(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let text = without(&string(&call.subject())?, "<!--", "-->");
    let text = without(&text, "<", ">");
    let words = text.split(python::is_space).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    Ok(Value::from(entity::decoded(&words.join(" "))))
}

fn without(text: &str, open: &str, close: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(open) {
        let Some(end) = rest[start..].find(close) else {
            break;
        };
        kept.push_str(&rest[..start]);
        rest = &rest[start + end + close.len()..];
    }
    kept + rest
}

/// ` a="1" b="x"`, without entries that are none or undefined.
pub fn xmlattr(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, autospace] = call.arguments();
    let mut attributes = Vec::new();
    for (key, content) in map_pairs(&value.value())? {
        if content.is_none() || content.is_undefined() {
            continue;
        }
        let name = python::text(&key)?;
        if name.contains(|c: char| "/>=".contains(c) || c.is_ascii_whitespace() || c == '\u{b}') {
            return Err(python::invalid(format!(
                "invalid character in attribute name: '{name}'"
            )));
        }
        let content = escaped_once(&content)?;
        attributes.push(format!("{}=\"{}\"", escaped(name), string(&content)?));
    }
    let mut text = attributes.join(" ");
    if autospace.flag(true) && !text.is_empty() {
        text.insert(0, ' ');
    }
    meter::check(text.len())?;
    Ok(Value::from(text))
}

fn map_pairs(value: &Value) -> Result<Vec<(Value, Value)>, Error> {
    match value.kind() {
        ValueKind::Map => python::pairs(value),
        ValueKind::Undefined => Err(python::undefined(value, "has no attributes")),
        _ => Err(python::invalid(format!(
            "xmlattr takes a map, not {}",
            repr::type_name(value)
        ))),
    }
}

/// A text for a path, or a map or pairs for a query.
pub fn urlencode(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let value = call.subject();
    let pairs = match value.kind() {
        ValueKind::Map if python::is_map(&value) => python::pairs(&value)?,
        ValueKind::Seq | ValueKind::Iterable => {
            let items = values::items(&value)?.into_iter();
            items.map(pair).collect::<Result<_, _>>()?
        }
        _ => return quoted(&value, PATH).map(Value::from),
    };
    let mut parts = Vec::with_capacity(pairs.len());
    for (key, content) in pairs {
        let (key, content) = (quoted(&key, QUERY)?, quoted(&content, QUERY)?);
        parts.push(format!("{key}={content}").replace("%20", "+"));
    }
    let query = parts.join("&");
    meter::check(query.len())?;
    Ok(Value::from(query))
}

fn quoted(value: &Value, set: &'static AsciiSet) -> Result<String, Error> {
    let text = string(value)?;
    Ok(utf8_percent_encode(&text, set).to_string())
}

/// A value with exactly two items.
pub fn pair(value: Value) -> Result<(Value, Value), Error> {
    if value.is_undefined() {
        return Err(python::undefined(&value, "is not a pair"));
    }
    match <[Value; 2]>::try_from(python::items(&value)?) {
        Ok([key, value]) => Ok((key, value)),
        Err(items) => Err(python::invalid(format!(
            "a pair has two items, not {}",
            items.len()
        ))),
    }
}
