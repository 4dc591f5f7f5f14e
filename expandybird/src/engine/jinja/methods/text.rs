//! Methods of texts.

use minijinja::value::Tuple;
use minijinja::{Error, Value};

use crate::engine::jinja::operators::slice;
use crate::engine::jinja::signature::{Argument, Call, Row};
use crate::engine::jinja::values::list::List;
use crate::engine::jinja::values::python::{self, Sides};
use crate::engine::jinja::values::repr;
use crate::engine::jinja::{filters, formatting, meter};

const PART: &str = "self, sub, start=None, end=None, /";
const PADDED: &str = "self, width, fillchar=_, /";
const STRIPPED: &str = "self, chars=None, /";

/// Every method except `encode`, `maketrans` and `translate`, which need bytes and tables of characters.
pub const ROWS: &[Row] = &[
    ("capitalize", "self, /", |call| {
        changed(call, python::capitalized)
    }),
    ("casefold", "self, /", |call| {
        changed(call, |text| text.to_lowercase().replace('ß', "ss"))
    }),
    ("center", PADDED, |call| padded(call, filters::center)),
    ("count", PART, count),
    (
        "endswith",
        "self, suffix, start=None, end=None, /",
        |call| ends(call, |text, part| text.ends_with(part)),
    ),
    ("expandtabs", "self, /, tabsize=8", expandtabs),
    ("find", PART, |call| {
        place(call, |text, part| text.find(part), false)
    }),
    ("format", "self, /, *args, **kwargs", format),
    ("format_map", "self, mapping, /", format_map),
    ("index", PART, |call| {
        place(call, |text, part| text.find(part), true)
    }),
    ("isalnum", "self, /", |call| {
        all(call, char::is_alphanumeric)
    }),
    ("isalpha", "self, /", |call| all(call, char::is_alphabetic)),
    ("isascii", "self, /", |call| is(call, str::is_ascii)),
    ("isdecimal", "self, /", |call| {
        all(call, |c| c.is_ascii_digit())
    }),
    ("isdigit", "self, /", |call| all(call, is_digit)),
    ("isidentifier", "self, /", |call| is(call, is_identifier)),
    ("islower", "self, /", |call| {
        is(call, |text| {
            text.chars().any(char::is_lowercase) && !text.chars().any(char::is_uppercase)
        })
    }),
    ("isnumeric", "self, /", |call| all(call, char::is_numeric)),
    ("isprintable", "self, /", |call| {
        is(call, |text| text.chars().all(repr::is_printable))
    }),
    ("isspace", "self, /", |call| all(call, python::is_space)),
    ("istitle", "self, /", |call| is(call, is_title)),
    ("isupper", "self, /", |call| {
        is(call, |text| {
            text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase)
        })
    }),
    ("join", "self, iterable, /", join),
    ("ljust", PADDED, |call| {
        padded(call, |text, width, fill| {
            Ok(format!("{text}{}", missing(text, width, fill)?))
        })
    }),
    ("lower", "self, /", |call| changed(call, str::to_lowercase)),
    ("lstrip", STRIPPED, |call| stripped(call, Sides::Start)),
    ("partition", "self, sep, /", |call| partition(call, true)),
    ("removeprefix", "self, prefix, /", |call| {
        without(call, |text, prefix| text.strip_prefix(prefix))
    }),
    ("removesuffix", "self, suffix, /", |call| {
        without(call, |text, suffix| text.strip_suffix(suffix))
    }),
    ("replace", "self, old, new, count=-1, /", replace),
    ("rfind", PART, |call| {
        place(call, |text, part| text.rfind(part), false)
    }),
    ("rindex", PART, |call| {
        place(call, |text, part| text.rfind(part), true)
    }),
    ("rjust", PADDED, |call| {
        padded(call, |text, width, fill| {
            Ok(format!("{}{text}", missing(text, width, fill)?))
        })
    }),
    ("rpartition", "self, sep, /", |call| partition(call, false)),
    ("rsplit", "self, /, sep=None, maxsplit=-1", |call| {
        split(call, true)
    }),
    ("rstrip", STRIPPED, |call| stripped(call, Sides::End)),
    ("split", "self, /, sep=None, maxsplit=-1", |call| {
        split(call, false)
    }),
    ("splitlines", "self, /, keepends=False", splitlines),
    (
        "startswith",
        "self, prefix, start=None, end=None, /",
        |call| ends(call, |text, part| text.starts_with(part)),
    ),
    ("strip", STRIPPED, |call| stripped(call, Sides::Both)),
    ("swapcase", "self, /", |call| changed(call, swapped)),
    ("title", "self, /", |call| changed(call, titled)),
    ("upper", "self, /", |call| changed(call, str::to_uppercase)),
    ("zfill", "self, width, /", zfill),
];

