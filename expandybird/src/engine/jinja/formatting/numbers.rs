//! Digits of integers and floats in each of their forms.

use crate::engine::jinja::values::repr;

/// `e`, `f`, `g` and `%` of a number that is not negative. `alternate` keeps the point and the zeros.
pub fn float(number: f64, kind: char, precision: usize, alternate: bool) -> String {
    if number.is_nan() {
        return cased("nan", kind);
    }
    if number.is_infinite() {
        return cased("inf", kind);
    }
    let digits = match kind.to_ascii_lowercase() {
        'e' => exponential(number, precision, alternate),
        'g' => general(number, precision, alternate, false),
        _ => fixed(number, precision, alternate),
    };
    cased(&digits, kind)
}

/// The form without a letter: like `g`, with a digit after the point.
pub fn plain(number: f64, precision: Option<usize>) -> String {
    match precision {
        Some(precision) if number.is_finite() => general(number, precision, false, true),
        _ => repr::float(number),
    }
}

fn cased(text: &str, kind: char) -> String {
    match kind.is_ascii_uppercase() {
        true => text.to_ascii_uppercase(),
        false => text.to_owned(),
    }
}

fn fixed(number: f64, precision: usize, alternate: bool) -> String {
    let point = if alternate && precision == 0 { "." } else { "" };
    format!("{number:.precision$}{point}")
}

fn exponential(number: f64, precision: usize, alternate: bool) -> String {
    let text = format!("{number:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if alternate && precision == 0 { "." } else { "" };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}{point}e{sign}{:02}", exponent.abs())
}

fn general(number: f64, precision: usize, alternate: bool, with_digit: bool) -> String {
    let precision = precision.max(1);
    let text = format!("{number:.*e}", precision - 1);
    let exponent: i64 = text
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0);
    let most = i64::try_from(precision).unwrap_or(i64::MAX) - i64::from(with_digit);
    let text = match (-4..most).contains(&exponent) {
        true => {
            let places = i64::try_from(precision).unwrap_or(i64::MAX) - 1 - exponent;
            fixed(number, usize::try_from(places).unwrap_or(0), alternate)
        }
        false => exponential(number, precision - 1, alternate),
    };
    match (alternate, text.contains('e')) {
        (true, _) => text,
        (_, true) => {
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, ""));
            format!("{}e{exponent}", without_zeros(digits))
        }
        (_, false) if with_digit && !without_zeros(&text).contains('.') => {
            format!("{}.0", without_zeros(&text))
        }
        (_, false) => without_zeros(&text).to_owned(),
    }
}

/// Without the zeros at the end of a fraction.
fn without_zeros(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

/// The digits of an integer, and the prefix of its form.
pub fn integer(number: u128, kind: char) -> (&'static str, String) {
    match kind {
        'b' => ("0b", format!("{number:b}")),
        'o' => ("0o", format!("{number:o}")),
        'x' => ("0x", format!("{number:x}")),
        'X' => ("0X", format!("{number:X}")),
        _ => ("", number.to_string()),
    }
}

/// Groups of digits before the point.
pub fn grouped(digits: &str, separator: char, size: usize) -> String {
    let end = digits
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(digits.len());
    let end = if size == 3 {
        digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len())
    } else {
        end
    };
    let (whole, rest) = digits.split_at(end);
    let mut grouped = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % size == 0 {
            grouped.push(separator);
        }
        grouped.push(digit);
    }
    grouped + rest
}
