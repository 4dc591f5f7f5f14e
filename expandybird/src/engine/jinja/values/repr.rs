//! Values as Python prints them: `str()` and `repr()`.

use std::fmt::{self, Write};

use minijinja::Value;
use minijinja::value::ValueKind;

use super::dict::{Dict, Entries};
use super::python;
use crate::engine::jinja::globals::range::Range;

/// How deep lists are printed. Deeper ones are shown as dots, as Python shows a list that contains itself.
const DEPTH: usize = 250;

/// The text of `{{ value }}`: a text unchanged, other values as their `repr`.
pub fn write_str<W: Write + ?Sized>(out: &mut W, value: &Value) -> fmt::Result {
    match value.as_str() {
        Some(text) => out.write_str(text),
        None if value.is_undefined() => Ok(()),
        None => write_repr(out, value, 0),
    }
}

/// A value in the notation of a template.
pub fn write_repr<W: Write + ?Sized>(out: &mut W, value: &Value, depth: usize) -> fmt::Result {
    if depth > DEPTH {
        return out.write_str("...");
    }
    match value.kind() {
        ValueKind::Undefined => out.write_str("Undefined"),
        ValueKind::None => out.write_str("None"),
        ValueKind::Bool => out.write_str(if value.is_true() { "True" } else { "False" }),
        ValueKind::Number => write_number(out, value),
        ValueKind::String => write_quoted(out, value.as_str().unwrap_or_default()),
        ValueKind::Seq | ValueKind::Iterable => write_list(out, value, depth),
        ValueKind::Map => write_map(out, value, depth),
        ValueKind::Bytes | ValueKind::Plain | ValueKind::Invalid | _ => write!(out, "{value}"),
    }
}

fn write_number<W: Write + ?Sized>(out: &mut W, value: &Value) -> fmt::Result {
    match f64::try_from(value.clone()) {
        Ok(number) if !value.is_integer() => out.write_str(&float(number)),
        _ => write!(out, "{value}"),
    }
}

/// Python's name of the value's type.
pub fn type_name(value: &Value) -> &'static str {
    match value.kind() {
        ValueKind::Undefined => "Undefined",
        ValueKind::None => "NoneType",
        ValueKind::Bool => "bool",
        ValueKind::Number if value.is_integer() => "int",
        ValueKind::Number => "float",
        ValueKind::String => "str",
        ValueKind::Seq if value.downcast_object_ref::<Range>().is_some() => "range",
        ValueKind::Seq if python::is_tuple(value) => "tuple",
        ValueKind::Seq => "list",
        ValueKind::Map if is_dict(value) => "dict",
        ValueKind::Map => "Namespace",
        _ => "object",
    }
}

/// A map whose keys are its items, not an object with attributes.
pub fn is_dict(value: &Value) -> bool {
    value.downcast_object_ref::<Dict>().is_some()
        || value.downcast_object_ref::<Entries>().is_some()
}

/// A float in Python's notation: the shortest digits that read back, with an exponent below 1e-4 and from 1e16 on.
pub fn float(number: f64) -> String {
    if !number.is_finite() {
        let infinite = if number.is_sign_negative() {
            "-inf"
        } else {
            "inf"
        };
        return if number.is_nan() {
            "nan".to_owned()
        } else {
            infinite.to_owned()
        };
    }
    // Of two texts with the fewest digits that are equally close, this one has the greater, and Python the even one. So
    // does rounding to so many digits.
    let shortest = format!("{number:e}");
    let mantissa = shortest.split('e').next().unwrap_or_default();
    let behind = mantissa.bytes().filter(u8::is_ascii_digit).count().max(1) - 1;
    let scientific = format!("{number:.behind$e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if number != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    let behind = i32::try_from(behind).unwrap_or(i32::MAX) - exponent;
    format!("{number:.*}", usize::try_from(behind).unwrap_or(0).max(1))
}

/// `'…'`, or `"…"` if that saves escapes.
fn write_quoted<W: Write + ?Sized>(out: &mut W, text: &str) -> fmt::Result {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.write_char(quote)?;
    for character in text.chars() {
        match character {
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            c if c == quote => write!(out, "\\{c}")?,
            c if is_printable(c) => out.write_char(c)?,
            c => write_escaped(out, c)?,
        }
    }
    out.write_char(quote)
}

fn write_escaped<W: Write + ?Sized>(out: &mut W, character: char) -> fmt::Result {
    match u32::from(character) {
        code @ 0..=0xff => write!(out, "\\x{code:02x}"),
        code @ 0x100..=0xffff => write!(out, "\\u{code:04x}"),
        code => write!(out, "\\U{code:08x}"),
    }
}

/// Whether `repr` writes a character unescaped. It escapes control characters, marks of direction, separators and
/// private characters.
pub fn is_printable(character: char) -> bool {
    let is_hidden = matches!(
        character,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{f0000}'..='\u{10ffff}'
    );
    character == ' ' || !(character.is_control() || character.is_whitespace() || is_hidden)
}

fn write_list<W: Write + ?Sized>(out: &mut W, value: &Value, depth: usize) -> fmt::Result {
    if let Some(range) = value.downcast_object_ref::<Range>() {
        let Range {
            start, stop, step, ..
        } = *range;
        return match step {
            1 => write!(out, "range({start}, {stop})"),
            _ => write!(out, "range({start}, {stop}, {step})"),
        };
    }
    let is_tuple = python::is_tuple(value);
    let (open, close) = if is_tuple { ('(', ')') } else { ('[', ']') };
    out.write_char(open)?;
    let mut count = 0;
    for item in value.try_iter().map_err(|_| fmt::Error)? {
        if count > 0 {
            out.write_str(", ")?;
        }
        write_repr(out, &item, depth + 1)?;
        count += 1;
    }
    if is_tuple && count == 1 {
        out.write_char(',')?;
    }
    out.write_char(close)
}

/// A map; what has names and is none is a namespace.
fn write_map<W: Write + ?Sized>(out: &mut W, value: &Value, depth: usize) -> fmt::Result {
    if is_dict(value) {
        return write_entries(out, value, depth);
    }
    out.write_str("<Namespace ")?;
    write_entries(out, value, depth)?;
    out.write_char('>')
}

fn write_entries<W: Write + ?Sized>(out: &mut W, value: &Value, depth: usize) -> fmt::Result {
    out.write_char('{')?;
    for (index, key) in value.try_iter().map_err(|_| fmt::Error)?.enumerate() {
        if index > 0 {
            out.write_str(", ")?;
        }
        write_repr(out, &key, depth + 1)?;
        out.write_str(": ")?;
        write_repr(out, &value.get_item(&key).unwrap_or_default(), depth + 1)?;
    }
    out.write_char('}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_python_writes_them() {
        for (number, written) in [
            (0.1, "0.1"),
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (f64::INFINITY, "inf"),
            (600_479_950_316_064.0 + 0.25, "600479950316064.2"),
            (600_479_950_316_064.0 + 0.75, "600479950316064.8"),
            (9_007_199_254_740_994.0, "9007199254740994.0"),
            (5e-324, "5e-324"),
            (-123.456, "-123.456"),
        ] {
            assert_eq!(float(number), written);
        }
    }
}