fn changed(mut call: Call<'_, '_, '_>, change: fn(&str) -> String) -> Result<Value, Error> {
    let text = call.subject();
    Ok(Value::from(change(python::text(&text)?)))
}

fn is(mut call: Call<'_, '_, '_>, holds: fn(&str) -> bool) -> Result<Value, Error> {
    let text = call.subject();
    Ok(Value::from(holds(python::text(&text)?)))
}

/// Whether there are characters, and all of them pass.
fn all(mut call: Call<'_, '_, '_>, is_such: fn(char) -> bool) -> Result<Value, Error> {
    let text = call.subject();
    let text = python::text(&text)?;
    Ok(Value::from(!text.is_empty() && text.chars().all(is_such)))
}

fn is_digit(character: char) -> bool {
    let is_raised = matches!(character, '²' | '³' | '¹' | '⁰'..='⁹' | '₀'..='₉' | '①'..='⑨');
    character.is_ascii_digit() || is_raised
}

fn is_identifier(text: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    text.chars().all(is_name) && text.starts_with(|c: char| is_name(c) && !c.is_numeric())
}

/// Whether each word begins with its only capital.
fn is_title(text: &str) -> bool {
    let mut in_word = false;
    let mut has_words = false;
    text.chars().all(|c| {
        let fits = match (c.is_uppercase(), c.is_lowercase()) {
            (true, _) => !in_word,
            (_, true) => in_word,
            _ => true,
        };
        in_word = c.is_uppercase() || c.is_lowercase();
        has_words |= in_word;
        fits
    }) && has_words
}

fn swapped(text: &str) -> String {
    let mut swapped = String::with_capacity(text.len());
    for character in text.chars() {
        match character.is_uppercase() {
            true => swapped.extend(character.to_lowercase()),
            false => swapped.extend(character.to_uppercase()),
        }
    }
    swapped
}

/// Capitals at the start of words. Words consist of cased characters.
fn titled(text: &str) -> String {
    let mut titled = String::with_capacity(text.len());
    let mut in_word = false;
    for character in text.chars() {
        match in_word {
            true => titled.extend(character.to_lowercase()),
            false => titled.push_str(&python::titled(character)),
        }
        in_word = character.is_lowercase() || character.is_uppercase();
    }
    titled
}

fn padded(
    mut call: Call<'_, '_, '_>,
    pad: fn(&str, usize, &str) -> Result<String, Error>,
) -> Result<Value, Error> {
    let [text, width, fill] = call.arguments();
    let (text, width) = (text.value(), python::count(&width.value())?);
    let fill = fill.text()?.unwrap_or_else(|| " ".to_owned());
    if fill.chars().count() != 1 {
        return Err(python::invalid(
            "The fill character must be exactly one character long",
        ));
    }
    pad(python::text(&text)?, width, &fill).map(Value::from)
}

/// The padding that a text needs for a width.
fn missing(text: &str, width: usize, fill: &str) -> Result<String, Error> {
    let missing = width.saturating_sub(text.chars().count());
    meter::check(missing.saturating_mul(fill.len()))?;
    Ok(fill.repeat(missing))
}

fn zfill(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [text, width] = call.arguments::<2>().map(Argument::value);
    let text = python::text(&text)?;
    let zeros = missing(text, python::count(&width)?, "0")?;
    let sign = text.len() - text.strip_prefix(['+', '-']).map_or(text.len(), str::len);
    Ok(Value::from(format!(
        "{}{zeros}{}",
        &text[..sign],
        &text[sign..]
    )))
}

