//! The meaning of a plain scalar in YAML 1.1, as in PyYAML's resolver and constructors.
//!
//! Responsible for text only: it does not know documents, locations or tags. The scanners are written by hand and
//! chosen by the first character, because most scalars are ordinary words that must be recognised quickly.

use serde_json::{Number, Value};

/// The meaning of a plain scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Null,
    Bool(bool),
    Int,
    Float,
    /// A date or a time stamp. JSON has no such type, so it stays text.
    Timestamp,
    /// `<<`, which merges maps when it is a key.
    Merge,
    /// `=`, the "default value" of YAML 1.1, which cannot be read.
    Default,
    Text,
}

/// Why a number cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberError {
    /// It has no digits, or digits that do not belong to its base.
    Malformed,
    /// An integer beyond 64 bits.
    TooLarge,
    /// An infinity or not a number. JSON has neither.
    NotFinite,
}

/// The meaning of a plain scalar.
pub(super) enum Plain {
    Value(Value),
    Merge,
    Default,
}

/// Reads a plain scalar, or a quoted one with the tag `!`. Only a quoted one can end with a line break. PyYAML's patterns
/// end with `$`, which also matches before that line break. Its numbers allow it, its booleans do not.
pub(super) fn plain(text: &str) -> Result<Plain, NumberError> {
    let line = text.strip_suffix('\n').filter(|line| !line.is_empty());
    Ok(Plain::Value(match meaning(line.unwrap_or(text)) {
        Meaning::Null => Value::Null,
        Meaning::Bool(_) if line.is_some() => return Err(NumberError::Malformed),
        Meaning::Bool(value) => Value::Bool(value),
        Meaning::Int => Value::Number(int(text)?),
        Meaning::Float => Value::Number(float(text)?),
        Meaning::Timestamp | Meaning::Text => Value::from(text),
        Meaning::Merge => return Ok(Plain::Merge),
        Meaning::Default => return Ok(Plain::Default),
    }))
}

/// The text of a key. Other types become what Python's `json.dumps` makes of them.
pub(super) fn key_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => float_text(float),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// Returns the meaning of a plain scalar.
pub(super) fn meaning(text: &str) -> Meaning {
    let Some(first) = text.bytes().next() else {
        return Meaning::Null;
    };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => word(text),
        b'<' if text == "<<" => Meaning::Merge,
        b'=' if text == "=" => Meaning::Default,
        b'0'..=b'9' | b'+' | b'-' | b'.' => number_or_timestamp(text),
        _ => Meaning::Text,
    }
}

fn word(text: &str) -> Meaning {
    match text {
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Meaning::Bool(true)
        }
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Meaning::Bool(false)
        }
        "~" | "null" | "Null" | "NULL" => Meaning::Null,
        _ => Meaning::Text,
    }
}

