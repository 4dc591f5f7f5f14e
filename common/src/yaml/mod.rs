//! Reads and writes YAML as [`serde_json::Value`]s.
//!
//! Responsible for one dialect: YAML 1.1 as PyYAML reads it, because configurations, schemas and templates of
//! Deployment Manager are written for it. `yes` is a boolean, `0755` is 493, `22:30` is 1350, `1e3` is text. It does
//! not know what a configuration is: callers find what they need in the value, and ask [`locate`] for its location.
//!
//! ```text
//! text ── compose ──► tree of nodes with places ── construct ──► value      (read)
//!                               └──────────────────── locate ──► place      (when asked)
//! value ── write ──► text        text ── replace ──► text with other scalars, all else as it was
//! ```
//!
//! Values that JSON does not have stay text: dates and time stamps are not changed, keys become what Python's
//! `json.dumps` makes of them. Values that would be lost are an error: integers beyond 64 bits, infinities, unknown
//! tags, keys that are lists or maps.
//!
//! Known differences from PyYAML: the parser follows YAML 1.2 where that is more liberal (tabs between tokens, repeated
//! anchors, missing keys), and `1` and `true` are two keys. Where YAML 1.2 is stricter, spaces are added.
//!
//! Why two libraries: `serde_yaml` cannot distinguish `yes` from `"yes"` after parsing, and knows neither locations nor
//! duplicates. So reading uses parser events, and writing uses `serde_yaml`. Only this module calls it.

mod compose;
mod construct;
mod error;
mod locate;
mod mask;
mod replace;
mod respace;
mod scalar;
mod write;

use std::fmt;

use serde_json::Value;

pub use error::{Location, YamlError, YamlErrorKind, excerpt};
pub use locate::{TextLocations, locate};
pub use mask::mask;
pub use replace::{ReplaceError, Replacement, replace};
pub use write::{WriteError, write};

/// The limits of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of text. Repeated aliases count each time.
    pub bytes: usize,
    /// How deep collections may be nested. Reading recurses as deep, so keep it in the hundreds.
    pub depth: usize,
    /// Values (keys, items, collections). Repeated aliases count each time.
    pub nodes: usize,
}

impl Limits {
    /// For text from the network or from a template.
    ///
    /// 16 MiB is about a hundred times the largest known configuration, and enough for a thousand instances of a
    /// template with a large manifest. Hand-written text never nests 100 levels, and `serde_json` cannot read back more
    /// than 127. A million values is the content of 16 MiB of ordinary YAML, and takes some hundred MiB of memory at
    /// worst.
    pub const DEFAULT: Limits = Limits {
        bytes: 16 * 1024 * 1024,
        depth: 100,
        nodes: 1_000_000,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}

/// What to do about a key that occurs twice in a map. PyYAML silently takes the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// Reject the text.
    Error,
    /// The last one wins, and the document has a warning.
    Warn,
}

/// One document of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    pub value: Value,
    /// The location of its value.
    pub location: Location,
    /// At most a hundred.
    pub warnings: Vec<Warning>,
}

/// Identifies a value of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The document, counted from 0.
    pub document: usize,
    /// A JSON pointer (RFC 6901) within the document.
    pub path: String,
}

impl Pointer {
    pub fn new(document: usize, path: impl Into<String>) -> Self {
        Self {
            document,
            path: path.into(),
        }
    }
}

/// A key that occurs twice in a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub key: String,
    /// The location of the key that wins, or that won until the next one.
    pub location: Location,
    pub first: Location,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Warning {
            key,
            location,
            first,
        } = self;
        let line = first.line;
        write!(
            f,
            "{location}: duplicate key '{key}' (first at line {line}); the last one counts"
        )
    }
}

/// Reads a text of one document. An empty text is null.
pub fn read(text: &str, limits: &Limits, duplicates: Duplicates) -> Result<Document, YamlError> {
    let tree = compose::compose(text, limits)?;
    if let [_, second, ..] = tree.roots[..] {
        let at = tree.nodes[second].at;
        return Err(YamlError::new(
            YamlErrorKind::MultipleDocuments,
            at,
            tree.text,
        ));
    }
    let mut constructor = construct::Constructor::new(&tree, limits, duplicates);
    match tree.roots.first() {
        Some(root) => constructor.document(*root),
        None => Ok(Document {
            value: Value::Null,
            location: Location::START,
            warnings: Vec::new(),
        }),
    }
}

/// Reads all documents of a text. The limits apply to all of them together.
pub fn read_all(
    text: &str,
    limits: &Limits,
    duplicates: Duplicates,
) -> Result<Vec<Document>, YamlError> {
    let (documents, _) = read_with_locations(text, limits, duplicates)?;
    Ok(documents)
}

/// [`read_all`] with the locations of the values, for callers that ask for them anyway: the text is parsed once.
pub fn read_with_locations<'a>(
    text: &'a str,
    limits: &Limits,
    duplicates: Duplicates,
) -> Result<(Vec<Document>, TextLocations<'a>), YamlError> {
    let tree = compose::compose(text, limits)?;
    let mut constructor = construct::Constructor::new(&tree, limits, duplicates);
    let roots = tree.roots.iter();
    let documents: Result<_, _> = roots.map(|root| constructor.document(*root)).collect();
    Ok((documents?, TextLocations::of(tree)))
}
