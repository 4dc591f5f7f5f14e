//! Go's `time.Parse`.

use std::fmt::Write as _;

use super::layout::{Clock, DAYS, MONTHS, Part, next};

/// Reads a text by its layout. Without a zone it is UTC.
///
/// # Errors
/// Go's text: where the text differs from the layout, or what is out of range.
pub fn parse(layout: &str, text: &str) -> Result<Clock, String> {
    let mut state = State {
        clock: Clock {
            month: 1,
            day: 1,
            ..Clock::default()
        },
        afternoon: None,
        year_day: None,
    };
    let differs = |element: &str, value: &str, reason: &str| {
        let (text, layout) = (quoted(text), quoted(layout));
        match reason {
            "" => {
                let (value, element) = (quoted(value), quoted(element));
                format!("parsing time {text} as {layout}: cannot parse {value} as {element}")
            }
            reason => format!("parsing time {text}: {reason}"),
        }
    };
    let (mut rest_of_layout, mut value) = (layout, text);
    loop {
        let (before, part, after) = next(rest_of_layout);
        value = skip(value, before).map_err(|rest| differs(before, rest, ""))?;
        let Some((part, element)) = part else {
            if !value.is_empty() {
                let text = quoted(text);
                let value = quoted(value);
                return Err(format!("parsing time {text}: extra text: {value}"));
            }
            break;
        };
        let read = state.read(part, value, after);
        value = read.map_err(|fault| match fault {
            Fault::Bad => differs(element, value, ""),
            Fault::Range(what) => differs(element, value, &format!("{what} out of range")),
        })?;
        rest_of_layout = after;
    }
    state.finish().map_err(|what| {
        let text = quoted(text);
        format!("parsing time {text}: {what} out of range")
    })
}

