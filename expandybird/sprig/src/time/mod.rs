//! Dates and durations. The local zone is UTC, and `now` is the time that the instance keeps.

mod duration;
mod layout;
mod parse;

use std::num::IntErrorKind;
use std::rc::Rc;

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, GoString, IntKind, Object, Type, Value};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

use crate::convert::to_float64;
use crate::made;
use layout::Clock;

pub use duration::parse as parse_duration;

const TIME: Type = Type::Named("time.Time");
/// Go's `Time.String`.
const PRINTED: &str = "2006-01-02 15:04:05.999999999 -0700 MST";
const JSON: &str = "2006-01-02T15:04:05.999999999Z07:00";
const HTML: &str = "2006-01-02";
const SECOND: f64 = 1e9;

/// Dates and durations.
pub const FUNCTIONS: &[Function] = &[
    Function::new("now", &[], |call| Ok(utc(made::now(call)?))),
    Function::new("date", &[Type::String, Type::Any], |call| {
        written(call, &call.string(0)?.to_str(), 1, "UTC")
    }),
    Function::new("dateInZone", IN_ZONE, in_zone),
    Function::new("date_in_zone", IN_ZONE, in_zone),
    Function::new("htmlDate", &[Type::Any], |call| {
        written(call, HTML, 0, "UTC")
    }),
    Function::new("htmlDateInZone", &[Type::Any, Type::String], |call| {
        let zone = call.string(1)?.to_str();
        written(call, HTML, 0, &zone)
    }),
    Function::new("dateModify", MODIFY, modify),
    Function::new("date_modify", MODIFY, modify),
    Function::new("mustDateModify", MODIFY, must_modify),
    Function::new("must_date_modify", MODIFY, must_modify),
    Function::new("toDate", &[Type::String, Type::String], |call| {
        let (layout, text) = (call.string(0)?.to_str(), call.string(1)?.to_str());
        Ok(value(
            read(&layout, &text).unwrap_or_else(|_| zero().into()),
        ))
    }),
    Function::new("mustToDate", &[Type::String, Type::String], |call| {
        let (layout, text) = (call.string(0)?.to_str(), call.string(1)?.to_str());
        Ok(value(read(&layout, &text).map_err(Failure::new)?))
    }),
    Function::new("unixEpoch", &[TIME], |call| {
        let time: &Time = call.object(0)?;
        Ok(time.at.timestamp().as_second().to_string().into())
    }),
    Function::new("ago", &[Type::Any], |call| {
        let since = since(call, 0)?;
        Ok(duration::print(duration::to_seconds(since)).into())
    }),
    Function::new("duration", &[Type::Any], |call| {
        let seconds = match call.argument(0)? {
            Value::String(text) => decimal(&text.to_str()),
            Value::Int(IntKind::Int64, seconds) => *seconds,
            _ => 0,
        };
        Ok(duration::print(seconds.wrapping_mul(1_000_000_000)).into())
    }),
    Function::new("durationRound", &[Type::Any], |call| {
        let duration = match call.argument(0)? {
            Value::String(text) => duration::parse(&text.to_str()).unwrap_or_default(),
            Value::Int(IntKind::Int64, nanoseconds) => *nanoseconds,
            Value::Object(_) => since(call, 0)?,
            _ => 0,
        };
        Ok(duration::rounded(duration).into())
    }),
];

const IN_ZONE: &[Type] = &[Type::String, Type::Any, Type::String];
const MODIFY: &[Type] = &[Type::String, TIME];

/// Helm's functions of durations. A text is a duration of Go, or a number of seconds.
pub const OF_HELM: &[Function] = &[
    Function::new("mustToDuration", &[Type::Any], |call| {
        Ok(value_of(must_be_duration(call.argument(0)?)?))
    }),
    Function::new("durationSeconds", &[Type::Any], |call| units(call, SECOND)),
    Function::new("durationMinutes", &[Type::Any], |call| {
        units(call, SECOND * 60.0)
    }),
    Function::new("durationHours", &[Type::Any], |call| {
        units(call, SECOND * 3_600.0)
    }),
    Function::new("durationDays", &[Type::Any], |call| {
        units(call, SECOND * 86_400.0)
    }),
    Function::new("durationWeeks", &[Type::Any], |call| {
        units(call, SECOND * 604_800.0)
    }),
    Function::new("durationMilliseconds", &[Type::Any], |call| {
        Ok(Value::int64(as_duration(call.argument(0)?) / 1_000_000))
    }),
    Function::new("durationMicroseconds", &[Type::Any], |call| {
        Ok(Value::int64(as_duration(call.argument(0)?) / 1_000))
    }),
    Function::new("durationNanoseconds", &[Type::Any], |call| {
        Ok(Value::int64(as_duration(call.argument(0)?)))
    }),
    Function::new("durationRoundTo", &[Type::Any, Type::Any], |call| {
        let (duration, unit) = both(call)?;
        Ok(value_of(rounded_to(duration, unit)))
    }),
    Function::new("durationTruncateTo", &[Type::Any, Type::Any], |call| {
        let (duration, unit) = both(call)?;
        let truncated = if unit > 0 {
            duration - duration % unit
        } else {
            duration
        };
        Ok(value_of(truncated))
    }),
];

