//! Texts: truncate, pad, indent, replace, format.

use minijinja::value::Tuple;
use minijinja::{Error, Value};

use crate::engine::jinja::signature::{Argument, Call};
use crate::engine::jinja::values::{pretty, python};
use crate::engine::jinja::{meter, operators};

/// `title` begins a word after these.
const BEGINNINGS: &str = "-({[<";

/// The text that the filter is applied to.
fn subject(call: &mut Call<'_, '_, '_>) -> Result<String, Error> {
    python::string(&call.subject())
}

pub fn string(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    subject(&mut call).map(Value::from)
}

pub fn upper(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    Ok(Value::from(subject(&mut call)?.to_uppercase()))
}

pub fn lower(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    Ok(Value::from(subject(&mut call)?.to_lowercase()))
}

pub fn capitalize(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    Ok(Value::from(python::capitalized(&subject(&mut call)?)))
}

/// Capitals at the start of words: after white space, hyphens and opening brackets.
pub fn title(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let text = subject(&mut call)?;
    let is_beginning = |c: char| python::is_space(c) || BEGINNINGS.contains(c);
    let mut titled = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let wanted = is_beginning(first);
        let end = rest
            .find(|c| is_beginning(c) != wanted)
            .unwrap_or(rest.len());
        let word = &rest[..end];
        titled.extend(first.to_uppercase());
        titled.push_str(&word[first.len_utf8()..].to_lowercase());
        rest = &rest[end..];
    }
    Ok(Value::from(titled))
}

pub fn trim(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, characters] = call.arguments();
    let text = python::string(&value.value())?;
    let stripped = python::stripped(&text, characters.some(), python::Sides::Both)?;
    Ok(Value::from(stripped))
}

pub fn replace(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [text, old, new, count] = call.arguments();
    let [text, old, new] = [text, old, new].map(|argument| python::string(&argument.value()));
    let count = Argument(count.some()).integer()?;
    replaced(&text?, &old?, &new?, count.unwrap_or(-1)).map(Value::from)
}

/// At most this many times. All occurrences if the count is negative.
pub fn replaced(text: &str, old: &str, new: &str, count: i64) -> Result<String, Error> {
    let found = text.matches(old).count();
    let times = usize::try_from(count).map_or(found, |count| count.min(found));
    meter::check(text.len().saturating_add(times.saturating_mul(new.len())))?;
    Ok(text.replacen(old, new, times))
}

pub fn centered(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [text, width] = call.arguments();
    let text = python::string(&text.value())?;
    let width = python::count(&width.or(80))?;
    center(&text, width, " ").map(Value::from)
}

pub fn center(text: &str, width: usize, fill: &str) -> Result<String, Error> {
    let length = text.chars().count();
    let missing = width.saturating_sub(length);
    meter::check(
        text.len()
            .saturating_add(missing.saturating_mul(fill.len())),
    )?;
    // For an odd width, Python puts the extra blank on the left.
    let left = missing / 2 + (missing & width & 1);
    Ok(format!(
        "{}{text}{}",
        fill.repeat(left),
        fill.repeat(missing - left)
    ))
}

pub fn indent(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [text, width, first, blank] = call.arguments();
    let (first, blank) = (first.flag(false), blank.flag(false));
    let text = text.value();
    let text = python::text(&text)?;
    let width = width.or(4);
    let prefix = match width.as_str() {
        Some(prefix) => prefix.to_owned(),
        None => {
            let width = python::count(&width)?;
            meter::check(width)?;
            " ".repeat(width)
        }
    };
    // The newline at the end keeps an empty last line.
    let text = format!("{text}\n");
    let lines = python::lines(&text, false);
    let added = lines.len().saturating_mul(prefix.len());
    meter::check(text.len().saturating_add(added))?;
    let indented = lines.iter().enumerate().map(|(index, line)| {
        let is_indented = if index == 0 {
            first
        } else {
            blank || !line.is_empty()
        };
        format!("{}{line}", if is_indented { prefix.as_str() } else { "" })
    });
    Ok(Value::from(indented.collect::<Vec<_>>().join("\n")))
}

/// `'%s, %s'|format(a, b)`, or by name.
pub fn format(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let text = subject(&mut call)?;
    match (call.rest.is_empty(), call.named.is_empty()) {
        (false, false) => Err(python::invalid(
            "can't handle positional and keyword arguments at the same time",
        )),
        (_, true) => operators::percent(&text, &Value::from(Tuple::new(call.rest))),
        (true, false) => operators::percent(&text, &Value::from_pairs(call.named)),
    }
}

/// At most this many characters, cut between words unless `killwords` is set.
pub fn truncate(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, length, kill_words, end, leeway] = call.arguments();
    let value = value.value();
    let length = length.integer()?.unwrap_or(255);
    let end = end.text()?.unwrap_or_else(|| "...".to_owned());
    let leeway = Argument(leeway.some()).integer()?.unwrap_or(5);
    let ending = i64::try_from(end.chars().count()).unwrap_or(i64::MAX);
    if length < ending || leeway < 0 {
        return Err(python::invalid(format!(
            "expected length >= {ending} and leeway >= 0, got {length} and {leeway}"
        )));
    }
    let Some(text) = value.as_str() else {
        return unchanged(value, length.saturating_add(leeway));
    };
    if i64::try_from(text.chars().count()).is_ok_and(|count| count <= length.saturating_add(leeway))
    {
        return Ok(value);
    }
    let kept = usize::try_from(length - ending).unwrap_or(0);
    let kept: String = text.chars().take(kept).collect();
    let kept = match kill_words.flag(false) {
        true => kept.as_str(),
        false => kept
            .rsplit_once(' ')
            .map_or(kept.as_str(), |(kept, _)| kept),
    };
    Ok(Value::from(format!("{kept}{end}")))
}

/// A short value that is not a text stays unchanged.
fn unchanged(value: Value, most: i64) -> Result<Value, Error> {
    let length = match value.is_undefined() {
        true => Some(0),
        false => value.len().filter(|_| python::is_iterable(&value)),
    };
    match length.and_then(|length| i64::try_from(length).ok()) {
        Some(length) if length <= most => Ok(value),
        _ => Err(python::invalid("truncate takes a text")),
    }
}

pub fn wordcount(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let text = subject(&mut call)?;
    let words = text.split(|c| !is_word(c));
    Ok(Value::from(words.filter(|word| !word.is_empty()).count()))
}

pub fn pprint(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    pretty::pretty(&call.subject()).map(Value::from)
}
