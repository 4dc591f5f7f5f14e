//! Which texts a reader of YAML 1.1 takes for something else than a text.

use std::sync::LazyLock;

use regex::Regex;

use crate::convert::parse_int;

/// Words that mean true, false, null, infinity or not a number.
const WORDS: &[&str] = &[
    "", "~", "null", "Null", "NULL", "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on",
    "On", "ON", "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF", ".nan",
    ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF",
];

static FLOAT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$").ok());

/// Numbers of base 60, as `12:30`.
static BASE_60: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$").ok());

static TIMESTAMP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let time = r"[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}([.,][0-9]+)?";
    Regex::new(&format!(r"^([0-9]{{4}})-([0-9]{{1,2}})-([0-9]{{1,2}})([Tt]{time}(Z|[-+][0-9]{{2}}:[0-9]{{2}})| {time})?$")).ok()
});

/// Whether this text, without quotes, is read as a text.
pub fn is_text(text: &str) -> bool {
    let is_word = WORDS.contains(&text);
    !(is_word || is_number(text) || is_timestamp(text) || matches(&BASE_60, text))
}

fn matches(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text))
}

fn is_number(text: &str) -> bool {
    match text.bytes().next() {
        Some(b'.') => text.bytes().any(|byte| byte.is_ascii_digit()) && text.parse::<f64>().is_ok(),
        Some(b'+' | b'-' | b'0'..=b'9') => {
            let digits = text.replace('_', "");
            parse_int(&digits).is_some() || parse_large(&digits) || is_float(&digits)
        }
        _ => false,
    }
}

/// A float beyond the range of `float64` is a text again.
fn is_float(digits: &str) -> bool {
    matches(&FLOAT, digits) && digits.parse().is_ok_and(f64::is_finite)
}

/// Whether it is an integer above the `int64` that a `uint64` holds.
fn parse_large(digits: &str) -> bool {
    digits.parse::<u64>().is_ok()
        || digits
            .strip_prefix("0x")
            .is_some_and(|hex| u64::from_str_radix(hex, 16).is_ok())
}

/// A date, or a date and a time, of the calendar.
fn is_timestamp(text: &str) -> bool {
    let Some(groups) = TIMESTAMP
        .as_ref()
        .and_then(|pattern| pattern.captures(text))
    else {
        return false;
    };
    let part = |index| {
        groups
            .get(index)
            .and_then(|part| part.as_str().parse::<u16>().ok())
            .unwrap_or(0)
    };
    let (year, month, day) = (part(1), part(2), part(3));
    (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day)
}

fn days_in(year: u16, month: u16) -> u16 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
