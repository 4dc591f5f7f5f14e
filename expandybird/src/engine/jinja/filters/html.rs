//! For web pages: escapes, attributes, tags, queries.

use std::fmt::Write as _;

use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Error, ErrorKind, Value};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::given::given;
use super::string;
use crate::engine::jinja::{meter, values};

/// What Python's `urllib.parse.quote` leaves as it is, apart from letters and digits.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'_')
    .remove(b'.')
    .remove(b'-')
    .remove(b'~');
const PATH: &AsciiSet = &QUERY.remove(b'/');

/// `&`, `<`, `>` and quotes; what is escaped already stays.
pub fn escape(value: &Value) -> Result<Value, Error> {
    match value.is_safe() {
        true => Ok(value.clone()),
        false => forceescape(value),
    }
}

pub fn forceescape(value: &Value) -> Result<Value, Error> {
    let escaped = escaped(&string(value)?);
    meter::check(escaped.len())?;
    Ok(Value::from_safe_string(escaped))
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

/// Without tags and comments, white space as single blanks, entities as what they stand for.
pub fn striptags(value: &Value) -> Result<String, Error> {
    let text = without(&string(value)?, "<!--", "-->");
    let text = without(&text, "<", ">");
    let words: Vec<&str> = text.split_whitespace().collect();
    Ok(unescaped(&words.join(" ")))
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

fn unescaped(text: &str) -> String {
    let mut unescaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        unescaped.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(';').unwrap_or(0);
        match entity(rest.get(1..end).unwrap_or_default()) {
            Some(character) => {
                unescaped.push(character);
                rest = &rest[end + 1..];
            }
            None => {
                unescaped.push('&');
                rest = &rest[1..];
            }
        }
    }
    unescaped + rest
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{a0}'),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

/// ` a="1" b="x"`, without what is none or undefined.
pub fn xmlattr(value: &Value, args: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let [autospace] = given(["autospace"], args, &named)?;
    let mut attributes = Vec::new();
    for key in values::items(value)? {
        let content = value.get_item(&key)?;
        if content.is_none() || content.is_undefined() {
            continue;
        }
        let name = string(&key)?;
        if name.contains([' ', '/', '>', '=']) || name.contains(char::is_whitespace) {
            return Err(Error::new(
                ErrorKind::InvalidOperation,
                format!("invalid character in attribute name: '{name}'"),
            ));
        }
        let content = escape(&content)?;
        attributes.push(format!("{}=\"{}\"", escaped(&name), string(&content)?));
    }
    let mut text = attributes.join(" ");
    if autospace.flag(true) && !text.is_empty() {
        text.insert(0, ' ');
    }
    meter::check(text.len())?;
    Ok(Value::from_safe_string(text))
}

/// A text for a path, or a map or pairs for a query.
pub fn urlencode(value: &Value) -> Result<String, Error> {
    let quoted = |value: &Value, set| {
        let text = string(value)?;
        Ok::<_, Error>(utf8_percent_encode(&text, set).to_string())
    };
    let is_map = value.kind() == ValueKind::Map;
    if !is_map && !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return quoted(value, PATH);
    }
    let mut query = String::new();
    for item in values::items(value)? {
        let (key, content) = match is_map {
            true => (item.clone(), value.get_item(&item)?),
            false => (item.get_item_by_index(0)?, item.get_item_by_index(1)?),
        };
        let separator = if query.is_empty() { "" } else { "&" };
        let (key, content) = (quoted(&key, QUERY)?, quoted(&content, QUERY)?);
        // A string takes whatever is written to it.
        let _ = write!(
            query,
            "{separator}{}={}",
            key.replace("%20", "+"),
            content.replace("%20", "+")
        );
    }
    meter::check(query.len())?;
    Ok(query)
}
