//! The forms in which a value may come out: as it is, escaped, percent-encoded, or in base64.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::{ANYWHERE, AS_WORD, REDACTED};

/// Each line of a value up to this size is a secret of its own, because templates indent keys and certificates.
const LINES_BYTES: usize = 64 * 1024;

/// All texts and numbers of a value.
pub fn gather(value: &Value, texts: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if is_reference(text) => {}
        Value::String(text) => drop(texts.insert(text.clone())),
        Value::Number(number) => drop(texts.insert(number.to_string())),
        Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        Value::Object(map) => map.values().for_each(|value| gather(value, texts)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// A reference is not secret by itself.
fn is_reference(text: &str) -> bool {
    text == REDACTED || text.starts_with("$(") && text.find(')') == Some(text.len() - 1)
}

/// The forms in which a text may appear.
pub fn forms(text: &str) -> Vec<String> {
    let mut forms = in_base64(text);
    for text in [Some(text.to_owned()), of_base64(text)]
        .into_iter()
        .flatten()
    {
        let lines = text.lines().map(str::trim);
        match text.len() <= LINES_BYTES {
            true => lines.for_each(|line| forms.extend(written(line))),
            false => forms.push(text),
        }
    }
    forms.retain(|form| form.len() >= AS_WORD);
    forms
}

/// The characters that RFC 3986 percent-encodes in data.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

fn written(line: &str) -> [String; 7] {
    let quoted = Value::from(line).to_string();
    let quoted = &quoted[1..quoted.len() - 1];
    // Go writes JSON in this form, and so do the API server's refusals.
    let in_go = quoted.replace('&', "\\u0026");
    let in_go = in_go.replace('<', "\\u003c").replace('>', "\\u003e");
    [
        line.to_owned(),
        quoted.to_owned(),
        in_go,
        line.replace('\\', "\\\\").replace('\'', "\\'"),
        line.replace('\'', "''"),
        utf8_percent_encode(line, NON_ALPHANUMERIC).to_string(),
        utf8_percent_encode(line, RESERVED).to_string(),
    ]
}

/// The decoded base64, if it is text.
fn of_base64(text: &str) -> Option<String> {
    let text = String::from_utf8(STANDARD.decode(text.trim()).ok()?).ok()?;
    let is_text = |c: char| !c.is_control() || c.is_whitespace();
    text.chars().all(is_text).then_some(text)
}

/// The whole value in each alphabet, and its middle for each position in a longer text.
fn in_base64(text: &str) -> Vec<String> {
    if text.trim().len() < AS_WORD {
        return Vec::new();
    }
    let mut forms: Vec<String> = [text, text.trim()]
        .iter()
        .flat_map(|text| {
            [
                STANDARD.encode(text),
                URL_SAFE.encode(text),
                STANDARD_NO_PAD.encode(text),
                URL_SAFE_NO_PAD.encode(text),
            ]
        })
        .collect();
    for before in 1..=3 {
        let bytes = [&vec![0; before % 3], text.trim().as_bytes()].concat();
        // A character holds six bits. Characters that share bits with a neighbour of the value are left out.
        let (first, last) = ((before % 3 * 8).div_ceil(6), bytes.len() * 8 / 6);
        for encoded in [
            STANDARD_NO_PAD.encode(&bytes),
            URL_SAFE_NO_PAD.encode(&bytes),
        ] {
            let middle = encoded.get(first..last).unwrap_or_default();
            forms.extend((middle.len() >= ANYWHERE).then(|| middle.to_owned()));
        }
    }
    forms
}