fn number_or_timestamp(text: &str) -> Meaning {
    if is_float(text) {
        Meaning::Float
    } else if is_int(text) {
        Meaning::Int
    } else if is_timestamp(text.as_bytes()) {
        Meaning::Timestamp
    } else {
        Meaning::Text
    }
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

/// Cuts the longest prefix whose bytes all match.
fn cut(text: &str, pass: impl Fn(u8) -> bool) -> (&str, &str) {
    let end = text.bytes().position(|b| !pass(b)).unwrap_or(text.len());
    text.split_at(end)
}

fn digit_or_underscore(b: u8) -> bool {
    b.is_ascii_digit() || b == b'_'
}

fn is_int(text: &str) -> bool {
    let body = unsigned(text);
    if body == "0" {
        return true;
    }
    let Some(rest) = body.strip_prefix('0') else {
        return is_decimal_int(body);
    };
    let all = |digits: &str, pass: fn(u8) -> bool| {
        !digits.is_empty() && digits.bytes().all(|b| pass(b) || b == b'_')
    };
    if let Some(binary) = rest.strip_prefix('b') {
        all(binary, |b| matches!(b, b'0' | b'1'))
    } else if let Some(hex) = rest.strip_prefix('x') {
        all(hex, |b| b.is_ascii_hexdigit())
    } else {
        all(rest, |b| matches!(b, b'0'..=b'7'))
    }
}

/// `[1-9][0-9_]*`, optionally with sexagesimal places.
fn is_decimal_int(body: &str) -> bool {
    if !body.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let (_, places) = cut(body, digit_or_underscore);
    places.is_empty() || sexagesimal_places(places) == Some("")
}

/// Cuts `(:[0-5]?[0-9])+` and returns the rest.
fn sexagesimal_places(mut text: &str) -> Option<&str> {
    if !text.starts_with(':') {
        return None;
    }
    while let Some(rest) = text.strip_prefix(':') {
        let (digits, after) = cut(rest, |b| b.is_ascii_digit());
        match digits.as_bytes() {
            [_] | [b'0'..=b'5', _] => text = after,
            _ => return None,
        }
    }
    Some(text)
}

fn is_float(text: &str) -> bool {
    let body = unsigned(text);
    if let Some(fraction) = body.strip_prefix('.') {
        return is_float_without_integer(fraction, body.len() < text.len());
    }
    if !body.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let (_, rest) = cut(body, digit_or_underscore);
    if let Some(fraction) = rest.strip_prefix('.') {
        return is_exponent(cut(fraction, digit_or_underscore).1);
    }
    sexagesimal_places(rest)
        .and_then(|rest| rest.strip_prefix('.'))
        .is_some_and(|fraction| fraction.bytes().all(digit_or_underscore))
}

/// The text after a leading dot. PyYAML accepts a sign before infinities only: `-.5` is text.
fn is_float_without_integer(fraction: &str, signed: bool) -> bool {
    match fraction {
        "inf" | "Inf" | "INF" => true,
        _ if signed => false,
        "nan" | "NaN" | "NAN" => true,
        _ => {
            fraction.starts_with(|c: char| c.is_ascii_digit())
                && is_exponent(cut(fraction, digit_or_underscore).1)
        }
    }
}

/// Nothing, or `[eE][-+][0-9]+`: YAML 1.1 requires the sign.
fn is_exponent(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(['e', 'E']) else {
        return text.is_empty();
    };
    rest.strip_prefix(['+', '-'])
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// `2001-12-14`, or with a time of day: `2001-12-14t21:59:43.10-05:00`, `2001-12-14 21:59:43 Z`.
fn is_timestamp(text: &[u8]) -> bool {
    let mut rest = Scan(text);
    if !(rest.digits(4, 4) && rest.byte(b'-')) {
        return false;
    }
    let date = rest.0;
    if rest.digits(2, 2) && rest.byte(b'-') && rest.digits(2, 2) && rest.0.is_empty() {
        return true;
    }
    let mut rest = Scan(date);
    rest.digits(1, 2)
        && rest.byte(b'-')
        && rest.digits(1, 2)
        && (rest.byte(b'T') || rest.byte(b't') || rest.blanks())
        && rest.digits(1, 2)
        && rest.byte(b':')
        && rest.digits(2, 2)
        && rest.byte(b':')
        && rest.digits(2, 2)
        && rest.fraction_and_zone()
}

/// A cursor for the time-stamp grammar: each step consumes its part or changes nothing.
struct Scan<'a>(&'a [u8]);

impl Scan<'_> {
    fn byte(&mut self, wanted: u8) -> bool {
        let found = self.0.first() == Some(&wanted);
        if found {
            self.0 = &self.0[1..];
        }
        found
    }

    fn digits(&mut self, least: usize, most: usize) -> bool {
        let count = self.0.iter().take(most).take_while(|b| b.is_ascii_digit());
        let count = count.count();
        if count < least {
            return false;
        }
        self.0 = &self.0[count..];
        true
    }

    fn blanks(&mut self) -> bool {
        let before = self.0.len();
        self.0 = self.0.trim_ascii_start();
        self.0.len() < before
    }

    fn fraction_and_zone(&mut self) -> bool {
        if self.byte(b'.') {
            self.digits(0, usize::MAX);
        }
        self.blanks();
        if self.0.is_empty() || self.byte(b'Z') {
            return self.0.is_empty();
        }
        (self.byte(b'+') || self.byte(b'-'))
            && self.digits(1, 2)
            && (self.0.is_empty() || self.byte(b':') && self.digits(2, 2) && self.0.is_empty())
    }
}

