//! Go's layouts of times: an example of one moment, 2 January 2006, 15:04:05 in the zone MST.

use std::fmt::Write as _;

/// A part of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    LongMonth,
    Month,
    NumMonth,
    ZeroMonth,
    LongWeekDay,
    WeekDay,
    Day,
    UnderDay,
    ZeroDay,
    UnderYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    UpperHalf,
    LowerHalf,
    Zone,
    /// Whether `Z` stands for no offset, whether there are colons, and how many pairs of digits.
    Offset(bool, bool, u8),
    /// Digits after the comma or point, and whether zeros at the end are left out.
    Fraction(u8, char, bool),
}

const OFFSETS: &[(&str, Part)] = &[
    ("-070000", Part::Offset(false, false, 3)),
    ("-07:00:00", Part::Offset(false, true, 3)),
    ("-0700", Part::Offset(false, false, 2)),
    ("-07:00", Part::Offset(false, true, 2)),
    ("-07", Part::Offset(false, false, 1)),
    ("Z070000", Part::Offset(true, false, 3)),
    ("Z07:00:00", Part::Offset(true, true, 3)),
    ("Z0700", Part::Offset(true, false, 2)),
    ("Z07:00", Part::Offset(true, true, 2)),
    ("Z07", Part::Offset(true, false, 1)),
];

const PLAIN: &[(&str, Part)] = &[
    ("January", Part::LongMonth),
    ("Monday", Part::LongWeekDay),
    ("MST", Part::Zone),
    ("002", Part::ZeroYearDay),
    ("01", Part::ZeroMonth),
    ("02", Part::ZeroDay),
    ("03", Part::ZeroHour12),
    ("04", Part::ZeroMinute),
    ("05", Part::ZeroSecond),
    ("06", Part::Year),
    ("15", Part::Hour),
    ("1", Part::NumMonth),
    ("2006", Part::LongYear),
    ("2", Part::Day),
    ("__2", Part::UnderYearDay),
    ("3", Part::Hour12),
    ("4", Part::Minute),
    ("5", Part::Second),
    ("PM", Part::UpperHalf),
    ("pm", Part::LowerHalf),
];

/// The text before the next part, the part with its text, and the rest.
pub fn next(layout: &str) -> (&str, Option<(Part, &str)>, &str) {
    for (at, _) in layout.char_indices() {
        let Some((before, rest)) = layout.split_at_checked(at) else {
            continue;
        };
        if rest.starts_with("_2006") {
            // Go takes the year, and the underscore for text.
            let (before, rest) = layout.split_at(at + 1);
            let (year, after) = rest.split_at(4);
            return (before, Some((Part::LongYear, year)), after);
        }
        if let Some((part, length)) = part_at(rest) {
            let (text, after) = rest.split_at(length);
            return (before, Some((part, text)), after);
        }
    }
    (layout, None, "")
}

fn part_at(text: &str) -> Option<(Part, usize)> {
    let listed = OFFSETS.iter().chain(PLAIN);
    let mut found = listed.filter(|(name, _)| text.starts_with(name));
    if let Some((name, part)) = found.next() {
        return Some((*part, name.len()));
    }
    for (name, part) in [("Jan", Part::Month), ("Mon", Part::WeekDay)] {
        if let Some(rest) = text.strip_prefix(name) {
            return (!rest.starts_with(|c: char| c.is_ascii_lowercase())).then_some((part, 3));
        }
    }
    if text.starts_with("_2") {
        return Some((Part::UnderDay, 2));
    }
    fraction(text)
}

fn fraction(text: &str) -> Option<(Part, usize)> {
    let separator = text.chars().next().filter(|c| matches!(c, '.' | ','))?;
    let rest = text.get(1..)?;
    let digit = rest.chars().next().filter(|c| matches!(c, '0' | '9'))?;
    let length = rest.len() - rest.trim_start_matches(digit).len();
    let after = rest.get(length..)?;
    if after.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let digits = u8::try_from(length).ok()?;
    Some((Part::Fraction(digits, separator, digit == '9'), length + 1))
}

/// A moment, taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clock {
    pub year: i64,
    /// From 1.
    pub month: u8,
    pub day: u8,
    pub year_day: u16,
    /// From 0, Sunday.
    pub week_day: u8,
    pub hour: u8,
    pub minute: u8,
    pub second: u8,
    pub nanosecond: u32,
    /// Seconds east of UTC.
    pub offset: i32,
    /// The abbreviation of the zone; empty if it has none.
    pub zone: String,
}

pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// Go's `Time.Format`.
pub fn format(clock: &Clock, layout: &str) -> String {
    let mut out = String::new();
    let mut rest = layout;
    loop {
        let (before, part, after) = next(rest);
        out.push_str(before);
        let Some((part, _)) = part else {
            return out;
        };
        // Writing to a text cannot fail.
        let _ = write_part(&mut out, clock, part);
        rest = after;
    }
}

fn write_part(out: &mut String, clock: &Clock, part: Part) -> std::fmt::Result {
    let name = |names: &[&'static str], index: usize| names.get(index).copied().unwrap_or("");
    let month = name(&MONTHS, usize::from(clock.month).wrapping_sub(1));
    let day = name(&DAYS, usize::from(clock.week_day));
    let short = |name: &'static str| name.get(..3).unwrap_or(name);
    let hour12 = match clock.hour % 12 {
        0 => 12,
        hour => hour,
    };
    let half = if clock.hour >= 12 { "PM" } else { "AM" };
    match part {
        Part::LongMonth => out.write_str(month),
        Part::Month => out.write_str(short(month)),
        Part::NumMonth => write!(out, "{}", clock.month),
        Part::ZeroMonth => write!(out, "{:02}", clock.month),
        Part::LongWeekDay => out.write_str(day),
        Part::WeekDay => out.write_str(short(day)),
        Part::Day => write!(out, "{}", clock.day),
        Part::UnderDay => write!(out, "{:2}", clock.day),
        Part::ZeroDay => write!(out, "{:02}", clock.day),
        Part::UnderYearDay => write!(out, "{:3}", clock.year_day),
        Part::ZeroYearDay => write!(out, "{:03}", clock.year_day),
        Part::Hour => write!(out, "{:02}", clock.hour),
        Part::Hour12 => write!(out, "{hour12}"),
        Part::ZeroHour12 => write!(out, "{hour12:02}"),
        Part::Minute => write!(out, "{}", clock.minute),
        Part::ZeroMinute => write!(out, "{:02}", clock.minute),
        Part::Second => write!(out, "{}", clock.second),
        Part::ZeroSecond => write!(out, "{:02}", clock.second),
        Part::LongYear => write!(out, "{:04}", clock.year),
        Part::Year => write!(out, "{:02}", clock.year.rem_euclid(100)),
        Part::UpperHalf => out.write_str(half),
        Part::LowerHalf => out.write_str(&half.to_ascii_lowercase()),
        Part::Zone if !clock.zone.is_empty() => out.write_str(&clock.zone),
        Part::Zone => {
            let minutes = clock.offset / 60;
            let sign = if minutes < 0 { '-' } else { '+' };
            let minutes = minutes.abs();
            write!(out, "{sign}{:02}", minutes / 60)?;
            match minutes % 60 {
                0 => Ok(()),
                rest => write!(out, "{rest:02}"),
            }
        }
        Part::Offset(true, ..) if clock.offset == 0 => out.write_char('Z'),
        Part::Offset(_, colons, pairs) => write_offset(out, clock.offset, colons, pairs),
        Part::Fraction(digits, separator, trims) => {
            write_fraction(out, clock.nanosecond, digits, separator, trims)
        }
    }
}

fn write_offset(out: &mut String, offset: i32, colons: bool, pairs: u8) -> std::fmt::Result {
    let sign = if offset < 0 { '-' } else { '+' };
    let size = offset.abs();
    let colon = if colons { ":" } else { "" };
    write!(out, "{sign}{:02}", size / 3_600)?;
    if pairs > 1 {
        write!(out, "{colon}{:02}", size / 60 % 60)?;
    }
    if pairs > 2 {
        write!(out, "{colon}{:02}", size % 60)?;
    }
    Ok(())
}

fn write_fraction(
    out: &mut String,
    nanosecond: u32,
    digits: u8,
    separator: char,
    trims: bool,
) -> std::fmt::Result {
    let all = format!("{nanosecond:09}");
    let length = usize::from(digits).min(9);
    let shown = all.get(..length).unwrap_or(&all);
    let shown = match trims {
        true => shown.trim_end_matches('0'),
        false => shown,
    };
    match trims && shown.is_empty() {
        true => Ok(()),
        false => write!(out, "{separator}{shown}"),
    }
}
