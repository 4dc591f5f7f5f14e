//! What Sprig makes of a value of another type. Nothing here fails: what cannot be converted becomes zero.
//!
//! The rules for numbers are those of the Go package `cast`, the ones for text those of Sprig's `toString`.

use expandybird_gotemplate::budget::Budget;
use expandybird_gotemplate::error::Limit;
use expandybird_gotemplate::format;
use expandybird_gotemplate::value::{GoString, Value};

/// The bounds of the floats that fit into an `int64`: Go gives the smallest integer for all others.
const INT64_BOUND: f64 = 9_223_372_036_854_775_808.0;

/// Go's `int64(float)` on the usual processors.
pub fn truncated(number: f64) -> i64 {
    if (-INT64_BOUND..INT64_BOUND).contains(&number) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the range is checked above"
        )]
        let integer = number as i64;
        integer
    } else {
        i64::MIN
    }
}

/// The integer that a function of arithmetic takes a value for.
pub fn to_int64(value: &Value) -> i64 {
    match value {
        Value::Bool(truth) => i64::from(*truth),
        Value::Int(_, number) => *number,
        Value::Uint(_, number) => number.cast_signed(),
        Value::Float(number) => truncated(*number),
        Value::String(text) => parse_int(without_zero_decimals(&text.to_str())).unwrap_or(0),
        _ => 0,
    }
}

/// The float that a function of arithmetic takes a value for.
pub fn to_float64(value: &Value) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "Go's conversion loses it, too")]
    match value {
        Value::Bool(truth) => f64::from(u8::from(*truth)),
        Value::Int(_, number) => *number as f64,
        Value::Uint(_, number) => *number as f64,
        Value::Float(number) => *number,
        Value::String(text) => parse_float(&text.to_str()).unwrap_or(0.0),
        _ => 0.0,
    }
}

/// The text without a final `.000`.
fn without_zero_decimals(text: &str) -> &str {
    let whole = text.trim_end_matches('0');
    match whole.strip_suffix('.') {
        Some(whole_number) if whole.len() < text.len() => whole_number,
        _ => text,
    }
}

/// Go's `strconv.ParseInt` with base 0.
pub fn parse_int(text: &str) -> Option<i64> {
    let (negative, magnitude) = match text.strip_prefix(['+', '-']) {
        Some(magnitude) => (text.starts_with('-'), magnitude),
        None => (false, text),
    };
    let (radix, digits) = radix_and_digits(magnitude);
    if !underscores_are_between_digits(digits, radix != 10) {
        return None;
    }
    let digits = digits.replace('_', "");
    if digits.is_empty() || digits.starts_with(['+', '-']) {
        return None;
    }
    let magnitude = i128::from_str_radix(&digits, radix).ok()?;
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}

fn radix_and_digits(text: &str) -> (u32, &str) {
    let prefix = text.get(..2).map(str::to_ascii_lowercase);
    let rest = text.get(2..).unwrap_or_default();
    match prefix.as_deref() {
        Some("0x") => (16, rest),
        Some("0o") => (8, rest),
        Some("0b") => (2, rest),
        _ => match text.strip_prefix('0') {
            Some(digits) if !digits.is_empty() => (8, digits),
            _ => (10, text),
        },
    }
}

/// After a prefix of a base, an underscore may come first.
fn underscores_are_between_digits(digits: &str, after_prefix: bool) -> bool {
    let ends_well = !digits.ends_with('_') && !digits.contains("__");
    ends_well && (after_prefix || !digits.starts_with('_'))
}

/// Go's `strconv.ParseFloat`, without hexadecimal floats.
fn parse_float(text: &str) -> Option<f64> {
    let number: f64 = match text.contains('_') {
        true => without_underscores(text)?.parse().ok()?,
        false => text.parse().ok()?,
    };
    let names_infinity = text.to_ascii_lowercase().contains("inf");
    (number.is_finite() || number.is_nan() || names_infinity).then_some(number)
}

/// The number without underscores, each of which must stand between two digits.
fn without_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(u8::is_ascii_digit)
    };
    let mut underscores = text.match_indices('_').map(|(at, _)| at);
    let are_between = underscores.all(|at| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)));
    are_between.then(|| text.replace('_', ""))
}

/// Go's `%v`.
pub fn printed(budget: &mut Budget, value: &Value) -> Result<GoString, Limit> {
    let mut out = Vec::new();
    let limit = budget.limits().string_bytes;
    format::print(&mut out, limit, std::slice::from_ref(value))?;
    budget.spend_string(out.len())?;
    Ok(out.into())
}

/// Sprig's `toString`.
pub fn to_text(budget: &mut Budget, value: &Value) -> Result<GoString, Limit> {
    match value {
        Value::String(text) | Value::Bytes(text) => Ok(text.clone()),
        other => printed(budget, other),
    }
}

/// The texts of the items of a list that are not nil; a list of one for any other value but nil.
pub fn to_texts(budget: &mut Budget, value: &Value) -> Result<Vec<GoString>, Limit> {
    match value {
        Value::Nil => Ok(Vec::new()),
        Value::List(list) => {
            budget.spend_list(list.items().len())?;
            let items = list
                .items()
                .iter()
                .filter(|item| !matches!(item, Value::Nil));
            items.map(|item| to_text(budget, item)).collect()
        }
        Value::Bytes(bytes) => Ok(bytes.iter().map(|byte| byte.to_string().into()).collect()),
        other => Ok(vec![to_text(budget, other)?]),
    }
}
