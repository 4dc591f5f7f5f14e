//! Numbers: parse texts, round, format for people.

use minijinja::{Error, Value};

use crate::engine::jinja::operators::{self, Number, integer, number};
use crate::engine::jinja::signature::Call;
use crate::engine::jinja::values::python;

/// The largest power of ten for rounding. Beyond it, nothing of a number is left.
const DIGITS: i64 = 400;

pub fn abs(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    match number(&call.subject()) {
        Some(Number::Int(number)) => number
            .checked_abs()
            .map(integer)
            .ok_or_else(operators::overflow),
        Some(Number::Float(number)) => Ok(Value::from(number.abs())),
        None => Err(python::invalid("abs takes a number")),
    }
}

/// Like Python's `int()`, with a default for values that fail.
pub fn int(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, default, base] = call.arguments();
    let (value, default) = (value.value(), default.or(0));
    if let Some(text) = value.as_str() {
        let text = text.trim_matches(python::is_space);
        // A text has no digits to a base that is no integer. It can still be a float.
        let base = base.integer().ok().map(|base| base.unwrap_or(10));
        let whole = without_underscores(text).zip(base);
        let whole = whole.map(|(text, base)| parsed(&text, base));
        return match whole.transpose()?.flatten() {
            Some(whole) => Ok(integer(whole)),
            None => match parsed_float(text) {
                Some(number) => cut(number, default),
                None => Ok(default),
            },
        };
    }
    match number(&value) {
        _ if value.is_undefined() => Err(python::undefined(&value, "is not a number")),
        Some(Number::Int(number)) => Ok(integer(number)),
        Some(Number::Float(number)) if number.is_infinite() => {
            Err(python::invalid("cannot convert float infinity to integer"))
        }
        Some(Number::Float(number)) => cut(number, default),
        None => Ok(default),
    }
}

/// A float without its fraction. The default for what is no number.
fn cut(number: f64, default: Value) -> Result<Value, Error> {
    match number.is_finite() {
        true => truncated(number)
            .map(integer)
            .ok_or_else(operators::overflow),
        false => Ok(default),
    }
}

/// Python accepts an underscore between two digits.
fn without_underscores(text: &str) -> Option<String> {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    let is_between =
        |at: usize| at > 0 && is_digit(bytes.get(at - 1)) && is_digit(bytes.get(at + 1));
    let mut underscores = text.match_indices('_');
    underscores
        .all(|(at, _)| is_between(at))
        .then(|| text.replace('_', ""))
}

/// `None` if it is not an integer of the base.
fn parsed(text: &str, base: i64) -> Result<Option<i128>, Error> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let prefixes = [("0x", 16), ("0o", 8), ("0b", 2)];
    let prefixed = prefixes.iter().find_map(|&(prefix, its)| {
        let fits = base == i64::from(its) || base == 0;
        fits.then(|| lower.strip_prefix(prefix))
            .flatten()
            .map(|digits| (digits, its))
    });
    let base = u32::try_from(if base == 0 { 10 } else { base });
    let Some(base) = base.ok().filter(|base| (2..=36).contains(base)) else {
        return Ok(None);
    };
    let (digits, base) = prefixed.unwrap_or((&lower, base));
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
        return Ok(None);
    }
    let whole = i128::from_str_radix(&format!("{sign}{digits}"), base);
    whole.map(Some).map_err(|_| operators::overflow())
}

fn parsed_float(text: &str) -> Option<f64> {
    without_underscores(text)?.parse().ok()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "checked to be within the range before"
)]
pub fn truncated(number: f64) -> Option<i128> {
    (number.abs() < 1.7e38).then_some(number as i128)
}

/// Like Python's `float()`, with a default for values that fail.
pub fn float(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, default] = call.arguments();
    let (value, default) = (value.value(), default.or(0.0));
    match value.as_str() {
        Some(text) => {
            Ok(parsed_float(text.trim_matches(python::is_space)).map_or(default, Value::from))
        }
        None if value.is_undefined() => Err(python::undefined(&value, "is not a number")),
        None => Ok(python::float(&value).map_or(default, Value::from)),
    }
}

