//! Parts of texts: cutting, splitting, abbreviating, wrapping.

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::text::{decode_rune, is_space};
use expandybird_gotemplate::value::{Call, Function, GoString, List, Map, Type, Value};

use super::{NUMBER_AND_TEXT, TEXT, TWO_TEXTS, part};

/// Cutting, splitting, abbreviating, wrapping.
pub const PARTS: &[Function] = &[
    Function::new("trunc", NUMBER_AND_TEXT, trunc),
    Function::new("substr", &[Type::INT, Type::INT, Type::String], substr),
    Function::new("split", TWO_TEXTS, |call| {
        let parts = split(call, call.string(1)?, None)?;
        Ok(numbered(parts))
    }),
    Function::new("splitn", &[Type::String, Type::INT, Type::String], |call| {
        let limit = call.int(1)?;
        let parts = match usize::try_from(limit) {
            Ok(0) => Vec::new(),
            limit => split(call, call.string(2)?, limit.ok())?,
        };
        Ok(numbered(parts))
    }),
    Function::new("splitList", TWO_TEXTS, |call| {
        let parts = split(call, call.string(1)?, None)?;
        Ok(List::strings(parts).into())
    }),
    Function::new("abbrev", NUMBER_AND_TEXT, |call| {
        let (width, text) = (call.int(0)?, call.string(1)?);
        Ok(abbreviated(text, 0, width))
    }),
    Function::new(
        "abbrevboth",
        &[Type::INT, Type::INT, Type::String],
        |call| {
            let (offset, width, text) = (call.int(0)?, call.int(1)?, call.string(2)?);
            if offset > 0 && width < 7 {
                return Ok(text.clone().into());
            }
            Ok(abbreviated(text, offset, width))
        },
    ),
    Function::new("initials", TEXT, |call| {
        let text = call.string(0)?;
        let starts = text.iter().scan(true, |after_gap, byte| {
            let gap = is_space(char::from(*byte));
            let start = std::mem::replace(after_gap, gap) && !gap;
            Some(start.then_some(char::from(*byte)))
        });
        Ok(starts.flatten().collect::<String>().into())
    }),
    Function::new("nospace", TEXT, |call| {
        let text = call.string(0)?;
        // Bytes count as characters: this is what Sprig does to text beyond ASCII.
        let kept = text
            .iter()
            .map(|byte| char::from(*byte))
            .filter(|rune| !is_space(*rune));
        if kept.clone().count() == text.len() {
            return Ok(text.clone().into());
        }
        Ok(kept.collect::<String>().into())
    }),
    Function::new("wrap", NUMBER_AND_TEXT, |call| {
        wrap(call, 1, b"\n", LongWords::Keep)
    }),
    Function::new(
        "wrapWith",
        &[Type::INT, Type::String, Type::String],
        |call| {
            let separator = match call.string(1)? {
                separator if separator.is_empty() => GoString::from("\n"),
                separator => separator.clone(),
            };
            wrap(call, 2, &separator, LongWords::Cut)
        },
    ),
];

fn trunc(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (count, text) = (call.int(0)?, call.string(1)?);
    let size = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    let kept = if count < 0 {
        text.len()
            .checked_sub(size)
            .and_then(|start| text.get(start..))
    } else {
        text.get(..size)
    };
    Ok(part(text, kept.unwrap_or(text)))
}

fn substr(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (start, end, text) = (call.int(0)?, call.int(1)?, call.string(2)?);
    let length = i64::try_from(text.len()).unwrap_or(i64::MAX);
    let from = start.max(0);
    let to = if start >= 0 && (end < 0 || end > length) {
        length
    } else {
        end
    };
    let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    match range.and_then(|(from, to)| text.get(from..to)) {
        Some(found) => Ok(part(text, found)),
        None => Err(out_of_bounds(start, end, length)),
    }
}