fn stripped(mut call: Call<'_, '_, '_>, sides: Sides) -> Result<Value, Error> {
    let [text, characters] = call.arguments();
    let text = text.value();
    python::stripped(python::text(&text)?, characters.some(), sides).map(Value::from)
}

fn without(
    mut call: Call<'_, '_, '_>,
    strip: for<'t> fn(&'t str, &str) -> Option<&'t str>,
) -> Result<Value, Error> {
    let [text, part] = call.arguments::<2>().map(Argument::value);
    let (text, part) = (python::text(&text)?, python::text(&part)?);
    Ok(Value::from(strip(text, part).unwrap_or(text)))
}

fn replace(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [text, old, new, count] = call.arguments();
    let [text, old, new] = [text, old, new].map(Argument::value);
    let count = count.integer()?.unwrap_or(-1);
    filters::replaced(
        python::text(&text)?,
        python::text(&old)?,
        python::text(&new)?,
        count,
    )
    .map(Value::from)
}

fn join(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [separator, items] = call.arguments::<2>().map(Argument::value);
    let separator = python::text(&separator)?;
    let items = python::items(&items)?;
    let texts: Vec<&str> = items.iter().map(python::text).collect::<Result<_, _>>()?;
    let bytes = texts.iter().map(|text| text.len() + separator.len()).sum();
    meter::check(bytes)?;
    Ok(Value::from(texts.join(separator)))
}

fn format(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let text = call.subject();
    formatting::format(python::text(&text)?, &call.rest, &call.named).map(Value::from)
}

fn format_map(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [text, map] = call.arguments::<2>().map(Argument::value);
    let pairs = match python::is_map(&map) {
        true => python::pairs(&map)?,
        // It is evaluated only if the text has a field.
        false => Vec::new(),
    };
    let named = pairs.into_iter();
    let named: Vec<(String, Value)> = named
        .filter_map(|(key, value)| Some((key.as_str()?.to_owned(), value)))
        .collect();
    formatting::format(python::text(&text)?, &[], &named).map(Value::from)
}

fn expandtabs(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [text, size] = call.arguments();
    let text = text.value();
    let text = python::text(&text)?;
    let size = size
        .integer()?
        .map_or(8, |size| usize::try_from(size).unwrap_or(0));
    meter::check(text.matches('\t').count().saturating_mul(size))?;
    let mut expanded = String::new();
    let mut column = 0;
    for character in text.chars() {
        match character {
            '\t' => {
                let blanks = if size == 0 { 0 } else { size - column % size };
                expanded.extend(std::iter::repeat_n(' ', blanks));
                column += blanks;
            }
            '\n' | '\r' => {
                expanded.push(character);
                column = 0;
            }
            _ => {
                expanded.push(character);
                column += 1;
            }
        }
    }
    Ok(Value::from(expanded))
}

/// A part of a text, and the number of characters before it. `None` if the start is after the end.
fn part(text: &str, start: Argument, end: Argument) -> Result<Option<(usize, &str)>, Error> {
    let bound = |bound: Argument| Argument(bound.some()).integer();
    let length = text.chars().count();
    let (wanted, end) = (bound(start)?, bound(end)?);
    let (start, end) = slice::adjusted(length, wanted, end, 1);
    let (start, end) = (
        usize::try_from(start).unwrap_or(0),
        usize::try_from(end).unwrap_or(0),
    );
    let is_behind =
        wanted.is_some_and(|wanted| usize::try_from(wanted).is_ok_and(|wanted| wanted > length));
    if is_behind || end < start {
        return Ok(None);
    }
    let byte = |index: usize| {
        text.char_indices()
            .nth(index)
            .map_or(text.len(), |(at, _)| at)
    };
    Ok(Some((start, &text[byte(start)..byte(end)])))
}

fn count(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [text, wanted, start, end] = call.arguments();
    let (text, wanted) = (text.value(), wanted.value());
    let wanted = python::text(&wanted)?;
    let part = part(python::text(&text)?, start, end)?;
    Ok(Value::from(
        part.map_or(0, |(_, part)| part.matches(wanted).count()),
    ))
}

