//! The errors of templates, as Helm 4 prints them.

use expandybird_gotemplate::error::{ExecError, Failure, ParseError};

use crate::error::ChartError;
use crate::functions::SENTENCE;

/// The error of a template that cannot be parsed.
pub fn unparsed(error: &ParseError) -> ChartError {
    let text = error.to_string();
    let last = text.rsplit(": ").next().unwrap_or_default();
    let place = text.split(": ").nth(1).unwrap_or_default();
    ChartError::Template {
        message: format!("parse error at ({place}): {last}"),
        file: Some(error.file.clone()),
        line: Some(error.line),
        column: None,
        sentence: None,
    }
}

/// The error of a template that failed.
pub fn failed(error: &ExecError) -> ChartError {
    let text = error.to_string();
    let sentence = sentence(&text);
    let message = match &sentence {
        Some((place, sentence)) => format!("execution error at ({place}): {sentence}"),
        None => stacked(error).unwrap_or(text),
    };
    // The sentence of an author is about the place where it is asked for, all else about where it happens.
    let place = innermost(error).place.as_ref();
    if let Some(limit) = error.limit() {
        return ChartError::Limit {
            limit,
            message,
            file: place.map(|place| place.file.clone()),
        };
    }
    ChartError::Template {
        message,
        file: place.map(|place| place.file.clone()),
        line: place.map(|place| place.line),
        column: place.map(|place| place.column),
        sentence: sentence.map(|(_, sentence)| sentence),
    }
}

/// `required` and `fail`: the outermost place, and what the author wrote.
fn sentence(text: &str) -> Option<(String, String)> {
    let mut parts = text.splitn(3, ": ");
    let (place, rest) = (parts.nth(1)?, parts.next()?);
    let (start, end) = SENTENCE;
    let from = rest.find(start)? + start.len();
    let to = rest.rfind(end)?;
    let sentence = rest.get(from..to)?;
    Some((place.to_owned(), sentence.to_owned()))
}

/// The error of the template that a template ran, and so on.
fn innermost(error: &ExecError) -> &ExecError {
    match error.cause.as_deref() {
        Some(Failure::Template { error, .. }) => innermost(error),
        Some(Failure::Message(_) | Failure::Limit(_)) | None => error,
    }
}

/// One block for each template that is within another. `None`: a function failed by itself, and the error stays as it is.
fn stacked(error: &ExecError) -> Option<String> {
    let mut levels: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let level = level(&error.to_string())?;
        if levels.last() != Some(&level) {
            levels.push(level);
        }
        next = match error.cause.as_deref() {
            None => None,
            Some(Failure::Template { context, error }) if context.is_empty() => Some(error),
            Some(_) => return None,
        };
    }
    Some(levels.concat().trim().to_owned())
}

/// The block of one error. Helm finds its parts in the text, and so do we: nodes may contain what looks like an end.
fn level(text: &str) -> Option<String> {
    let rest = text.strip_prefix("template: ")?;
    if rest.starts_with("no template ") {
        return Some(format!("{text}\n"));
    }
    let cut = |message: &str| {
        let end = message.find(" template:").unwrap_or(message.len());
        message[..end].to_owned()
    };
    let Some((place, after)) = rest.split_once(": executing ") else {
        let (place, message) = rest.rsplit_once(": ")?;
        return Some(block(place, "", &cut(message)));
    };
    let (name, after) = after.strip_prefix('"')?.split_once('"')?;
    let (node, message) = after.strip_prefix(" at <")?.split_once(">: ")?;
    let what = format!("executing \"{name}\" at <{node}>:");
    Some(block(place, &what, &cut(message)))
}

fn block(place: &str, what: &str, message: &str) -> String {
    let mut block = String::new();
    for (part, end) in [(place, "\n  "), (what, "\n    "), (message, "\n")] {
        if !part.is_empty() {
            block.push_str(part);
            block.push_str(end);
        }
    }
    block
}
