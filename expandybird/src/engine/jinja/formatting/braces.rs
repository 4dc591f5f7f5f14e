//! `'{0} {name!r:>{width}}'.format(…)`.

use minijinja::value::ValueKind;
use minijinja::{Error, Value};

use super::spec::Spec;
use super::{converted, numbers};
use crate::engine::jinja::meter;
use crate::engine::jinja::operators::{Number, number};
use crate::engine::jinja::values::python::{self, invalid};
use crate::engine::jinja::values::repr;

/// How deep fields may be nested in format specifications.
const DEPTH: usize = 2;

pub fn format(text: &str, places: &[Value], names: &[(String, Value)]) -> Result<String, Error> {
    let mut formatter = Formatter {
        places,
        names,
        next: Some(0),
    };
    formatter.format(text, DEPTH)
}

struct Formatter<'a> {
    places: &'a [Value],
    names: &'a [(String, Value)],
    /// The index of the next field without a name. `None` after a field with a number.
    next: Option<usize>,
}

impl Formatter<'_> {
    fn format(&mut self, text: &str, depth: usize) -> Result<String, Error> {
        if depth == 0 {
            return Err(invalid("Max string recursion exceeded"));
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            out.push_str(&rest[..at]);
            let (brace, after) = rest[at..].split_at(1);
            if let Some(after) = after.strip_prefix(brace) {
                out.push_str(brace);
                rest = after;
                continue;
            }
            if brace == "}" {
                return Err(invalid("Single '}' encountered in format string"));
            }
            let end =
                field_end(after).ok_or_else(|| invalid("expected '}' before end of string"))?;
            out.push_str(&self.field(&after[..end], depth)?);
            meter::check(out.len())?;
            rest = &after[end + 1..];
        }
        out.push_str(rest);
        meter::check(out.len())?;
        Ok(out)
    }

    fn field(&mut self, field: &str, depth: usize) -> Result<String, Error> {
        let name_end = name_end(field);
        let (name, rest) = field.split_at(name_end);
        let value = self.value(name)?;
        let (value, spec) = match rest.strip_prefix('!') {
            Some(conversion) => {
                let mut characters = conversion.chars();
                let letter = characters.next().filter(|c| "rsa".contains(*c));
                let letter = letter.ok_or_else(|| invalid("a conversion is !r, !s or !a"))?;
                let rest = characters.as_str();
                if !rest.is_empty() && !rest.starts_with(':') {
                    return Err(invalid("expected ':' after conversion specifier"));
                }
                (converted(&value, letter)?, rest)
            }
            None => (value, rest),
        };
        let spec = self.format(spec.strip_prefix(':').unwrap_or(""), depth - 1);
        let spec = match field.contains(':') {
            true => spec?,
            false => String::new(),
        };
        formatted(&value, &spec)
    }

    /// `name.attribute[item]`.
    fn value(&mut self, name: &str) -> Result<Value, Error> {
        let end = name.find(['.', '[']).unwrap_or(name.len());
        let (first, mut rest) = name.split_at(end);
        let mut value = self.first(first)?;
        while !rest.is_empty() {
            let step;
            (step, rest) = match rest.strip_prefix('[') {
                Some(inside) => inside
                    .split_once(']')
                    .ok_or_else(|| invalid("Missing ']' in format string"))?,
                // Values of templates have no attributes except their methods.
                None => {
                    return Err(invalid(format!(
                        "'{}' object has no attribute '{}'",
                        repr::type_name(&value),
                        rest.trim_start_matches('.')
                    )));
                }
            };
            let key = match step.parse::<i64>() {
                Ok(index) if step.bytes().all(|byte| byte.is_ascii_digit()) => Value::from(index),
                _ => Value::from(step),
            };
            let found = python::item(&value, &key)?;
            if found.is_undefined() {
                return Err(invalid(format!("format finds no item '{step}'")));
            }
            value = found;
        }
        Ok(value)
    }

    fn first(&mut self, name: &str) -> Result<Value, Error> {
        let index = match (name, self.next) {
            ("", Some(next)) => {
                self.next = Some(next + 1);
                next
            }
            ("", None) => {
                return Err(invalid(
                    "cannot switch from manual field specification to automatic field numbering",
                ));
            }
            (name, next) if name.bytes().all(|byte| byte.is_ascii_digit()) => {
                if next.is_some_and(|next| next > 0) {
                    return Err(invalid(
                        "cannot switch from automatic field numbering to manual field specification",
                    ));
                }
                self.next = None;
                name.parse().unwrap_or(usize::MAX)
            }
            (name, _) => {
                let found = self.names.iter().find(|(own, _)| own == name);
                return found
                    .map(|(_, value)| value.clone())
                    .ok_or_else(|| invalid(format!("format finds no argument '{name}'")));
            }
        };
        let found = self.places.get(index).cloned();
        found.ok_or_else(|| {
            invalid(format!(
                "Replacement index {index} out of range for positional args tuple"
            ))
        })
    }
}

