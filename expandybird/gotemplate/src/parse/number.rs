//! Go's number literals.
//!
//! By hand because Go's syntax (prefixes, underscores, hexadecimal floats) is no other library's.

use std::ops::Range;

use super::token::Kind;
use super::tree::Number;
use crate::text;

/// Reads a literal; the error is Go's text, without a position.
pub fn read(literal: Range<usize>, text: &[u8], kind: Kind) -> Result<Number, String> {
    if kind == Kind::CharConstant {
        return character(literal, text);
    }
    let shown = || text::quoted(&String::from_utf8_lossy(text));
    if kind == Kind::Complex || is_imaginary(text) {
        let message = "complex numbers are not supported, use a float";
        return Err(format!("{message}: {}", shown()));
    }
    let text = std::str::from_utf8(text).unwrap_or_default();
    let mut number = Number {
        literal,
        int: parse_int(text),
        uint: parse_uint(text),
        float: None,
        is_float: is_float(text),
    };
    if number.int == Some(0) {
        number.uint = Some(0);
    }
    number.float = match (number.int, number.uint) {
        (Some(int), _) => Some(int as f64),
        (None, Some(uint)) => Some(uint as f64),
        (None, None) => parse_float(text),
    };
    let Some(float) = number.float else {
        return Err(format!("illegal number syntax: {}", shown()));
    };
    if number.int.is_none() && number.uint.is_none() {
        if !text.contains(['.', 'e', 'E', 'p', 'P']) {
            return Err(format!("integer overflow: {}", shown()));
        }
        number.int = exact_int(float);
        number.uint = exact_uint(float);
    }
    Ok(number)
}

fn character(literal: Range<usize>, text: &[u8]) -> Result<Number, String> {
    let inner = text.get(1..).unwrap_or_default();
    let (unquoted, length) = text::unquote_char(inner, b'\'').map_err(|error| error.to_string())?;
    if inner.get(length..) != Some(b"'") {
        let text = String::from_utf8_lossy(text);
        return Err(format!("malformed character constant: {text}"));
    }
    let code = unquoted.code();
    Ok(Number {
        literal,
        int: Some(code.into()),
        uint: Some(code.into()),
        float: Some(code.into()),
        is_float: false,
    })
}

fn is_imaginary(text: &[u8]) -> bool {
    let inner = text
        .strip_suffix(b"i")
        .and_then(|inner| std::str::from_utf8(inner).ok());
    inner.is_some_and(|inner| parse_float(inner).is_some())
}

/// Whether a literal without a wanted type is a float.
fn is_float(text: &str) -> bool {
    let is_hex_int =
        matches!(text.as_bytes(), [b'0', b'x' | b'X', _, ..]) && !text.contains(['p', 'P']);
    !is_hex_int && text.contains(['.', 'e', 'E', 'p', 'P'])
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn exact_int(float: f64) -> Option<i64> {
    let is_exact = float.fract() == 0.0 && (-(2_f64.powi(63))..2_f64.powi(63)).contains(&float);
    is_exact.then_some(float as i64)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked"
)]
fn exact_uint(float: f64) -> Option<u64> {
    let is_exact = float.fract() == 0.0 && (0.0..2_f64.powi(64)).contains(&float);
    is_exact.then_some(float as u64)
}

fn parse_int(text: &str) -> Option<i64> {
    let (is_negative, digits) = match text.as_bytes() {
        [b'-', ..] => (true, text.get(1..)?),
        [b'+', ..] => (false, text.get(1..)?),
        _ => (false, text),
    };
    let size = parse_uint(digits)?;
    if is_negative {
        0_i64.checked_sub_unsigned(size)
    } else {
        i64::try_from(size).ok()
    }
}

/// Go's `strconv.ParseUint(text, 0, 64)`.
fn parse_uint(text: &str) -> Option<u64> {
    let (digits, base) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (text.get(2..)?, 16),
        [b'0', b'o' | b'O', ..] => (text.get(2..)?, 8),
        [b'0', b'b' | b'B', ..] => (text.get(2..)?, 2),
        [b'0', _, ..] => (text.get(1..)?, 8),
        _ => (text, 10),
    };
    let digits = without_underscores(text, digits)?;
    let is_number = !digits.is_empty() && !digits.starts_with('+');
    if is_number {
        u64::from_str_radix(&digits, base).ok()
    } else {
        None
    }
}

/// The digits without underscores, if these stand in their places: between digits, or behind a prefix.
fn without_underscores(text: &str, digits: &str) -> Option<String> {
    if !text.contains('_') {
        return Some(digits.to_owned());
    }
    let text = text.trim_start_matches(['+', '-']);
    let prefix = match text.as_bytes() {
        [b'0', b'x' | b'X' | b'o' | b'O' | b'b' | b'B', ..] => 2,
        _ => 0,
    };
    let is_hex = matches!(text.as_bytes(), [b'0', b'x' | b'X', ..]);
    let mut last = if prefix > 0 { '0' } else { '^' };
    for character in text.get(prefix..)?.chars() {
        let is_digit = character.is_ascii_digit() || is_hex && character.is_ascii_hexdigit();
        match character {
            _ if is_digit => last = '0',
            '_' if last != '0' => return None,
            '_' => last = '_',
            _ if last == '_' => return None,
            _ => last = '!',
        }
    }
    (last != '_').then(|| digits.replace('_', ""))
}

/// Go's `strconv.ParseFloat(text, 64)`, for the words that the lexer accepts.
pub fn parse_float(text: &str) -> Option<f64> {
    let (sign, unsigned) = match text.as_bytes() {
        [b'-', ..] => (-1.0, text.get(1..)?),
        [b'+', ..] => (1.0, text.get(1..)?),
        _ => (1.0, text),
    };
    let float = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => {
            hex_float(&without_underscores(text, unsigned.get(2..)?)?.to_ascii_lowercase())?
        }
        [b'0'..=b'9' | b'.', ..] => without_underscores(text, unsigned)?.parse::<f64>().ok()?,
        _ => return None,
    };
    float.is_finite().then_some(sign * float)
}

/// A hexadecimal float without its prefix; the exponent is mandatory.
fn hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once('p')?;
    let mut exponent = exponent.parse::<i64>().ok()?.clamp(-100_000, 100_000);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut bits = 0_u64;
    for (index, digit) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = digit.to_digit(16)?;
        exponent -= if index < whole.len() { 0 } else { 4 };
        if bits >> 58 == 0 {
            bits = bits << 4 | u64::from(digit);
        } else {
            // What is too far to the right only decides how to round.
            bits |= u64::from(digit != 0);
            exponent += 4;
        }
    }
    Some(scaled(bits, exponent))
}

/// `bits × 2^exponent`, rounded once; infinite if it is too large.
fn scaled(mut bits: u64, mut exponent: i64) -> f64 {
    if bits == 0 {
        return 0.0;
    }
    // Below the smallest exponent, digits are lost before the conversion rounds.
    while exponent < -1074 {
        let sticky = bits & 1;
        bits = bits >> 1 | sticky;
        exponent += 1;
        if bits <= 1 && exponent < -1080 {
            return 0.0;
        }
    }
    let mut float = bits as f64;
    while exponent > 0 && float.is_finite() {
        float *= 2.0;
        exponent -= 1;
    }
    // Exact but for the last steps of a subnormal result, where the bits fit already.
    while exponent < 0 {
        float /= 2.0;
        exponent += 1;
    }
    float
}
