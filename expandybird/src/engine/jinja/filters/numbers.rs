//! Numbers out of texts, rounded, and for people to read.

use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Error, ErrorKind, Value};

use super::given::given;

/// As Python's `int()`, with a default where that would fail.
pub fn int(value: &Value, args: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let [default, base] = given(["default", "base"], args, &named)?;
    let default = default.or(0);
    let base = u32::try_from(base.or(10))?;
    if let Some(text) = value.as_str() {
        let text = text.trim().replace('_', "");
        return Ok(parsed(&text, base).map_or(default, integer));
    }
    match value.kind() {
        ValueKind::Undefined => Err(undefined()),
        ValueKind::Bool => Ok(Value::from(i64::from(value.is_true()))),
        ValueKind::Number if value.is_integer() => Ok(value.clone()),
        ValueKind::Number => Ok(truncated(f64::try_from(value.clone())?).map_or(default, integer)),
        _ => Ok(default),
    }
}

fn undefined() -> Error {
    Error::new(ErrorKind::UndefinedError, "an undefined value is no number")
}

fn integer(number: i128) -> Value {
    i64::try_from(number).map_or_else(|_| Value::from(number), Value::from)
}

fn parsed(text: &str, base: u32) -> Option<i128> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let prefixed = |prefix: &str, its: u32| match base {
        base if base == its || base == 0 => lower
            .strip_prefix(prefix)
            .map(|digits| (digits.to_owned(), its)),
        _ => None,
    };
    let found = prefixed("0x", 16)
        .or_else(|| prefixed("0o", 8))
        .or_else(|| prefixed("0b", 2));
    let (digits, base) = found.unwrap_or((lower.clone(), if base == 0 { 10 } else { base }));
    let is_base = (2..=36).contains(&base);
    let whole = is_base
        .then(|| i128::from_str_radix(&format!("{sign}{digits}"), base).ok())
        .flatten();
    whole.or_else(|| text.parse().ok().and_then(truncated))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "checked to be within the range before"
)]
fn truncated(number: f64) -> Option<i128> {
    (number.abs() < 1.7e38).then_some(number as i128)
}

/// As Python's `float()`, with a default where that would fail.
pub fn float(value: &Value, args: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let [default] = given(["default"], args, &named)?;
    let default = default.or(0.0);
    Ok(match (value.as_str(), value.kind()) {
        (_, ValueKind::Undefined) => return Err(undefined()),
        (Some(text), _) => text.trim().parse::<f64>().map_or(default, Value::from),
        (None, ValueKind::Bool) => Value::from(if value.is_true() { 1.0 } else { 0.0 }),
        (None, ValueKind::Number) => f64::try_from(value.clone()).map_or(default, Value::from),
        _ => default,
    })
}

/// Half to even and by the exact value, as in Python; an integer stays one.
pub fn round(value: &Value, args: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let [precision, method] = given(["precision", "method"], args, &named)?;
    let precision = i32::try_from(precision.or(0))?;
    let number = f64::try_from(value.clone())?;
    let scale = 10f64.powi(precision);
    match method.or("common").as_str() {
        Some("common") if value.is_integer() && precision >= 0 => Ok(value.clone()),
        Some("common") if value.is_integer() => {
            Ok(truncated(round_half_even(number, precision)).map_or(value.clone(), integer))
        }
        Some("common") => Ok(Value::from(round_half_even(number, precision))),
        Some("ceil") => Ok(Value::from((number * scale).ceil() / scale)),
        Some("floor") => Ok(Value::from((number * scale).floor() / scale)),
        _ => Err(Error::new(
            ErrorKind::InvalidOperation,
            "method must be common, ceil or floor",
        )),
    }
}

/// Rust's formatting rounds the exact decimal value half to even, which is what Python does.
fn round_half_even(number: f64, precision: i32) -> f64 {
    match usize::try_from(precision) {
        Ok(digits) => format!("{number:.*}", digits.min(400))
            .parse()
            .unwrap_or(number),
        Err(_) => {
            let scale = 10f64.powi(-precision);
            (number / scale).round_ties_even() * scale
        }
    }
}

/// `1.5 MB`, or `1.4 MiB` with powers of 1024.
pub fn filesizeformat(value: &Value, args: Rest<Value>, named: Kwargs) -> Result<String, Error> {
    let [binary] = given(["binary"], args, &named)?;
    let (base, infix) = if binary.flag(false) {
        (1024.0, "iB")
    } else {
        (1000.0, "B")
    };
    let bytes = f64::try_from(match value.as_str() {
        Some(text) => text
            .trim()
            .parse::<f64>()
            .map_or_else(|_| value.clone(), Value::from),
        None => value.clone(),
    })?;
    if bytes == 1.0 {
        return Ok("1 Byte".to_owned());
    }
    if bytes < base {
        return Ok(format!("{} Bytes", bytes.trunc()));
    }
    let prefixes = if infix == "B" { "kMGTPEZY" } else { "KMGTPEZY" };
    let mut unit = base;
    let mut shown = String::new();
    for prefix in prefixes.chars() {
        shown = format!("{:.1} {prefix}{infix}", bytes / unit);
        unit *= base;
        if bytes < unit {
            break;
        }
    }
    Ok(shown)
}
