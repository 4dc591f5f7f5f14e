//! `html`, `js` and `urlquery`.

use crate::error::Limit;
use crate::format;
use crate::function_table::Builtin;
use crate::text;
use crate::value::Value;

/// Writes the arguments as `print` does, but for nil, which is written as in a template's output.
pub fn print(out: &mut Vec<u8>, limit: usize, values: Vec<Value>) -> Result<(), Limit> {
    let shown = |value| match value {
        Value::Nil => "<no value>".into(),
        value => value,
    };
    let values: Vec<Value> = values.into_iter().map(shown).collect();
    format::print(out, limit, &values)
}

/// The text in the function's form.
pub fn escape(builtin: Builtin, text: &[u8]) -> Vec<u8> {
    match builtin {
        Builtin::Html => html(text),
        Builtin::Js => js(text),
        _ => urlquery(text),
    }
}

fn html(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            0 => out.extend("\u{fffd}".bytes()),
            b'"' => out.extend(b"&#34;"),
            b'\'' => out.extend(b"&#39;"),
            b'&' => out.extend(b"&amp;"),
            b'<' => out.extend(b"&lt;"),
            b'>' => out.extend(b"&gt;"),
            _ => out.push(*byte),
        }
    }
    out
}

fn js(mut text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    loop {
        let (rune, length) = text::decode_rune(text);
        if length == 0 {
            return out;
        }
        let rune = rune.unwrap_or(text::RUNE_ERROR);
        let bytes = text.get(..length).unwrap_or_default();
        text = text.get(length..).unwrap_or_default();
        match rune {
            '\\' | '\'' | '"' => {
                out.push(b'\\');
                out.extend(bytes);
            }
            '<' | '>' | '&' | '=' | '\0'..='\x1f' => {
                out.extend(format!("\\u{:04X}", u32::from(rune)).bytes());
            }
            _ if rune.is_ascii() || text::is_print(rune) => out.extend(bytes),
            _ => out.extend(format!("\\u{:04X}", u32::from(rune)).bytes()),
        }
    }
}

fn urlquery(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b' ' => out.push(b'+'),
            b'-' | b'_' | b'.' | b'~' => out.push(*byte),
            _ if byte.is_ascii_alphanumeric() => out.push(*byte),
            _ => out.extend(format!("%{byte:02X}").bytes()),
        }
    }
    out
}
