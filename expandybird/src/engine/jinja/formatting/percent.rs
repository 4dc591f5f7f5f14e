//! `'%-5s|%(name)05.2f' % values`.

use minijinja::{Error, Value};

use super::{bounded, converted, numbers};
use crate::engine::jinja::filters::truncated;
use crate::engine::jinja::meter;
use crate::engine::jinja::operators::{Number, number};
use crate::engine::jinja::values::python::{self, invalid};
use crate::engine::jinja::values::repr;

/// A tuple provides its items, a map its names, any other value itself.
pub fn percent(text: &str, argument: &Value) -> Result<Value, Error> {
    let is_tuple = python::is_tuple(argument);
    let places = match is_tuple {
        true => python::items(argument)?,
        false => vec![argument.clone()],
    };
    let mut formatter = Formatter {
        argument,
        // Items of a map or a list may stay unused.
        may_be_left: !is_tuple
            && (python::is_map(argument) || python::is_list(argument) || argument.is_undefined()),
        places: places.into_iter(),
    };
    let text = formatter.format(text)?;
    meter::check(text.len())?;
    Ok(Value::from(text))
}

struct Formatter<'a> {
    argument: &'a Value,
    may_be_left: bool,
    places: std::vec::IntoIter<Value>,
}

#[derive(Debug, Default)]
struct Conversion {
    left: bool,
    zero: bool,
    plus: bool,
    blank: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

impl Formatter<'_> {
    fn format(&mut self, text: &str) -> Result<String, Error> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('%') {
            out.push_str(before);
            let (shown, after) = self.conversion(after)?;
            out.push_str(&shown);
            meter::check(out.len())?;
            rest = after;
        }
        out.push_str(rest);
        match self.places.next() {
            Some(_) if !self.may_be_left => Err(invalid(
                "not all arguments converted during string formatting",
            )),
            _ => Ok(out),
        }
    }

    /// The formatted part after a `%`, and the rest of the text.
    fn conversion<'t>(&mut self, text: &'t str) -> Result<(String, &'t str), Error> {
        let mut rest = text;
        let mut named = None;
        if let Some(name) = rest.strip_prefix('(') {
            let end = name_end(name).ok_or_else(|| invalid("incomplete format key"))?;
            named = Some(self.by_name(&name[..end])?);
            rest = &name[end + 1..];
        }
        let mut conversion = Conversion::default();
        rest = conversion.flags(rest);
        (conversion.width, rest) = match self.size(rest)? {
            (Some(width), rest) => {
                conversion.left |= width < 0;
                (
                    bounded(usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX))?,
                    rest,
                )
            }
            (None, rest) => (0, rest),
        };
        if let Some(after) = rest.strip_prefix('.') {
            let (precision, after) = self.size(after)?;
            let precision = usize::try_from(precision.unwrap_or(0)).unwrap_or(0);
            conversion.precision = Some(bounded(precision)?);
            rest = after;
        }
        rest = rest.strip_prefix(['h', 'l', 'L']).unwrap_or(rest);
        let kind = rest
            .chars()
            .next()
            .ok_or_else(|| invalid("incomplete format"))?;
        let after = &rest[kind.len_utf8()..];
        if kind == '%' {
            return Ok(("%".to_owned(), after));
        }
        let value = match named {
            Some(value) => value,
            None => self.next()?,
        };
        Ok((conversion.show(&value, kind)?, after))
    }

    fn by_name(&mut self, name: &str) -> Result<Value, Error> {
        if !python::is_map(self.argument) {
            return Err(invalid("format requires a mapping"));
        }
        self.may_be_left = true;
        let found = self.argument.get_item(&Value::from(name))?;
        match found.is_undefined() {
            true => Err(invalid(format!("KeyError: '{name}'"))),
            false => Ok(found),
        }
    }

    fn next(&mut self) -> Result<Value, Error> {
        self.places
            .next()
            .ok_or_else(|| invalid("not enough arguments for format string"))
    }

    /// Digits, or `*` for an argument.
    fn size<'t>(&mut self, text: &'t str) -> Result<(Option<i64>, &'t str), Error> {
        if let Some(rest) = text.strip_prefix('*') {
            let value = self.next()?;
            return Ok((Some(python::integer(&value)?), rest));
        }
        let end = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let size = match &text[..end] {
            "" => None,
            digits => Some(digits.parse().unwrap_or(i64::MAX)),
        };
        Ok((size, &text[end..]))
    }
}

