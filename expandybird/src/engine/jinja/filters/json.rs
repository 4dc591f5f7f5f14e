//! `tojson`, as Python's `json.dumps` writes it.

use minijinja::value::ValueKind;
use minijinja::{Error, Value};

use crate::engine::jinja::meter;
use crate::engine::jinja::signature::Call;
use crate::engine::jinja::values::{order, python, repr};

/// How deep lists and maps may be nested in values.
const DEPTH: usize = 250;

/// Like `json.dumps`, with characters escaped that have a meaning in HTML.
pub fn tojson(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, indent] = call.arguments();
    let mut writer = Writer {
        indent: indent
            .some()
            .map(|indent| indentation(&indent))
            .transpose()?,
        text: String::new(),
    };
    writer.write(&value.value(), 0)?;
    let mut text = writer.text;
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

fn indentation(indent: &Value) -> Result<String, Error> {
    match indent.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => {
            let width = python::count(indent)?;
            meter::check(width)?;
            Ok(" ".repeat(width))
        }
    }
}

struct Writer {
    indent: Option<String>,
    text: String,
}

impl Writer {
    fn write(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if self.text.len() > meter::TEXT_BYTES || depth > DEPTH {
            meter::check(self.text.len())?;
            return Err(python::invalid("the value is too deep for JSON"));
        }
        match value.kind() {
            ValueKind::None => self.text.push_str("null"),
            ValueKind::Bool => self
                .text
                .push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => self.text.push_str(&number(value)),
            ValueKind::String => write_ascii(value.as_str().unwrap_or_default(), &mut self.text),
            ValueKind::Seq | ValueKind::Iterable => {
                let items = python::items(value)?
                    .into_iter()
                    .map(|item| (None, item))
                    .collect();
                self.items(items, ('[', ']'), depth)?;
            }
            ValueKind::Map => {
                let entries = sorted(python::pairs(value)?)?;
                self.items(entries, ('{', '}'), depth)?;
            }
            ValueKind::Undefined => return Err(python::undefined(value, "is not JSON")),
            _ => {
                let kind = repr::type_name(value);
                return Err(python::invalid(format!(
                    "Object of type {kind} is not JSON serializable"
                )));
            }
        }
        Ok(())
    }

    fn items(
        &mut self,
        items: Vec<(Option<String>, Value)>,
        (open, close): (char, char),
        depth: usize,
    ) -> Result<(), Error> {
        self.text.push(open);
        let is_empty = items.is_empty();
        for (index, (key, value)) in items.into_iter().enumerate() {
            if index > 0 {
                self.text
                    .push_str(if self.indent.is_some() { "," } else { ", " });
            }
            self.line(depth + 1);
            if let Some(key) = key {
                write_ascii(&key, &mut self.text);
                self.text.push_str(": ");
            }
            self.write(&value, depth + 1)?;
        }
        if !is_empty {
            self.line(depth);
        }
        self.text.push(close);
        Ok(())
    }

    fn line(&mut self, depth: usize) {
        if let Some(indent) = &self.indent {
            self.text.push('\n');
            self.text.push_str(&indent.repeat(depth));
        }
    }
}

/// Sorted keys, as Jinja's policy requires, each as a text.
fn sorted(pairs: Vec<(Value, Value)>) -> Result<Vec<(Option<String>, Value)>, Error> {
    let mut keys: Vec<Value> = pairs.iter().map(|(key, _)| key.clone()).collect();
    order::sort(&mut keys, false, |key| Ok(key.clone()))?;
    let mut values: std::collections::HashMap<Value, Value> = pairs.into_iter().collect();
    let entries = keys.into_iter().map(|key| {
        let value = values.remove(&key).unwrap_or_default();
        Ok((Some(key_text(&key)?), value))
    });
    entries.collect()
}

fn key_text(key: &Value) -> Result<String, Error> {
    match (key.as_str(), key.kind()) {
        (Some(text), _) => Ok(text.to_owned()),
        (_, ValueKind::None) => Ok("null".to_owned()),
        (_, ValueKind::Bool) => Ok(key.is_true().to_string()),
        (_, ValueKind::Number) => Ok(number(key)),
        _ => Err(python::invalid(format!(
            "keys must be str, int, float, bool or None, not {}",
            repr::type_name(key)
        ))),
    }
}

fn number(value: &Value) -> String {
    match f64::try_from(value.clone()) {
        Ok(number) if !value.is_integer() => match number {
            number if number.is_nan() => "NaN".to_owned(),
            f64::INFINITY => "Infinity".to_owned(),
            f64::NEG_INFINITY => "-Infinity".to_owned(),
            number => repr::float(number),
        },
        _ => value.to_string(),
    }
}

fn write_ascii(text: &str, out: &mut String) {
    let quoted = serde_json::Value::from(text).to_string();
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