/// Go's text for `text[start:end]`, `text[:end]` or `text[start:]` beyond the text.
fn out_of_bounds(start: i64, end: i64, length: i64) -> Failure {
    let bounds = if start < 0 {
        format!(
            ":{end}{}",
            if end < 0 {
                String::new()
            } else {
                format!(" with length {length}")
            }
        )
    } else if end < 0 || end > length {
        format!("{start}:{length}")
    } else {
        format!("{start}:{end}")
    };
    let bounds = match bounds.split_once(" with ") {
        Some((range, rest)) => format!("[{range}] with {rest}"),
        None => format!("[{bounds}]"),
    };
    Failure::new(format!("runtime error: slice bounds out of range {bounds}"))
}

/// The parts between separators, at most `limit`. An empty separator stands between all characters.
fn split(
    call: &mut Call<'_>,
    text: &GoString,
    limit: Option<usize>,
) -> Result<Vec<GoString>, Failure> {
    let separator = call.string(0)?;
    let limit = limit.unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    let mut rest: &[u8] = text;
    while parts.len() + 1 < limit {
        let (end, next) = if separator.is_empty() {
            match decode_rune(rest).1 {
                length if length < rest.len() => (length, length),
                _ => break,
            }
        } else {
            match memchr::memmem::find(rest, separator) {
                Some(end) => (end, end + separator.len()),
                None => break,
            }
        };
        call.budget().spend_list(parts.len() + 1)?;
        parts.push(rest.get(..end).unwrap_or_default().into());
        rest = rest.get(next..).unwrap_or_default();
    }
    if !(rest.is_empty() && separator.is_empty()) {
        parts.push(rest.into());
    }
    Ok(parts)
}

/// A map of texts with the keys `_0`, `_1`, …
fn numbered(parts: Vec<GoString>) -> Value {
    let map = Map::new(Type::String);
    for (index, part) in parts.into_iter().enumerate() {
        map.insert(format!("_{index}"), part.into());
    }
    map.into()
}

const MARK: &[u8] = b"...";

/// At most `width` bytes of the text, with `...` for what is left out. `offset` stays visible where there is room.
fn abbreviated(text: &GoString, offset: i64, width: i64) -> Value {
    let width = usize::try_from(width).unwrap_or(0);
    if width < 4 || text.len() <= width {
        return text.clone().into();
    }
    let room = width - MARK.len();
    let offset = usize::try_from(offset).unwrap_or(0).min(text.len() - room);
    let slice = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let shortened = if offset <= 4 {
        [slice(0, room), MARK].concat()
    } else if offset + room < text.len() {
        [MARK, slice(offset, offset + room - MARK.len()), MARK].concat()
    } else {
        [MARK, slice(text.len() - room, text.len())].concat()
    };
    Value::string(shortened)
}

/// What becomes of a word that is longer than a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LongWords {
    Keep,
    Cut,
}

/// Lines of at most so many bytes, broken at spaces.
fn wrap(
    call: &mut Call<'_>,
    index: usize,
    separator: &[u8],
    long: LongWords,
) -> Result<Value, Failure> {
    let text = call.string(index)?;
    let width = usize::try_from(call.int(0)?).unwrap_or(0).max(1);
    let most = separator.len().saturating_add(1).saturating_mul(text.len());
    call.budget().spend_string(
        most.min(
            text.len()
                .saturating_add(text.len() / width * separator.len()),
        ),
    )?;
    let mut out = Vec::with_capacity(text.len());
    let mut rest: &[u8] = text;
    while rest.len() > width {
        if let Some(after) = rest.strip_prefix(b" ") {
            rest = after;
            continue;
        }
        let (line, next) = next_line(rest, width, long);
        out.extend_from_slice(rest.get(..line).unwrap_or_default());
        rest = rest.get(next..).unwrap_or_default();
        if line < next || long == LongWords::Cut {
            out.extend_from_slice(separator);
        }
    }
    out.extend_from_slice(rest);
    Ok(Value::string(out))
}

/// Where the first line ends and where the next one starts.
fn next_line(text: &[u8], width: usize, long: LongWords) -> (usize, usize) {
    let reach = text.get(..=width).unwrap_or(text);
    if let Some(space) = memchr::memrchr(b' ', reach) {
        return (space, space + 1);
    }
    if long == LongWords::Cut {
        return (width, width);
    }
    match memchr::memchr(b' ', text.get(width..).unwrap_or_default()) {
        Some(space) => (width + space, width + space + 1),
        None => (text.len(), text.len()),
    }
}