/// Half to even and by the exact value, as in Python. An integer stays an integer.
pub fn round(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, precision, method] = call.arguments();
    let (value, precision) = (value.value(), precision.or(0));
    let method = method.or("common");
    let toward = match method.as_str() {
        Some("common") => return common(&value, &precision),
        Some("ceil") => f64::ceil,
        Some("floor") => f64::floor,
        _ => return Err(python::invalid("method must be common, ceil or floor")),
    };
    let scale = operators::power(&Value::from(10), &precision)?;
    let scaled = python::float(&operators::multiply(&value, &scale)?)?;
    if !scaled.is_finite() {
        return Err(python::invalid(
            "cannot convert float infinity or NaN to integer",
        ));
    }
    // `math.ceil` gives an integer, which has no negative zero.
    Ok(Value::from((toward(scaled) + 0.0) / python::float(&scale)?))
}

fn common(value: &Value, precision: &Value) -> Result<Value, Error> {
    let digits = match precision.is_none() {
        true => 0,
        false => python::integer(precision)?.clamp(-DIGITS, DIGITS),
    };
    match number(value) {
        Some(Number::Int(number)) => Ok(integer(rounded(number, digits))),
        Some(Number::Float(number)) if precision.is_none() && number.is_finite() => {
            cut(number.round_ties_even(), ().into())
        }
        Some(Number::Float(_)) if precision.is_none() => Err(python::invalid(
            "cannot convert float infinity or NaN to integer",
        )),
        Some(Number::Float(number)) => Ok(Value::from(half_even(number, digits))),
        None if value.is_undefined() => Err(python::undefined(value, "is not a number")),
        None => Err(python::invalid("round takes a number")),
    }
}

/// An integer, half to even.
fn rounded(number: i128, digits: i64) -> i128 {
    let places = u32::try_from(-digits).unwrap_or(0);
    let Some(unit) = 10_i128.checked_pow(places) else {
        return 0;
    };
    let (whole, rest) = (number.div_euclid(unit), number.rem_euclid(unit));
    let is_up = rest > unit - rest || rest == unit - rest && whole % 2 != 0;
    (whole + i128::from(is_up && unit > 1)).saturating_mul(unit)
}

/// Rust's formatting rounds the exact decimal value half to even, like Python.
fn half_even(number: f64, digits: i64) -> f64 {
    if !number.is_finite() {
        return number;
    }
    match usize::try_from(digits) {
        Ok(digits) => format!("{number:.digits$}").parse().unwrap_or(number),
        Err(_) => {
            let unit = 10f64.powi(i32::try_from(-digits).unwrap_or(i32::MAX));
            let rounded = (number / unit).round_ties_even();
            // Only the sign is left.
            if rounded == 0.0 {
                rounded
            } else {
                rounded * unit
            }
        }
    }
}

/// `1.5 MB`, or `1.4 MiB` with powers of 1024.
pub fn filesizeformat(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, binary] = call.arguments();
    let value = value.value();
    let (base, infix) = if binary.flag(false) {
        (1024.0, "iB")
    } else {
        (1000.0, "B")
    };
    let bytes = match value.as_str() {
        Some(text) => parsed_float(text.trim_matches(python::is_space)).ok_or_else(|| {
            python::invalid(format!("could not convert string to float: '{text}'"))
        })?,
        None => python::float(&value)?,
    };
    if bytes == 1.0 {
        return Ok(Value::from("1 Byte"));
    }
    if bytes < base {
        if bytes.is_infinite() {
            return Err(python::invalid("cannot convert float infinity to integer"));
        }
        // An integer has no negative zero. Below zero it may have 300 digits.
        return Ok(Value::from(format!("{:.0} Bytes", bytes.trunc() + 0.0)));
    }
    let prefixes = if infix == "B" { "kMGTPEZY" } else { "KMGTPEZY" };
    let mut unit = base;
    let mut shown = String::new();
    for prefix in prefixes.chars() {
        unit *= base;
        shown = format!("{} {prefix}{infix}", one_digit(base * bytes / unit));
        if bytes < unit {
            break;
        }
    }
    Ok(Value::from(shown))
}

fn one_digit(number: f64) -> String {
    match number.is_nan() {
        true => "nan".to_owned(),
        false => format!("{number:.1}"),
    }
}