/// A `time.Time`. The abbreviation is that of a zone that only a text has named.
#[derive(Clone, Debug, PartialEq)]
pub struct Time {
    at: Zoned,
    abbreviation: Option<String>,
}

/// A `time.Duration` in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Duration(i64);

/// A `time.Month` or `time.Weekday`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Named {
    type_name: &'static str,
    number: i64,
    name: &'static str,
}

impl From<Zoned> for Time {
    fn from(at: Zoned) -> Self {
        Self {
            at,
            abbreviation: None,
        }
    }
}

impl Time {
    fn clock(&self) -> Clock {
        let clock = clock(&self.at);
        match &self.abbreviation {
            Some(zone) => Clock {
                zone: zone.clone(),
                ..clock
            },
            None => clock,
        }
    }

    /// Another moment in the same zone.
    fn moved_to(&self, at: Zoned) -> Value {
        value(Self {
            at,
            abbreviation: self.abbreviation.clone(),
        })
    }

    fn later(&self, nanoseconds: i64) -> Result<Value, Failure> {
        let later = self.at.checked_add(SignedDuration::from_nanos(nanoseconds));
        Ok(self.moved_to(later.map_err(|_| outside())?))
    }
}

/// The time of a TOML document; a text if it is only a time of a day. A time without an offset is UTC.
pub fn of_toml(text: &str) -> Value {
    let layouts = [
        "2006-01-02T15:04:05Z07:00",
        "2006-01-02T15:04:05",
        "2006-01-02",
    ];
    let mut found = layouts.iter().filter_map(|layout| read(layout, text).ok());
    found.next().map_or_else(|| text.into(), value)
}

fn outside() -> Failure {
    Failure::new("the time is before the year -9999 or after 9999")
}

/// What JSON has for a time, a duration, a month or a day of the week.
pub fn in_json(object: &dyn Object) -> Option<Value> {
    let object = object.as_any();
    if let Some(time) = object.downcast_ref::<Time>() {
        return Some(layout::format(&time.clock(), JSON).into());
    }
    if let Some(Duration(nanoseconds)) = object.downcast_ref() {
        return Some(Value::int64(*nanoseconds));
    }
    let Named { number, .. } = object.downcast_ref()?;
    Some(Value::int(*number))
}

fn value(time: impl Into<Time>) -> Value {
    Value::Object(Rc::new(time.into()))
}

fn value_of(duration: i64) -> Value {
    Value::Object(Rc::new(Duration(duration)))
}

fn utc(time: Timestamp) -> Value {
    value(time.to_zoned(TimeZone::UTC))
}

/// Go's zero time.
fn zero() -> Zoned {
    let first = Date::constant(1, 1, 1).to_zoned(TimeZone::UTC);
    first.unwrap_or_else(|_| Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC))
}

/// The time of an argument: a number is of seconds since 1970, and anything else is now.
fn time(call: &mut Call<'_>, index: usize) -> Result<Zoned, Failure> {
    let seconds = match call.argument(index)? {
        Value::Object(object) => match object.as_any().downcast_ref::<Time>() {
            Some(time) => return Ok(time.at.clone()),
            None => None,
        },
        Value::Int(IntKind::Int | IntKind::Int64 | IntKind::Int32, seconds) => Some(*seconds),
        _ => None,
    };
    let timestamp = match seconds {
        Some(seconds) => Timestamp::from_second(seconds).map_err(|_| outside())?,
        None => made::now(call)?,
    };
    Ok(timestamp.to_zoned(TimeZone::UTC))
}

