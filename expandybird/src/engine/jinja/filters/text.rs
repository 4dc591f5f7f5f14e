//! Texts: cut, padded, indented, wrapped, replaced, formatted.

use minijinja::value::{Kwargs, Rest, Tuple};
use minijinja::{Error, ErrorKind, Value};

use super::given::given;
use super::string;
use crate::engine::jinja::{meter, operators};

pub fn replace(
    text: &Value,
    old: &Value,
    new: &Value,
    count: Option<i64>,
) -> Result<String, Error> {
    let (text, old, new) = (string(text)?, string(old)?, string(new)?);
    let found = text.matches(old.as_str()).count();
    let times = count
        .and_then(|count| usize::try_from(count).ok())
        .map_or(found, |count| count.min(found));
    meter::check(text.len() + times.saturating_mul(new.len()))?;
    Ok(text.replacen(&old, &new, times))
}

pub fn center(text: &Value, width: usize, fill: &str) -> Result<String, Error> {
    let text = string(text)?;
    let length = text.chars().count();
    let missing = width.saturating_sub(length);
    meter::check(text.len() + missing)?;
    // Python puts the odd one left if the width is odd.
    let left = missing / 2 + (missing & width & 1);
    Ok(format!(
        "{}{text}{}",
        fill.repeat(left),
        fill.repeat(missing - left)
    ))
}

pub fn indent(value: &Value, args: Rest<Value>, named: Kwargs) -> Result<String, Error> {
    let [width, first, blank] = given(["width", "first", "blank"], args, &named)?;
    let (first, blank) = (first.flag(false), blank.flag(false));
    let text = string(value)?;
    let width = width.or(4);
    let prefix = match width.as_str() {
        Some(prefix) => prefix.to_owned(),
        None => {
            let width = width.as_usize().ok_or_else(|| {
                Error::new(
                    ErrorKind::InvalidOperation,
                    "the width of indent is a number or text",
                )
            })?;
            meter::check(width)?;
            " ".repeat(width)
        }
    };
    let lines: Vec<_> = text.split('\n').collect();
    meter::check(
        text.len()
            .saturating_add(lines.len().saturating_mul(prefix.len())),
    )?;
    let indented = lines.iter().enumerate().map(|(index, line)| {
        let skip = if index == 0 {
            !first
        } else {
            line.is_empty() && !blank
        };
        if skip {
            (*line).to_owned()
        } else {
            format!("{prefix}{line}")
        }
    });
    Ok(indented.collect::<Vec<_>>().join("\n"))
}

/// `'%s, %s'|format(a, b)`, or by name.
pub fn format(text: &Value, arguments: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let text = string(text)?;
    let names: Vec<String> = named.args().map(str::to_owned).collect();
    if names.is_empty() {
        return operators::percent(&text, &Value::from(Tuple::new(arguments.0)));
    }
    let values = names
        .into_iter()
        .map(|name| Ok((name.clone(), named.get::<Value>(&name)?)));
    let values: Vec<(String, Value)> = values.collect::<Result<_, Error>>()?;
    operators::percent(&text, &Value::from_pairs(values))
}

/// At most so many characters, cut between words unless they are to be killed.
pub fn truncate(value: &Value, args: Rest<Value>, named: Kwargs) -> Result<String, Error> {
    let names = ["length", "killwords", "end", "leeway"];
    let [length, kill_words, end, leeway] = given(names, args, &named)?;
    let length = length.whole()?.unwrap_or(255);
    let end = end.text()?.unwrap_or_else(|| "...".to_owned());
    let leeway = leeway.whole()?.unwrap_or(5);
    let text = string(value)?;
    if text.chars().count() <= length.saturating_add(leeway) {
        return Ok(text);
    }
    let kept = length.saturating_sub(end.chars().count());
    let kept: String = text.chars().take(kept).collect();
    let kept = match kill_words.flag(false) {
        true => kept.as_str(),
        false => kept
            .rsplit_once(' ')
            .map_or(kept.as_str(), |(kept, _)| kept),
    };
    Ok(format!("{kept}{end}"))
}

pub fn wordcount(text: &Value) -> Result<usize, Error> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let text = string(text)?;
    let words = text.split(|c| !is_word(c));
    Ok(words.filter(|word| !word.is_empty()).count())
}