/// The index of a text in another one, in characters. If it is not found, -1 or an error.
fn place(
    mut call: Call<'_, '_, '_>,
    find: fn(&str, &str) -> Option<usize>,
    must_be_there: bool,
) -> Result<Value, Error> {
    let [text, wanted, start, end] = call.arguments();
    let (text, wanted) = (text.value(), wanted.value());
    let wanted = python::text(&wanted)?;
    let found = part(python::text(&text)?, start, end)?.and_then(|(before, part)| {
        let at = find(part, wanted)?;
        Some(before + part[..at].chars().count())
    });
    match found {
        Some(at) => Ok(Value::from(at)),
        None if must_be_there => Err(python::invalid("substring not found")),
        None => Ok(Value::from(-1)),
    }
}

/// Whether a part starts or ends with a text, or with one of several.
fn ends(mut call: Call<'_, '_, '_>, is_at_end: fn(&str, &str) -> bool) -> Result<Value, Error> {
    let [text, wanted, start, end] = call.arguments();
    let (text, wanted) = (text.value(), wanted.value());
    let candidates = match python::is_tuple(&wanted) {
        true => python::items(&wanted)?,
        false => vec![wanted],
    };
    let candidates: Vec<&str> = candidates
        .iter()
        .map(python::text)
        .collect::<Result<_, _>>()?;
    let part = part(python::text(&text)?, start, end)?;
    let is_at_end =
        part.is_some_and(|(_, part)| candidates.iter().any(|wanted| is_at_end(part, wanted)));
    Ok(Value::from(is_at_end))
}

fn partition(mut call: Call<'_, '_, '_>, is_first: bool) -> Result<Value, Error> {
    let [text, separator] = call.arguments::<2>().map(Argument::value);
    let (text, separator) = (python::text(&text)?, python::text(&separator)?);
    if separator.is_empty() {
        return Err(python::invalid("empty separator"));
    }
    let split = match is_first {
        true => text.split_once(separator),
        false => text.rsplit_once(separator),
    };
    let parts = match split {
        Some((before, after)) => [before, separator, after],
        None if is_first => [text, "", ""],
        None => ["", "", text],
    };
    Ok(Value::from(Tuple::from(parts.map(Value::from))))
}

fn split(mut call: Call<'_, '_, '_>, from_end: bool) -> Result<Value, Error> {
    let [text, separator, count] = call.arguments();
    let (text, separator) = (text.value(), separator.some());
    let text = python::text(&text)?;
    let times = usize::try_from(count.integer()?.unwrap_or(-1)).unwrap_or(usize::MAX - 1);
    let mut parts: Vec<&str> = match (separator.as_ref().map(python::text).transpose()?, from_end) {
        (Some(""), _) => return Err(python::invalid("empty separator")),
        (Some(separator), true) => text.rsplitn(times.saturating_add(1), separator).collect(),
        (Some(separator), false) => text.splitn(times.saturating_add(1), separator).collect(),
        (None, true) => words_from_end(text, times),
        (None, false) => words(text, times),
    };
    if from_end {
        parts.reverse();
    }
    List::make(parts.into_iter().map(Value::from))
}

fn words(text: &str, times: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim_start_matches(python::is_space);
    while !rest.is_empty() && parts.len() < times {
        let end = rest.find(python::is_space).unwrap_or(rest.len());
        parts.push(&rest[..end]);
        rest = rest[end..].trim_start_matches(python::is_space);
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

/// The last word first.
fn words_from_end(text: &str, times: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim_end_matches(python::is_space);
    while !rest.is_empty() && parts.len() < times {
        let start = rest.rfind(python::is_space).map_or(0, |at| {
            at + rest[at..].chars().next().map_or(1, char::len_utf8)
        });
        parts.push(&rest[start..]);
        rest = rest[..start].trim_end_matches(python::is_space);
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

fn splitlines(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [text, keep_ends] = call.arguments();
    let text = text.value();
    let lines = python::lines(python::text(&text)?, keep_ends.switch()?);
    List::make(lines.into_iter().map(Value::from))
}