fn written(call: &mut Call<'_>, layout: &str, index: usize, zone: &str) -> Result<Value, Failure> {
    let time = time(call, index)?;
    let zone = match zone {
        "" | "UTC" | "Local" => TimeZone::UTC,
        name => TimeZone::get(name).unwrap_or(TimeZone::UTC),
    };
    let time = time.with_time_zone(zone);
    call.budget().spend_string(layout.len().saturating_mul(9))?;
    Ok(layout::format(&clock(&time), layout).into())
}

fn in_zone(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (layout, zone) = (call.string(0)?.to_str(), call.string(2)?.to_str());
    written(call, &layout, 1, &zone)
}

fn clock(time: &Zoned) -> Clock {
    let offset = time.offset();
    let info = time.time_zone().to_offset_info(time.timestamp());
    let abbreviation = info.abbreviation();
    // A zone without a name has its offset for one.
    let is_name = abbreviation.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_utc = offset.seconds() == 0 && !is_name;
    let zone = match (is_name, is_utc) {
        (true, _) => abbreviation,
        (false, true) => "UTC",
        (false, false) => "",
    };
    Clock {
        year: i64::from(time.year()),
        month: time.month().unsigned_abs(),
        day: time.day().unsigned_abs(),
        year_day: time.day_of_year().unsigned_abs(),
        week_day: time.weekday().to_sunday_zero_offset().unsigned_abs(),
        hour: time.hour().unsigned_abs(),
        minute: time.minute().unsigned_abs(),
        second: time.second().unsigned_abs(),
        nanosecond: time.subsec_nanosecond().unsigned_abs(),
        offset: offset.seconds(),
        zone: zone.to_owned(),
    }
}

fn read(layout: &str, text: &str) -> Result<Time, String> {
    let found = parse::parse(layout, text)?;
    let outside = || format!("parsing time {text:?}: year out of range");
    let date = Date::new(
        i16::try_from(found.year).map_err(|_| outside())?,
        found.month.cast_signed(),
        found.day.cast_signed(),
    );
    let hour = (
        found.hour.cast_signed(),
        found.minute.cast_signed(),
        found.second.cast_signed(),
    );
    let nanosecond = found.nanosecond.cast_signed();
    let date = date
        .map_err(|_| outside())?
        .at(hour.0, hour.1, hour.2, nanosecond);
    let zone = jiff::tz::Offset::from_seconds(found.offset).map(TimeZone::fixed);
    let zone = match found.offset {
        0 => TimeZone::UTC,
        _ => zone.map_err(|_| outside())?,
    };
    let abbreviation = Some(found.zone).filter(|zone| !zone.is_empty() && zone != "UTC");
    Ok(Time {
        at: date.to_zoned(zone).map_err(|_| outside())?,
        abbreviation,
    })
}

fn modify(call: &mut Call<'_>) -> Result<Value, Failure> {
    let time: &Time = call.object(1)?;
    match duration::parse(&call.string(0)?.to_str()) {
        Ok(duration) => time.later(duration),
        Err(_) => Ok(value(time.clone())),
    }
}

fn must_modify(call: &mut Call<'_>) -> Result<Value, Failure> {
    let time: &Time = call.object(1)?;
    let duration = duration::parse(&call.string(0)?.to_str()).map_err(Failure::new)?;
    time.later(duration)
}

/// Nanoseconds between a time and now.
fn since(call: &mut Call<'_>, index: usize) -> Result<i64, Failure> {
    let time = time(call, index)?.timestamp();
    let nanoseconds = made::now(call)?.duration_since(time).as_nanos();
    let bound = i128::from(i64::MAX);
    Ok(i64::try_from(nanoseconds.clamp(-bound, bound)).unwrap_or_default())
}

/// Go's `ParseInt` with base 10: 0 if it is not a number, and the nearest one if it is out of range.
fn decimal(text: &str) -> i64 {
    match text.parse::<i64>() {
        Ok(number) => number,
        Err(error) => match error.kind() {
            IntErrorKind::PosOverflow => i64::MAX,
            IntErrorKind::NegOverflow => i64::MIN,
            _ => 0,
        },
    }
}

