//! Faults of a YAML text, their locations, and how they are shown.

use std::fmt;

/// A location in a text. Both numbers count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    pub line: usize,
    pub column: usize,
}

impl Location {
    /// The start of a text.
    pub const START: Location = Location { line: 1, column: 1 };
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A text that cannot be read: what is wrong, and where.
///
/// `Display` is one sentence: `line 3, column 5: duplicate key 'name' (first at line 2)`.
#[derive(Debug, thiserror::Error)]
#[error("{location}: {kind}")]
pub struct YamlError {
    pub kind: YamlErrorKind,
    pub location: Location,
    line_text: Option<Box<str>>,
}

/// What is wrong with a text. Each limit has its own kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum YamlErrorKind {
    #[error("{0}")]
    Syntax(String),
    #[error("the line is indented with a tab; indent with spaces")]
    TabIndent,
    #[error("the control character U+{0:04X} is not allowed in YAML")]
    ControlCharacter(u32),
    #[error("duplicate key '{key}' (first at line {})", first.line)]
    DuplicateKey { key: String, first: Location },
    #[error("the key is a list or a map; only plain values can be keys")]
    ComplexKey,
    #[error("more than {limit} bytes of text; repeated aliases count each time")]
    TooLarge { limit: usize },
    #[error("nested more than {limit} levels deep")]
    TooDeep { limit: usize },
    #[error("more than {limit} values; repeated aliases count each time")]
    TooManyNodes { limit: usize },
    #[error("the alias '*{0}' names no anchor before it")]
    UnknownAlias(String),
    #[error("the alias refers to a value that contains it")]
    RecursiveAlias,
    #[error("'<<' needs a map or a list of maps, but the value is neither")]
    InvalidMerge,
    #[error("the integer {0} does not fit into 64 bits; quote it to keep it as text")]
    IntegerTooLarge(String),
    #[error(
        "the number {0} is not finite and cannot be written in JSON; quote it to keep it as text"
    )]
    NotFinite(String),
    #[error("'{text}' is not a valid {tag}")]
    InvalidValue { tag: String, text: String },
    #[error("'{0}' has a special meaning in YAML 1.1; quote it to keep it as text")]
    Reserved(&'static str),
    #[error("unknown tag '{0}'; remove it, or quote the value if the '!' belongs to it")]
    UnknownTag(String),
    #[error("the tag '{0}' does not match its value; remove it, or change the value")]
    MisplacedTag(String),
    #[error("a second document begins here; only one is expected")]
    MultipleDocuments,
}

impl YamlErrorKind {
    /// Whether the text may be valid and only exceeds a limit.
    pub fn is_limit(&self) -> bool {
        matches!(
            self,
            Self::TooLarge { .. } | Self::TooDeep { .. } | Self::TooManyNodes { .. }
        )
    }
}

impl YamlError {
    pub(super) fn new(kind: YamlErrorKind, location: Location, text: &str) -> YamlError {
        let line_text = line(text, location.line).map(Box::from);
        YamlError {
            kind,
            location,
            line_text,
        }
    }

    /// The line of the fault, with a caret below the column. Empty at the end of the text.
    pub fn excerpt(&self) -> String {
        self.line_text
            .as_deref()
            .map(|line| render(line, self.location))
            .unwrap_or_default()
    }
}

/// The line of `text` at `location`, with a caret below the column. For errors that callers find, at a location from
/// [`super::locate`].
pub fn excerpt(text: &str, location: Location) -> String {
    line(text, location.line)
        .map(|line| render(line, location))
        .unwrap_or_default()
}

/// The length of an excerpt on either side of the caret, in characters.
const CONTEXT: usize = 60;

fn render(line: &str, location: Location) -> String {
    let caret = location.column.saturating_sub(1);
    let from = caret.saturating_sub(CONTEXT);
    let shown: String = line.chars().skip(from).take(2 * CONTEXT).collect();
    let shown = shown.replace('\t', " ");
    let number = location.line.to_string();
    format!(
        "{number} | {}\n{:margin$} | {:indent$}^",
        shown.trim_end(),
        "",
        "",
        margin = number.len(),
        indent = caret - from,
    )
}

fn line(text: &str, number: usize) -> Option<&str> {
    text.lines().nth(number.checked_sub(1)?)
}
