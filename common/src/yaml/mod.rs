//! YAML in and out, as [`serde_json::Value`]s.
//!
//! Responsible for one dialect: YAML 1.1 the way PyYAML reads it, because that is what the
//! configurations, schemas and templates of Deployment Manager were written for. `yes` is a
//! boolean, `0755` is 493, `22:30` is 1350, `1e3` is text. It refuses to know what a configuration
//! is: callers find what they need in the value and ask [`locate`] for its place.
//!
//! ```text
//! text ── compose ──► tree of nodes with places ── construct ──► value      (read)
//!                               └──────────────────── locate ──► place      (when asked)
//! value ── write ──► text        text ── replace ──► text with other scalars, all else as it was
//! ```
//!
//! Where JSON has no such thing, text is kept: dates and time stamps stay as they were written,
//! keys become what Python's `json.dumps` makes of them. What would be lost is an error instead:
//! integers beyond 64 bits, infinities, unknown tags, keys that are lists or maps.
//!
//! Known differences from PyYAML: the parser follows YAML 1.2 where that is the more liberal one
//! (tabs between tokens, anchors given again, keys left out); `1` and `true` are two keys. Where it
//! is the stricter one, spaces are put in.
//!
//! Why two libraries: `serde_yaml` cannot tell `yes` from `"yes"` once it has parsed them and knows
//! neither places nor duplicates, so reading stands on parser events. Writing is its part; this
//! is the only module that calls it.

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
pub use locate::{Places, locate};
pub use mask::mask;
pub use replace::{ReplaceError, Replacement, replace};
pub use write::{WriteError, write};

/// How much a text may ask of its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of text, with what aliases repeat counted again.
    pub bytes: usize,
    /// Collections within collections. Reading recurses as deep, so keep it in the hundreds.
    pub depth: usize,
    /// Values (keys, items, collections), with what aliases repeat counted again.
    pub nodes: usize,
}

impl Limits {
    /// For everything that arrives over the network or from a template.
    ///
    /// 16 MiB is about a hundred times the largest configuration known, and a thousand instances
    /// of one template with a large manifest still fit. Nobody nests 100 levels by hand, and
    /// `serde_json` would refuse to read back more than 127. A million values is what 16 MiB of
    /// ordinary YAML hold, and takes some hundred MiB of memory at worst.
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

/// What to do about a key that a map has twice. PyYAML silently takes the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// Refuse the text.
    Error,
    /// The last one wins, and the document says so.
    Warn,
}

/// One document of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    pub value: Value,
    /// Where its value begins.
    pub location: Location,
    /// At most a hundred.
    pub warnings: Vec<Warning>,
}

/// Which value of a text is meant.
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

/// A key that a map has twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub key: String,
    /// Where the one stands that counts, or did until the next.
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

/// Reads all documents of a text; the limits are for all of them together.
pub fn read_all(
    text: &str,
    limits: &Limits,
    duplicates: Duplicates,
) -> Result<Vec<Document>, YamlError> {
    let tree = compose::compose(text, limits)?;
    let mut constructor = construct::Constructor::new(&tree, limits, duplicates);
    let roots = tree.roots.iter();
    roots.map(|root| constructor.document(*root)).collect()
}