fn must_be_duration(argument: &Value) -> Result<i64, Failure> {
    match argument {
        Value::String(text) => {
            let text = text.to_str();
            let text = text.trim();
            if text.is_empty() {
                return Err(Failure::new("could not convert empty string to duration"));
            }
            let number = text
                .parse::<f64>()
                .ok()
                .filter(|_| !text.ends_with(['s', 'm', 'h']));
            match number {
                Some(seconds) => Ok(from_seconds(seconds)),
                None => duration::parse(text).map_err(|_| {
                    Failure::new(format!("could not convert string {text:?} to duration"))
                }),
            }
        }
        Value::Object(object) => match object.as_any().downcast_ref::<Duration>() {
            Some(Duration(duration)) => Ok(*duration),
            None => Err(unsupported(argument)),
        },
        Value::Int(..) | Value::Uint(..) | Value::Float(_) => {
            Ok(from_seconds(to_float64(argument)))
        }
        _ => Err(unsupported(argument)),
    }
}

fn unsupported(argument: &Value) -> Failure {
    let found = argument.type_text();
    Failure::new(format!("could not convert {found} to duration"))
}

fn from_seconds(seconds: f64) -> i64 {
    crate::convert::truncated(seconds * SECOND)
}

fn as_duration(argument: &Value) -> i64 {
    must_be_duration(argument).unwrap_or_default()
}

fn units(call: &mut Call<'_>, unit: f64) -> Result<Value, Failure> {
    #[expect(clippy::cast_precision_loss, reason = "Go's conversion loses it, too")]
    let duration = as_duration(call.argument(0)?) as f64;
    Ok(Value::Float(duration / unit))
}

fn both(call: &mut Call<'_>) -> Result<(i64, i64), Failure> {
    Ok((
        as_duration(call.argument(0)?),
        as_duration(call.argument(1)?),
    ))
}

/// Go's `Duration.Round`: half away from zero.
fn rounded_to(duration: i64, unit: i64) -> i64 {
    if unit <= 0 {
        return duration;
    }
    let rest = duration % unit;
    let down = duration - rest;
    match rest.abs() < unit - rest.abs() {
        true => down,
        false => down.saturating_add(unit * rest.signum()),
    }
}

impl Object for Duration {
    fn type_name(&self) -> &str {
        "time.Duration"
    }

