//! `tojson`, as Python's `json.dumps` writes it.

use minijinja::value::{Kwargs, Rest};
use minijinja::{Error, ErrorKind, Value};
use serde_json::Value as Json;

use super::given::given;
use super::{repr, string};
use crate::engine::jinja::meter;

/// As `json.dumps` writes it, with what HTML would misread escaped.
pub fn tojson(value: &Value, args: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let [indent] = given(["indent"], args, &named)?;
    let indent = indent.whole()?;
    if value.is_undefined() {
        return Err(Error::new(
            ErrorKind::UndefinedError,
            "an undefined value is no JSON",
        ));
    }
    // Also bounds it: the value may be far larger than the memory it takes.
    string(value)?;
    let json = serde_json::to_value(value)
        .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
    let mut text = String::new();
    write_json(&json, indent, 0, &mut text);
    for (from, to) in [
        ('<', "\\u003c"),
        ('>', "\\u003e"),
        ('&', "\\u0026"),
        ('\'', "\\u0027"),
    ] {
        text = text.replace(from, to);
    }
    meter::check(text.len())?;
    Ok(Value::from_safe_string(text))
}

/// Keys are sorted, as Jinja's policy has it.
fn write_json(value: &Json, indent: Option<usize>, depth: usize, out: &mut String) {
    match value {
        Json::Array(items) if !items.is_empty() => {
            let items: Vec<_> = items.iter().map(|item| (None, item)).collect();
            write_items(&items, ('[', ']'), indent, depth, out);
        }
        Json::Object(map) if !map.is_empty() => {
            let mut entries: Vec<_> = map.iter().map(|(key, value)| (Some(key), value)).collect();
            entries.sort_by_key(|(key, _)| *key);
            write_items(&entries, ('{', '}'), indent, depth, out);
        }
        Json::String(text) => write_ascii(text, out),
        Json::Number(number) if number.is_f64() => {
            out.push_str(&repr::float(number.as_f64().unwrap_or_default()))
        }
        other => out.push_str(&other.to_string()),
    }
}

fn write_items(
    items: &[(Option<&String>, &Json)],
    (open, close): (char, char),
    indent: Option<usize>,
    depth: usize,
    out: &mut String,
) {
    let line = |depth: usize, out: &mut String| {
        if let Some(indent) = indent {
            out.push('\n');
            out.push_str(&" ".repeat(indent.min(64) * depth));
        }
    };
    out.push(open);
    for (index, (key, value)) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(if indent.is_some() { "," } else { ", " });
        }
        line(depth + 1, out);
        if let Some(key) = key {
            write_ascii(key, out);
            out.push_str(": ");
        }
        write_json(value, indent, depth + 1, out);
    }
    line(depth, out);
    out.push(close);
}

fn write_ascii(text: &str, out: &mut String) {
    let quoted = Json::from(text).to_string();
    let mut units = [0; 2];
    for character in quoted.chars() {
        if character.is_ascii() {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut units) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
}