enum Fault {
    Bad,
    Range(&'static str),
}

struct State {
    clock: Clock,
    afternoon: Option<bool>,
    year_day: Option<u16>,
}

impl State {
    /// The rest of the text after the part.
    fn read<'t>(&mut self, part: Part, text: &'t str, after: &str) -> Result<&'t str, Fault> {
        let clock = &mut self.clock;
        let (number, rest) = match part {
            Part::LongMonth | Part::Month => {
                let (index, rest) = name(&MONTHS, text, part == Part::LongMonth)?;
                clock.month = index + 1;
                return Ok(rest);
            }
            Part::LongWeekDay | Part::WeekDay => {
                return Ok(name(&DAYS, text, part == Part::LongWeekDay)?.1);
            }
            Part::UpperHalf | Part::LowerHalf => {
                let (half, rest) = text.split_at_checked(2).ok_or(Fault::Bad)?;
                let wanted = half.to_ascii_uppercase();
                let is_case = match part {
                    Part::UpperHalf => half == wanted,
                    _ => half == half.to_ascii_lowercase(),
                };
                self.afternoon = match (is_case, wanted.as_str()) {
                    (true, "AM") => Some(false),
                    (true, "PM") => Some(true),
                    _ => return Err(Fault::Bad),
                };
                return Ok(rest);
            }
            Part::Zone => return zone(clock, text),
            Part::Offset(is_z, colons, pairs) => return offset(clock, text, is_z, colons, pairs),
            Part::Fraction(digits, _, trims) => {
                return fraction(clock, text, usize::from(digits), trims);
            }
            Part::LongYear => {
                let (digits, rest) = text.split_at_checked(4).ok_or(Fault::Bad)?;
                if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(Fault::Bad);
                }
                clock.year = digits.parse().map_err(|_| Fault::Bad)?;
                return Ok(rest);
            }
            Part::UnderDay => digits(text.strip_prefix(' ').unwrap_or(text), false)?,
            Part::UnderYearDay | Part::ZeroYearDay => {
                let (digits, rest) = text.split_at_checked(3).ok_or(Fault::Bad)?;
                let digits = digits.trim_start_matches(' ');
                self.year_day = Some(digits.parse().map_err(|_| Fault::Bad)?);
                return Ok(rest);
            }
            Part::NumMonth
            | Part::Day
            | Part::Hour12
            | Part::Minute
            | Part::Second
            | Part::Hour => digits(text, false)?,
            Part::ZeroMonth
            | Part::ZeroDay
            | Part::ZeroHour12
            | Part::ZeroMinute
            | Part::ZeroSecond
            | Part::Year => digits(text, true)?,
        };
        let within = |range: std::ops::RangeInclusive<u8>, what| match range.contains(&number) {
            true => Ok(number),
            false => Err(Fault::Range(what)),
        };
        match part {
            Part::NumMonth | Part::ZeroMonth => clock.month = within(1..=12, "month")?,
            Part::Day | Part::UnderDay | Part::ZeroDay => clock.day = number,
            Part::Hour => clock.hour = within(0..=23, "hour")?,
            Part::Hour12 | Part::ZeroHour12 => clock.hour = within(0..=12, "hour")?,
            Part::Minute | Part::ZeroMinute => clock.minute = within(0..=59, "minute")?,
            Part::Second | Part::ZeroSecond => {
                clock.second = within(0..=59, "second")?;
                return Ok(unasked_fraction(clock, rest, after));
            }
            Part::Year => {
                clock.year = i64::from(number) + if number >= 69 { 1900 } else { 2000 };
            }
            _ => {}
        }
        Ok(rest)
    }

    fn finish(mut self) -> Result<Clock, &'static str> {
        let clock = &mut self.clock;
        match self.afternoon {
            Some(true) if clock.hour < 12 => clock.hour += 12,
            Some(false) if clock.hour == 12 => clock.hour = 0,
            _ => {}
        }
        let year = i16::try_from(clock.year).map_err(|_| "year")?;
        if let Some(day) = self.year_day {
            let day = i16::try_from(day).map_err(|_| "day-of-year")?;
            let date = jiff::civil::Date::new(year, 1, 1)
                .and_then(|first| first.with().day_of_year(day).build());
            let date = date.map_err(|_| "day-of-year")?;
            clock.month = date.month().unsigned_abs();
            clock.day = date.day().unsigned_abs();
        }
        let (month, day) = (clock.month.cast_signed(), clock.day.cast_signed());
        jiff::civil::Date::new(year, month, day).map_err(|_| "day")?;
        Ok(self.clock)
    }
}

/// The text after the prefix, in which a blank stands for any number of them; or from where they differ.
fn skip<'t>(mut text: &'t str, mut prefix: &str) -> Result<&'t str, &'t str> {
    while let Some(first) = prefix.chars().next() {
        if first == ' ' {
            if !text.is_empty() && !text.starts_with(' ') {
                return Err(text);
            }
            prefix = prefix.trim_start_matches(' ');
            text = text.trim_start_matches(' ');
            continue;
        }
        text = text.strip_prefix(first).ok_or(text)?;
        prefix = prefix.strip_prefix(first).unwrap_or_default();
    }
    Ok(text)
}

/// One or two digits; `two`: exactly two.
fn digits(text: &str, two: bool) -> Result<(u8, &str), Fault> {
    let count = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
    if count == 0 || (two && count < 2) {
        return Err(Fault::Bad);
    }
    let (number, rest) = text.split_at(count);
    Ok((number.parse().map_err(|_| Fault::Bad)?, rest))
}

fn name<'t>(names: &[&str], text: &'t str, long: bool) -> Result<(u8, &'t str), Fault> {
    for (index, name) in names.iter().enumerate() {
        let wanted = if long {
            name
        } else {
            name.get(..3).unwrap_or(name)
        };
        let found = text.get(..wanted.len());
        if found.is_some_and(|found| found.eq_ignore_ascii_case(wanted)) {
            let index = u8::try_from(index).map_err(|_| Fault::Bad)?;
            return Ok((index, text.get(wanted.len()..).unwrap_or_default()));
        }
    }
    Err(Fault::Bad)
}