/// The end of the field that begins here. It may contain fields, and brackets may contain anything.
fn field_end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut in_brackets = false;
    for (at, character) in text.char_indices() {
        match character {
            '[' if depth == 0 => in_brackets = true,
            ']' => in_brackets = false,
            '{' if !in_brackets => depth += 1,
            '}' if !in_brackets && depth == 0 => return Some(at),
            '}' if !in_brackets => depth -= 1,
            _ => {}
        }
    }
    None
}

fn name_end(field: &str) -> usize {
    let mut in_brackets = false;
    let end = field.char_indices().find(|(_, character)| {
        match character {
            '[' => in_brackets = true,
            ']' => in_brackets = false,
            _ => {}
        }
        !in_brackets && "!:".contains(*character)
    });
    end.map_or(field.len(), |(at, _)| at)
}

/// `format(value, spec)`.
fn formatted(value: &Value, spec: &str) -> Result<String, Error> {
    if spec.is_empty() {
        return python::string(value);
    }
    let parsed = Spec::parse(spec)?;
    match (value.as_str(), number(value)) {
        (Some(text), _) => text_in(text, &parsed),
        (_, Some(Number::Int(number))) => integer_in(number, &parsed),
        (_, Some(Number::Float(number))) => float_in(number, &parsed),
        _ => {
            let kind = repr::type_name(value);
            Err(invalid(format!(
                "unsupported format string passed to {kind}.__format__"
            )))
        }
    }
}

fn unknown(spec: &Spec, kind: ValueKind) -> Error {
    let letter = spec.kind.unwrap_or(' ');
    invalid(format!("Unknown format code '{letter}' for a {kind}"))
}

fn text_in(text: &str, spec: &Spec) -> Result<String, Error> {
    let is_for_numbers =
        spec.sign.is_some() || spec.alternate || spec.grouping.is_some() || spec.align == Some('=');
    if is_for_numbers || !matches!(spec.kind, None | Some('s')) {
        return Err(unknown(spec, ValueKind::String));
    }
    let text: String = text
        .chars()
        .take(spec.precision.unwrap_or(usize::MAX))
        .collect();
    Ok(spec.padded("", &text, '<'))
}

fn sign(is_negative: bool, spec: &Spec) -> &'static str {
    match (is_negative, spec.sign) {
        (true, _) => "-",
        (_, Some('+')) => "+",
        (_, Some(' ')) => " ",
        _ => "",
    }
}

#[expect(clippy::cast_precision_loss, reason = "as Python does it")]
fn integer_in(number: i128, spec: &Spec) -> Result<String, Error> {
    let kind = spec.kind.unwrap_or('d');
    if "eEfFgG%".contains(kind) {
        return float_in(number as f64, spec);
    }
    if spec.precision.is_some() {
        return Err(invalid("Precision not allowed in integer format specifier"));
    }
    if kind == 'c' {
        let character = u32::try_from(number).ok().and_then(char::from_u32);
        let character = character.ok_or_else(|| invalid("%c arg not in range(0x110000)"))?;
        return Ok(spec.padded("", &character.to_string(), '<'));
    }
    if !"bdoxXn".contains(kind)
        || spec.grouping == Some(',') && "boxX".contains(kind)
        || spec.grouping.is_some() && kind == 'n'
    {
        return Err(unknown(spec, ValueKind::Number));
    }
    let (prefix, digits) = numbers::integer(number.unsigned_abs(), kind);
    let size = if "boxX".contains(kind) { 4 } else { 3 };
    let before = format!(
        "{}{}",
        sign(number < 0, spec),
        if spec.alternate { prefix } else { "" }
    );
    Ok(number_in(&before, &digits, size, spec))
}

fn float_in(number: f64, spec: &Spec) -> Result<String, Error> {
    let magnitude = number.abs();
    let text = match spec.kind {
        None => numbers::plain(magnitude, spec.precision),
        Some('%') => {
            numbers::float(
                magnitude * 100.0,
                'f',
                spec.precision.unwrap_or(6),
                spec.alternate,
            ) + "%"
        }
        Some('n') => numbers::float(magnitude, 'g', spec.precision.unwrap_or(6), spec.alternate),
        Some(kind) if "eEfFgG".contains(kind) => {
            numbers::float(magnitude, kind, spec.precision.unwrap_or(6), spec.alternate)
        }
        Some(_) => return Err(unknown(spec, ValueKind::Number)),
    };
    let before = sign(number.is_sign_negative() && !number.is_nan(), spec);
    Ok(number_in(before, &text, 3, spec))
}

/// Digits in groups, with leading zeros in groups as well.
fn number_in(before: &str, digits: &str, size: usize, spec: &Spec) -> String {
    let group = |digits: &str| match spec.grouping {
        Some(separator) => numbers::grouped(digits, separator, size),
        None => digits.to_owned(),
    };
    let mut text = group(digits);
    let fills_with_zeros = spec.zero && spec.align.is_none() && spec.fill.is_none();
    if fills_with_zeros && spec.grouping.is_some() {
        let mut zeros = digits.to_owned();
        while before.len() + text.len() < spec.width {
            zeros.insert(0, '0');
            text = group(&zeros);
        }
    }
    spec.padded(before, &text, if spec.zero { '=' } else { '>' })
}
