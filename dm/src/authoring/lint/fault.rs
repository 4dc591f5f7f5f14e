//! One mistake, and where it is.

use std::fmt;

use common::api::error::{ErrorBody, Location};
use common::yaml;
use serde::Serialize;

use super::check::NAME;
use crate::error::Sources;
use crate::terminal::text;

/// Ordered by place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Fault {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    pub message: String,
}

impl fmt::Display for Fault {
    /// As compilers write it, so that editors find the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", text::line(&self.file))?;
        for number in [self.line, self.column].into_iter().flatten() {
            write!(f, "{number}:")?;
        }
        write!(f, " {}", text::line(&self.message))
    }
}

impl Fault {
    pub fn new(file: &str, message: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line: None,
            column: None,
            message: message.into(),
        }
    }

    /// At a byte of the text of the file.
    pub fn at(file: &str, text: &str, byte: usize, message: impl Into<String>) -> Self {
        let before = text.get(..byte).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            + 1;
        Self {
            line: u32::try_from(line).ok(),
            column: u32::try_from(column).ok(),
            ..Self::new(file, message)
        }
    }

    /// A text that is not YAML.
    pub fn of_yaml(file: &str, error: &yaml::YamlError) -> Self {
        let place = error.location;
        Self {
            line: u32::try_from(place.line).ok(),
            column: u32::try_from(place.column).ok(),
            ..Self::new(file, error.kind.to_string())
        }
    }

    /// A sentence that begins with a place, as `web.yaml:3:1: …`. Its first line.
    pub fn of_sentence(file: &str, sentence: &str) -> Self {
        let sentence = sentence.lines().next().unwrap_or_default();
        let mut parts = sentence.splitn(4, ':');
        let place = (parts.next(), parts.next(), parts.next(), parts.next());
        if let (Some(named), Some(line), Some(column), Some(message)) = place
            && let (Ok(line), Ok(column)) = (line.parse(), column.parse())
        {
            return Self {
                line: Some(line),
                column: Some(column),
                ..Self::new(named, message.trim())
            };
        }
        Self::new(file, sentence)
    }

    /// The mistakes that an answer of expandybird names: its causes, or else itself.
    pub fn of_answer(body: &ErrorBody, sources: &Sources, file: &str) -> Vec<Self> {
        match body.causes.is_empty() {
            true => vec![Self::of_body(body, sources, file)],
            false => {
                let causes = body.causes.iter();
                causes
                    .flat_map(|cause| Self::of_answer(cause, sources, file))
                    .collect()
            }
        }
    }

    fn of_body(body: &ErrorBody, sources: &Sources, file: &str) -> Self {
        let message = body.message.lines().next().unwrap_or_default().to_owned();
        let Some(place) = &body.location else {
            return Self::new(file, message);
        };
        let Location { line, column, .. } = place;
        let named = place.file.as_deref();
        let found = named.and_then(|named| sources.find(named, *line));
        // The resource that is made for a template has no name of the user's.
        let is_said = |name: &&String| message.contains(*name) || *name == NAME;
        let resource = place.resource.as_ref().filter(|name| !is_said(name));
        Self {
            file: match (found, named) {
                (Some((source, _)), _) => source.shown.clone(),
                (None, named) => named.unwrap_or(file).to_owned(),
            },
            line: found.map_or(*line, |(_, line)| line),
            column: *column,
            message: match resource {
                Some(name) => format!("{message} (resource {name})"),
                None => message,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_written_as_editors_read_it() {
        let fault = Fault::at("web.jinja", "a\nb ä x", 6, "wrong");
        assert_eq!(fault.to_string(), "web.jinja:2:4: wrong");
        assert_eq!(Fault::new("web", "wrong").to_string(), "web: wrong");
        let sentence = "a/web.yaml:3:1: did not expect this\n  | x";
        let fault = Fault::of_sentence("b", sentence);
        assert_eq!(fault.to_string(), "a/web.yaml:3:1: did not expect this");
        let fault = Fault::of_sentence("b", "no place: at all");
        assert_eq!(fault.to_string(), "b: no place: at all");
    }
}