/// Reads an integer in any of the notations of YAML 1.1, and of Python's `int()`, which PyYAML calls.
pub(super) fn int(text: &str) -> Result<Number, NumberError> {
    let digits = without_underscores(text);
    let body = unsigned(&digits);
    let magnitude = if let Some(binary) = body.strip_prefix("0b") {
        based(binary, 2)
    } else if let Some(hex) = body.strip_prefix("0x") {
        based(hex, 16)
    } else if body.starts_with('0') {
        based(body, 8)
    } else if body.contains(':') {
        sexagesimal_int(body)
    } else {
        based(body, 10)
    }?;
    let value = if digits.starts_with('-') {
        -magnitude
    } else {
        magnitude
    };
    Number::from_i128(value).ok_or(NumberError::TooLarge)
}

/// Python's `int(text, base)`: blanks around it, a sign, and the prefix of the base.
fn based(text: &str, base: u32) -> Result<i128, NumberError> {
    let text = text.trim();
    let body = unsigned(text);
    let prefix = match base {
        2 => "0b",
        8 => "0o",
        16 => "0x",
        _ => "",
    };
    let digits = match body.split_at_checked(prefix.len()) {
        Some((start, digits)) if start.eq_ignore_ascii_case(prefix) => digits,
        _ => body,
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
        return Err(NumberError::Malformed);
    }
    let magnitude = u64::from_str_radix(digits, base).map_err(|_| NumberError::TooLarge)?;
    let magnitude = i128::from(magnitude);
    Ok(if text.starts_with('-') {
        -magnitude
    } else {
        magnitude
    })
}

fn sexagesimal_int(body: &str) -> Result<i128, NumberError> {
    body.split(':').try_fold(0_i128, |total, place| {
        total
            .checked_mul(60)
            .and_then(|total| total.checked_add(based(place, 10).ok()?))
            .ok_or(NumberError::TooLarge)
    })
}

/// Reads a float in any of the notations of YAML 1.1.
pub(super) fn float(text: &str) -> Result<Number, NumberError> {
    let digits = without_underscores(text).to_ascii_lowercase();
    let body = unsigned(&digits);
    if matches!(body, ".inf" | ".nan") {
        return Err(NumberError::NotFinite);
    }
    // From the last place on, as PyYAML adds them: each sum is rounded.
    let mut unit = 1.0;
    let mut magnitude = 0.0;
    for place in body.rsplit(':') {
        magnitude += decimal_float(place.trim())? * unit;
        unit *= 60.0;
    }
    let value = if digits.starts_with('-') {
        -magnitude
    } else {
        magnitude
    };
    Number::from_f64(value).ok_or(NumberError::NotFinite)
}

/// Rust's own parser would also accept `inf` and `nan`.
fn decimal_float(text: &str) -> Result<f64, NumberError> {
    let spelled = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'+' | b'-');
    if !text.bytes().all(spelled) {
        return Err(NumberError::Malformed);
    }
    text.parse().map_err(|_| NumberError::Malformed)
}

fn without_underscores(text: &str) -> String {
    text.chars().filter(|c| *c != '_').collect()
}

/// A float as Python prints it: `1.0`, `0.0001`, `1e-05`, `1e+16`.
pub(super) fn float_text(value: f64) -> String {
    let scientific = format!("{value:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    match exponent.parse::<i32>() {
        Ok(power) if !(-4..16).contains(&power) => format!(
            "{mantissa}e{sign}{digits:02}",
            sign = if power < 0 { '-' } else { '+' },
            digits = power.unsigned_abs()
        ),
        _ if value.fract() == 0.0 => format!("{value:.1}"),
        _ => format!("{value}"),
    }
}
