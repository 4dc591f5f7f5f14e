//! What can go wrong, in Go's words, and the limits that end a run.

use std::fmt;

/// A limit that a template met. It ends the run, whatever the template does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// Too many evaluation steps.
    #[error("the template needs more than {0} steps")]
    Steps(u64),
    /// Templates, blocks and expressions within each other, or a value nested too deeply.
    #[error("exceeded maximum template depth ({0})")]
    Depth(usize),
    /// Too much output.
    #[error("the output is larger than {0} bytes")]
    Output(usize),
    /// One string is too long.
    #[error("a string is larger than {0} bytes")]
    String(usize),
    /// One list is too long.
    #[error("a list is longer than {0} items")]
    List(usize),
    /// The deadline has passed.
    #[error("the template needs too much time")]
    Time,
}

/// A template that cannot be parsed. It prints as Go's: `template: FILE:LINE: MESSAGE`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("template: {file}:{line}: {message}")]
pub struct ParseError {
    /// The name under which the text was parsed.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Where in a template an execution failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name under which the text was parsed.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// In bytes, counted from 0.
    pub column: usize,
    /// The canonical source of the failing node.
    pub node: String,
}

/// An execution that failed. It prints as Go's: `template: FILE:LINE:COL: executing "NAME" at <NODE>: MESSAGE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecError {
    /// The template that ran. It differs from the file's name inside a `define`.
    pub template: String,
    /// Where it failed. Missing if the template itself is missing.
    pub place: Option<Place>,
    /// What is wrong, including the text of `cause`.
    pub message: String,
    /// The error of the function that failed, if one did.
    pub cause: Option<Box<Failure>>,
}

impl ExecError {
    /// The limit that ended the run; `None` if it failed for another reason.
    #[must_use]
    pub fn limit(&self) -> Option<Limit> {
        self.cause.as_deref().and_then(Failure::limit)
    }
}

impl fmt::Display for ExecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(place) = &self.place else {
            return write!(f, "template: {}", self.message);
        };
        let Place {
            file,
            line,
            column,
            node,
        } = place;
        write!(f, "template: {file}:{line}:{column}: executing ")?;
        write!(
            f,
            "{} at <{node}>: {}",
            crate::text::quoted(&self.template),
            self.message
        )
    }
}

impl std::error::Error for ExecError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.cause.as_deref()? {
            Failure::Template { error, .. } => Some(&**error),
            Failure::Message(_) | Failure::Limit(_) => None,
        }
    }
}

/// Why a function failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// In Go: an error or a panic with this text. The template's error becomes `error calling F: TEXT`.
    #[error("{0}")]
    Message(String),
    /// A template that the function ran failed. `context` comes before its text, without a separator of our own.
    #[error("{context}{error}")]
    Template {
        /// Empty, or a sentence that ends in `: `.
        context: String,
        /// The error of the inner template.
        error: Box<ExecError>,
    },
    /// A limit was met.
    #[error(transparent)]
    Limit(#[from] Limit),
}

impl Failure {
    /// A failure with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self::Message(text.into())
    }

    /// The limit that was met here or in an inner template.
    #[must_use]
    pub fn limit(&self) -> Option<Limit> {
        match self {
            Self::Message(_) => None,
            Self::Template { error, .. } => error.limit(),
            Self::Limit(limit) => Some(*limit),
        }
    }
}

impl From<ExecError> for Failure {
    fn from(error: ExecError) -> Self {
        Self::Template {
            context: String::new(),
            error: Box::new(error),
        }
    }
}

impl From<ParseError> for Failure {
    fn from(error: ParseError) -> Self {
        Self::Message(error.to_string())
    }
}
