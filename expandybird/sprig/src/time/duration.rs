//! Go's `time.Duration`: nanoseconds in an `int64`.

const SECOND: i64 = 1_000_000_000;
const UNITS: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Go's `time.ParseDuration`.
///
/// # Errors
/// Go's text: the duration is not valid, or has no unit.
pub fn parse(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", quoted(text));
    let (negative, unsigned) = match text.strip_prefix(['+', '-']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if unsigned == "0" {
        return Ok(0);
    }
    if unsigned.is_empty() {
        return Err(invalid());
    }
    let (mut rest, mut total) = (unsigned, 0_u64);
    while !rest.is_empty() {
        let (whole, after) = digits(rest);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => digits(after),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let end = after.find(|c: char| c == '.' || c.is_ascii_digit());
        let (unit, after) = after.split_at(end.unwrap_or(after.len()));
        if unit.is_empty() {
            return Err(format!("time: missing unit in duration {}", quoted(text)));
        }
        let known = UNITS.iter().find(|(name, _)| *name == unit);
        let (_, unit) = known.ok_or_else(|| {
            let unit = quoted(unit);
            format!("time: unknown unit {unit} in duration {}", quoted(text))
        })?;
        let part = nanoseconds(whole, fraction, *unit).ok_or_else(invalid)?;
        total = total
            .checked_add(part)
            .filter(|total| *total <= 1 << 63)
            .ok_or_else(invalid)?;
        rest = after;
    }
    match (negative, i64::try_from(total)) {
        (true, Ok(total)) => Ok(-total),
        (true, Err(_)) => Ok(i64::MIN),
        (false, total) => total.map_err(|_| invalid()),
    }
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

fn nanoseconds(whole: &str, fraction: &str, unit: u64) -> Option<u64> {
    let whole: u64 = match whole {
        "" => 0,
        digits => digits.parse().ok()?,
    };
    let whole = whole.checked_mul(unit)?;
    // Digits after the eighteenth are less than a nanosecond of every unit.
    let fraction: String = fraction.chars().take(18).collect();
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let part = fraction.parse::<u128>().unwrap_or(0) * u128::from(unit) / scale;
    whole.checked_add(u64::try_from(part).ok()?)
}

fn quoted(text: &str) -> String {
    expandybird_gotemplate::text::quoted(text)
}

/// Go's `Duration.String`.
pub fn print(duration: i64) -> String {
    let size = duration.unsigned_abs();
    let sign = if duration < 0 { "-" } else { "" };
    if size == 0 {
        return "0s".to_owned();
    }
    if size < SECOND.unsigned_abs() {
        let (unit, digits) = match size {
            ..1_000 => ("ns", 0),
            1_000..1_000_000 => ("µs", 3),
            _ => ("ms", 6),
        };
        return format!("{sign}{}{unit}", decimal(size, digits));
    }
    let seconds = size / SECOND.unsigned_abs();
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    let rest = decimal(size % 60_000_000_000, 9);
    match (hours, minutes) {
        (0, 0) => format!("{sign}{rest}s"),
        (0, minutes) => format!("{sign}{minutes}m{rest}s"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{rest}s"),
    }
}

/// The number with its last digits behind a point, without zeros at the end.
fn decimal(number: u64, digits: u32) -> String {
    let scale = 10_u64.pow(digits);
    let (whole, fraction) = (number / scale, number % scale);
    if fraction == 0 {
        return whole.to_string();
    }
    let width = usize::try_from(digits).unwrap_or_default();
    let fraction = format!("{fraction:0width$}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

/// The largest unit that is less than the duration, and how many of it: Sprig's `durationRound`.
pub fn rounded(duration: i64) -> String {
    const HOUR: u64 = 3_600_000_000_000;
    const NAMES: &[(u64, &str)] = &[
        (HOUR * 24 * 365, "y"),
        (HOUR * 24 * 30, "mo"),
        (HOUR * 24, "d"),
        (HOUR, "h"),
        (60_000_000_000, "m"),
        (1_000_000_000, "s"),
    ];
    let size = duration.unsigned_abs();
    let found = NAMES.iter().find(|(unit, _)| size > *unit);
    found.map_or_else(
        || "0s".to_owned(),
        |(unit, name)| format!("{}{name}", size / unit),
    )
}

/// Go's `Duration.Round` to seconds.
pub fn to_seconds(duration: i64) -> i64 {
    let rest = duration % SECOND;
    let down = duration - rest;
    match rest.abs() * 2 < SECOND {
        true => down,
        false => down.saturating_add(SECOND * rest.signum()),
    }
}
