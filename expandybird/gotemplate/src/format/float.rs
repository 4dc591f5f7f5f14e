//! Floats by verbs, and Go's `strconv.FormatFloat`.
//!
//! By hand because Rust prints exponents in another form; the digits are Rust's, which rounds to a number of digits as Go
//! does.

use super::printer::Printer;
use crate::value::Value;

/// More digits behind the point than a float can have: those that follow are zeros.
const EXACT_DIGITS: usize = 1100;

/// Formats a float by `e`, `E`, `f`, `g`, `G`, `b`, `x` or `X`. Without a precision, by the shortest digits that are
/// read back as the same float.
#[must_use]
pub fn format_float(number: f64, verb: char, precision: Option<usize>) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let sign = if number.is_sign_negative() { "-" } else { "" };
    let size = number.abs();
    let digits = match verb {
        'e' | 'E' => exponential(size, verb, precision),
        'g' | 'G' => general(size, verb, precision),
        'b' => binary(size),
        'x' | 'X' => hexadecimal(size, verb, precision),
        _ => fixed(size, precision),
    };
    format!("{sign}{digits}")
}

/// The zeros of a precision beyond [`EXACT_DIGITS`].
fn zeros(precision: Option<usize>) -> String {
    "0".repeat(precision.unwrap_or(0).saturating_sub(EXACT_DIGITS))
}

fn fixed(size: f64, precision: Option<usize>) -> String {
    match precision.map(|precision| precision.min(EXACT_DIGITS)) {
        None => {
            let (mantissa, exponent) = scientific(size, None);
            place_point(&mantissa.replace('.', ""), exponent + 1)
        }
        Some(digits) => format!("{size:.digits$}{}", zeros(precision)),
    }
}

/// The mantissa and the exponent, with so many digits behind the point, or as many as are read back as the same float.
fn scientific(size: f64, digits: Option<usize>) -> (String, i32) {
    let digits = digits.map_or_else(|| shortest(size) - 1, |digits| digits.min(EXACT_DIGITS));
    let text = format!("{size:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.to_owned(), exponent.parse().unwrap_or(0))
}

/// How many digits are read back as the same float. Rust's own text with so many is not the one that Go takes: of two that are
/// equally close, it has the greater one, and Go the even one.
fn shortest(size: f64) -> usize {
    let text = format!("{size:e}");
    let mantissa = text.split('e').next().unwrap_or_default();
    mantissa.bytes().filter(u8::is_ascii_digit).count().max(1)
}

fn exponential(size: f64, verb: char, precision: Option<usize>) -> String {
    let (mantissa, exponent) = scientific(size, precision);
    let zeros = zeros(precision);
    format!("{mantissa}{zeros}{}", signed_exponent(exponent, verb))
}

/// `e+06`: a sign and at least two digits.
fn signed_exponent(exponent: i32, letter: char) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{letter}{sign}{:02}", exponent.unsigned_abs())
}

fn general(size: f64, verb: char, precision: Option<usize>) -> String {
    let precision = precision.map(|precision| precision.clamp(1, EXACT_DIGITS));
    let (mantissa, exponent) = scientific(size, precision.map(|precision| precision - 1));
    let digits = mantissa.replace('.', "");
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() {
        return "0".to_owned();
    }
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let threshold = match precision.and_then(|precision| i32::try_from(precision).ok()) {
        None => 6,
        Some(precision) if precision > count && count > exponent => count,
        Some(precision) => precision,
    };
    if (-4..threshold).contains(&exponent) {
        return place_point(digits, exponent + 1);
    }
    let (first, rest) = digits.split_at(1);
    let dot = if rest.is_empty() { "" } else { "." };
    let letter = if verb == 'G' { 'E' } else { 'e' };
    format!("{first}{dot}{rest}{}", signed_exponent(exponent, letter))
}

/// The digits with the decimal point behind the given number of them.
fn place_point(digits: &str, point: i32) -> String {
    let zeros = |count: u32| "0".repeat(usize::try_from(count).unwrap_or(0));
    if point <= 0 {
        return format!("0.{}{digits}", zeros(point.unsigned_abs()));
    }
    let whole = usize::try_from(point).unwrap_or(0);
    match digits.split_at_checked(whole) {
        Some((whole, "")) => whole.to_owned(),
        Some((whole, fraction)) => format!("{whole}.{fraction}"),
        None => format!("{digits}{}", "0".repeat(whole - digits.len())),
    }
}

/// The bits of the mantissa, and the exponent of the last of them.
fn parts(size: f64) -> (u64, i32) {
    let bits = size.to_bits();
    let mantissa = bits & ((1 << 52) - 1);
    match i32::try_from(bits >> 52 & 0x7ff).unwrap_or(0) {
        0 => (mantissa, -1074),
        exponent => (mantissa | 1 << 52, exponent - 1075),
    }
}