/// The bracket that closes a name. The name may contain brackets.
fn name_end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return Some(at),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}

impl Conversion {
    fn flags<'t>(&mut self, text: &'t str) -> &'t str {
        let end = text.find(|c| !"#0- +".contains(c)).unwrap_or(text.len());
        for flag in text[..end].chars() {
            match flag {
                '-' => self.left = true,
                '0' => self.zero = true,
                '+' => self.plus = true,
                '#' => self.alternate = true,
                _ => self.blank = true,
            }
        }
        &text[end..]
    }

    fn show(&self, value: &Value, kind: char) -> Result<String, Error> {
        match kind {
            's' | 'r' | 'a' => {
                let text = python::string(&converted(value, kind)?)?;
                let text: String = text
                    .chars()
                    .take(self.precision.unwrap_or(usize::MAX))
                    .collect();
                Ok(self.padded("", &text, ' '))
            }
            'c' => Ok(self.padded("", &character(value)?, ' ')),
            'd' | 'i' | 'u' => self.integer(whole(value)?, 'd'),
            'o' | 'x' | 'X' => match number(value) {
                Some(Number::Int(number)) => self.integer(number, kind),
                _ => Err(wanted("an integer", kind, value)),
            },
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
                let number = python::float(value)?;
                let text = numbers::float(
                    number.abs(),
                    kind,
                    self.precision.unwrap_or(6),
                    self.alternate,
                );
                let is_negative = number.is_sign_negative() && !number.is_nan();
                let fill = if number.is_finite() || self.zero {
                    '0'
                } else {
                    ' '
                };
                Ok(self.padded(
                    self.sign(is_negative),
                    &text,
                    if self.zero { fill } else { ' ' },
                ))
            }
            _ => Err(invalid(format!("unsupported format character '{kind}'"))),
        }
    }

    fn sign(&self, is_negative: bool) -> &'static str {
        match (is_negative, self.plus, self.blank) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    fn integer(&self, number: i128, kind: char) -> Result<String, Error> {
        let (prefix, digits) = numbers::integer(number.unsigned_abs(), kind);
        let zeros = self.precision.unwrap_or(0).saturating_sub(digits.len());
        let digits = "0".repeat(zeros) + &digits;
        let prefix = if self.alternate { prefix } else { "" };
        let before = format!("{}{prefix}", self.sign(number < 0));
        Ok(self.padded(&before, &digits, if self.zero { '0' } else { ' ' }))
    }

    fn padded(&self, before: &str, text: &str, fill: char) -> String {
        let missing = self
            .width
            .saturating_sub(before.chars().count() + text.chars().count());
        match (self.left, fill) {
            (true, _) => format!("{before}{text}{}", " ".repeat(missing)),
            (_, '0') => format!("{before}{}{text}", "0".repeat(missing)),
            _ => format!("{}{before}{text}", " ".repeat(missing)),
        }
    }
}

fn wanted(what: &str, kind: char, value: &Value) -> Error {
    invalid(format!(
        "%{kind} format: {what} is required, not {}",
        repr::type_name(value)
    ))
}

/// An integer. Of a float, the part before the point.
fn whole(value: &Value) -> Result<i128, Error> {
    match number(value) {
        Some(Number::Int(number)) => Ok(number),
        Some(Number::Float(number)) => truncated(number)
            .filter(|_| number.is_finite())
            .ok_or_else(|| wanted("a finite number", 'd', value)),
        None => Err(wanted("a real number", 'd', value)),
    }
}

fn character(value: &Value) -> Result<String, Error> {
    if let Some(text) = value.as_str().filter(|text| text.chars().count() == 1) {
        return Ok(text.to_owned());
    }
    let code = match number(value) {
        Some(Number::Int(number)) => u32::try_from(number).ok().and_then(char::from_u32),
        _ => None,
    };
    code.map(|c| c.to_string())
        .ok_or_else(|| wanted("an integer or one character", 'c', value))
}