/// Three to five capitals. UTC is known, all others have no offset.
fn zone<'t>(clock: &mut Clock, text: &'t str) -> Result<&'t str, Fault> {
    let length = text
        .bytes()
        .take(6)
        .take_while(u8::is_ascii_uppercase)
        .count();
    let is_known = match length {
        3 => true,
        4 => text.as_bytes().get(3) == Some(&b'T') || text.starts_with("WITA"),
        5 => text.as_bytes().get(4) == Some(&b'T'),
        _ => false,
    };
    if !is_known {
        return Err(Fault::Bad);
    }
    let (name, rest) = text.split_at(length);
    name.clone_into(&mut clock.zone);
    Ok(rest)
}

fn offset<'t>(
    clock: &mut Clock,
    text: &'t str,
    is_z: bool,
    colons: bool,
    pairs: u8,
) -> Result<&'t str, Fault> {
    if let Some(rest) = text.strip_prefix('Z').filter(|_| is_z) {
        "UTC".clone_into(&mut clock.zone);
        return Ok(rest);
    }
    let sign = match text.bytes().next() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Err(Fault::Bad),
    };
    let mut rest = text.get(1..).unwrap_or_default();
    let mut parts = [0_i32; 3];
    for (index, part) in parts.iter_mut().take(usize::from(pairs)).enumerate() {
        if index > 0 && colons {
            rest = rest.strip_prefix(':').ok_or(Fault::Bad)?;
        }
        let (number, after) = digits(rest, true)?;
        (*part, rest) = (i32::from(number), after);
    }
    let [hours, minutes, seconds] = parts;
    if hours > 24 {
        return Err(Fault::Range("time zone offset hour"));
    }
    if minutes > 60 {
        return Err(Fault::Range("time zone offset minute"));
    }
    clock.offset = sign * (hours * 3_600 + minutes * 60 + seconds);
    Ok(rest)
}

fn fraction<'t>(
    clock: &mut Clock,
    text: &'t str,
    length: usize,
    trims: bool,
) -> Result<&'t str, Fault> {
    if trims {
        return Ok(read_fraction(clock, text));
    }
    let digits = text.strip_prefix(['.', ',']).ok_or(Fault::Bad)?;
    let found = digits.get(..length).ok_or(Fault::Bad)?;
    if !found.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Fault::Bad);
    }
    clock.nanosecond = nanoseconds(found);
    Ok(digits.get(length..).unwrap_or_default())
}

/// Go takes a fraction after the seconds, also where the layout has none.
fn unasked_fraction<'t>(clock: &mut Clock, text: &'t str, layout: &str) -> &'t str {
    match next(layout) {
        ("", Some((Part::Fraction(..), _)), _) => text,
        _ => read_fraction(clock, text),
    }
}

fn read_fraction<'t>(clock: &mut Clock, text: &'t str) -> &'t str {
    let Some(digits) = text.strip_prefix(['.', ',']) else {
        return text;
    };
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    if count == 0 {
        return text;
    }
    let (found, rest) = digits.split_at(count);
    clock.nanosecond = nanoseconds(found);
    rest
}

fn nanoseconds(digits: &str) -> u32 {
    let nine: String = digits.chars().chain("000000000".chars()).take(9).collect();
    nine.parse().unwrap_or_default()
}

/// The text in quotes, as Go's `time` quotes: bytes beyond ASCII and controls as `\xNN`.
fn quoted(text: &str) -> String {
    let mut out = "\"".to_owned();
    for byte in text.bytes() {
        // Writing to a text cannot fail.
        let _ = match byte {
            b'"' | b'\\' => write!(out, "\\{}", char::from(byte)),
            b' '..=b'~' => write!(out, "{}", char::from(byte)),
            0x7f => write!(out, "\u{7f}"),
            _ => write!(out, "\\x{byte:02x}"),
        };
    }
    out.push('"');
    out
}