    fn methods(&self) -> &'static [Function] {
        OF_A_DURATION
    }

    fn text(&self) -> Option<GoString> {
        Some(duration::print(self.0).into())
    }

    fn is_equal(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

const OF_A_DURATION: &[Function] = &[
    Function::new("Hours", &[], |call| of_receiver(call, SECOND * 3_600.0)),
    Function::new("Minutes", &[], |call| of_receiver(call, SECOND * 60.0)),
    Function::new("Seconds", &[], |call| of_receiver(call, SECOND)),
    Function::new("String", &[], |call| {
        Ok(duration::print(as_duration(call.receiver())).into())
    }),
];

fn of_receiver(call: &mut Call<'_>, unit: f64) -> Result<Value, Failure> {
    #[expect(clippy::cast_precision_loss, reason = "Go's conversion loses it, too")]
    let duration = as_duration(call.receiver()) as f64;
    Ok(Value::Float(duration / unit))
}

impl Object for Named {
    fn type_name(&self) -> &str {
        self.type_name
    }

    fn text(&self) -> Option<GoString> {
        Some(self.name.into())
    }

    fn is_equal(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

impl Object for Time {
    fn type_name(&self) -> &str {
        "time.Time"
    }

    fn methods(&self) -> &'static [Function] {
        METHODS
    }

    fn text(&self) -> Option<GoString> {
        Some(layout::format(&self.clock(), PRINTED).into())
    }

    fn is_equal(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

fn receiver<'a>(call: &Call<'a>) -> Result<&'a Time, Failure> {
    let time = match call.receiver() {
        Value::Object(object) => object.as_any().downcast_ref::<Time>(),
        _ => None,
    };
    time.ok_or_else(|| Failure::new("the receiver is not a time"))
}

const METHODS: &[Function] = &[
    Function::new("Format", &[Type::String], |call| {
        let layout = call.string(0)?.to_str();
        call.budget().spend_string(layout.len().saturating_mul(9))?;
        Ok(layout::format(&receiver(call)?.clock(), &layout).into())
    }),
    Function::new("String", &[], |call| {
        Ok(layout::format(&receiver(call)?.clock(), PRINTED).into())
    }),
    Function::new("Unix", &[], |call| {
        Ok(Value::int64(receiver(call)?.at.timestamp().as_second()))
    }),
    Function::new("UnixMilli", &[], |call| {
        Ok(Value::int64(
            receiver(call)?.at.timestamp().as_millisecond(),
        ))
    }),
    Function::new("UnixMicro", &[], |call| {
        Ok(Value::int64(
            receiver(call)?.at.timestamp().as_microsecond(),
        ))
    }),
    Function::new("UnixNano", &[], |call| {
        let nanoseconds = receiver(call)?.at.timestamp().as_nanosecond();
        Ok(Value::int64(i64::try_from(nanoseconds).unwrap_or_default()))
    }),
    Function::new("Year", &[], |call| part(call, |clock| clock.year)),
    Function::new("Day", &[], |call| part(call, |clock| clock.day.into())),
    Function::new("YearDay", &[], |call| {
        part(call, |clock| clock.year_day.into())
    }),
    Function::new("Hour", &[], |call| part(call, |clock| clock.hour.into())),
    Function::new("Minute", &[], |call| {
        part(call, |clock| clock.minute.into())
    }),
    Function::new("Second", &[], |call| {
        part(call, |clock| clock.second.into())
    }),
    Function::new("Nanosecond", &[], |call| {
        part(call, |clock| clock.nanosecond.into())
    }),
    Function::new("Month", &[], |call| {
        let month = usize::from(receiver(call)?.clock().month).wrapping_sub(1);
        named("time.Month", &layout::MONTHS, month, 1)
    }),
    Function::new("Weekday", &[], |call| {
        let day = usize::from(receiver(call)?.clock().week_day);
        named("time.Weekday", &layout::DAYS, day, 0)
    }),
    Function::new("UTC", &[], |call| Ok(utc(receiver(call)?.at.timestamp()))),
    Function::new("Local", &[], |call| Ok(utc(receiver(call)?.at.timestamp()))),
    Function::new("IsZero", &[], |call| {
        Ok((receiver(call)?.at.timestamp() == zero().timestamp()).into())
    }),
    Function::new("AddDate", &[Type::INT, Type::INT, Type::INT], |call| {
        let receiver = receiver(call)?;
        let time = &receiver.at;
        // A day after the end of a month is one of the next month.
        let months = call.int(0)?.saturating_mul(12).saturating_add(call.int(1)?);
        let (datetime, day) = (time.datetime(), i64::from(time.day()));
        let first = datetime.with().day(1).build().map_err(|_| outside())?;
        let span = jiff::Span::new()
            .try_months(months)
            .map_err(|_| outside())?;
        let days = jiff::Span::new().try_days(call.int(2)?.saturating_add(day - 1));
        let moved = first.checked_add(span).map_err(|_| outside())?;
        let moved = moved
            .checked_add(days.map_err(|_| outside())?)
            .map_err(|_| outside())?;
        let moved = moved.to_zoned(time.time_zone().clone());
        Ok(receiver.moved_to(moved.map_err(|_| outside())?))
    }),
    Function::new("Add", &[Type::Any], |call| {
        let duration = match call.argument(0)? {
            Value::Int(_, nanoseconds) => *nanoseconds,
            other => as_duration(other),
        };
        receiver(call)?.later(duration)
    }),
    Function::new("Sub", &[TIME], |call| {
        let other: &Time = call.object(0)?;
        let span = receiver(call)?
            .at
            .timestamp()
            .duration_since(other.at.timestamp());
        Ok(value_of(i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)))
    }),
    Function::new("Before", &[TIME], |call| {
        let other: &Time = call.object(0)?;
        Ok((receiver(call)?.at.timestamp() < other.at.timestamp()).into())
    }),
    Function::new("After", &[TIME], |call| {
        let other: &Time = call.object(0)?;
        Ok((receiver(call)?.at.timestamp() > other.at.timestamp()).into())
    }),
    Function::new("Equal", &[TIME], |call| {
        let other: &Time = call.object(0)?;
        Ok((receiver(call)?.at.timestamp() == other.at.timestamp()).into())
    }),
];

fn part(call: &mut Call<'_>, of: fn(&Clock) -> i64) -> Result<Value, Failure> {
    Ok(Value::int(of(&receiver(call)?.clock())))
}

/// `first`: the number of the first name.
fn named(
    type_name: &'static str,
    names: &[&'static str],
    index: usize,
    first: i64,
) -> Result<Value, Failure> {
    let name = names.get(index).copied().unwrap_or_default();
    let number = i64::try_from(index)
        .unwrap_or_default()
        .saturating_add(first);
    Ok(Value::Object(Rc::new(Named {
        type_name,
        number,
        name,
    })))
}