fn binary(size: f64) -> String {
    let (mantissa, exponent) = parts(size);
    format!("{mantissa}p{exponent:+}")
}

fn hexadecimal(size: f64, verb: char, precision: Option<usize>) -> String {
    let (mantissa, exponent) = parts(size);
    let (mut mantissa, mut exponent) = (mantissa << 8, exponent + 52);
    if mantissa == 0 {
        exponent = 0;
    } else {
        // The leading digit is 1, at bit 60.
        let shift = mantissa.leading_zeros().saturating_sub(3);
        mantissa <<= shift;
        exponent -= i32::try_from(shift).unwrap_or(0);
    }
    if let Some(digits) = precision.filter(|precision| *precision < 15) {
        mantissa = rounded(mantissa, 4 * digits);
        if mantissa >> 61 != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let mut fraction = format!("{:015x}", mantissa & ((1 << 60) - 1));
    match precision {
        None => fraction.truncate(fraction.trim_end_matches('0').len()),
        Some(digits) => {
            fraction.push_str(&"0".repeat(digits.saturating_sub(15)));
            fraction.truncate(digits);
        }
    }
    let dot = if fraction.is_empty() { "" } else { "." };
    let leading = mantissa >> 60;
    let text = format!(
        "0x{leading}{dot}{fraction}{}",
        signed_exponent(exponent, 'p')
    );
    if verb == 'X' {
        text.to_uppercase()
    } else {
        text
    }
}

/// Keeps so many bits below bit 60; half goes to even.
fn rounded(mantissa: u64, bits: usize) -> u64 {
    let dropped = 60_usize.saturating_sub(bits).max(1);
    let kept = mantissa >> dropped;
    let rest = mantissa & ((1 << dropped) - 1);
    let half = 1_u64 << (dropped - 1);
    let is_up = rest > half || rest == half && kept & 1 == 1;
    (kept + u64::from(is_up)) << dropped
}

impl Printer<'_> {
    /// A float by its verb.
    pub fn float(&mut self, value: &Value, number: f64, verb: char) {
        match verb {
            'v' => self.float_as(number, 'g', None),
            'b' | 'g' | 'G' | 'x' | 'X' => self.float_as(number, verb, None),
            'e' | 'E' | 'f' => self.float_as(number, verb, Some(6)),
            'F' => self.float_as(number, 'f', Some(6)),
            _ => self.complain(value, verb),
        }
    }

    fn float_as(&mut self, number: f64, verb: char, precision: Option<usize>) {
        let precision = self.flags.precision.or(precision);
        let text = format_float(number, verb, precision);
        let (mut sign, digits) = match text.split_at_checked(1) {
            Some((sign @ ("+" | "-"), digits)) => (sign, digits),
            _ => ("+", text.as_str()),
        };
        if self.flags.space && sign == "+" && !self.flags.plus {
            sign = " ";
        }
        if !number.is_finite() {
            let is_bare = number.is_nan() && !self.flags.space && !self.flags.plus;
            let sign = if is_bare { "" } else { sign };
            return self.pad_with_spaces(format!("{sign}{digits}").as_bytes());
        }
        let digits = match self.flags.sharp && verb != 'b' {
            true => with_point(digits, verb, precision),
            false => digits.to_owned(),
        };
        if sign == "+" && !self.flags.plus {
            return self.pad(digits.as_bytes());
        }
        if self.flags.zero && !self.flags.minus {
            let columns = sign.len() + digits.len();
            self.zeros_after_sign(sign, columns);
            self.write(digits.as_bytes());
        } else {
            self.pad(format!("{sign}{digits}").as_bytes());
        }
    }

    fn zeros_after_sign(&mut self, sign: &str, columns: usize) {
        self.write(sign.as_bytes());
        self.pad_around(columns, |_| {});
    }
}

/// The `#` flag: a decimal point always, and the zeros that `g` leaves out.
fn with_point(text: &str, verb: char, precision: Option<usize>) -> String {
    let tail = match verb {
        'x' | 'X' => text.find(['p', 'P']),
        _ => text.find(['e', 'E']),
    };
    let (number, tail) = text.split_at(tail.unwrap_or(text.len()));
    let wanted = match verb {
        'g' | 'G' | 'x' => precision.unwrap_or(6),
        _ => 0,
    };
    // Go counts the `x` of `0x` as a digit.
    let significant = number.trim_start_matches(['0', '.']);
    let mut shown = significant
        .chars()
        .filter(|character| *character != '.')
        .count();
    let mut dot = "";
    if !number.contains('.') {
        shown += usize::from(number == "0");
        dot = ".";
    }
    let zeros = "0".repeat(wanted.saturating_sub(shown));
    format!("{number}{dot}{zeros}{tail}")
}
