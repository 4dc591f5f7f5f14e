//! `-o jsonpath=…`, as `kubectl` has it: text, and paths in braces.
//!
//! Not a crate: those that are kept well read RFC 9535, which has neither braces nor `range`.

mod find;
mod parse;

use serde_json::Value;

use self::find::FindError;
use self::parse::{Node, ParseError, parse};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonPathError {
    #[error(transparent)]
    Parse(#[from] ParseError),
    #[error(transparent)]
    Find(#[from] FindError),
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonPath(Vec<Node>);

impl JsonPath {
    /// # Errors
    /// The text is not an expression.
    pub fn parse(text: &str) -> Result<Self, JsonPathError> {
        Ok(Self(parse(text)?))
    }

    /// The text that it makes of a document.
    ///
    /// # Errors
    /// It compares what cannot be compared, or asks for an item that is not there.
    pub fn render(&self, document: &Value) -> Result<String, JsonPathError> {
        let mut text = String::new();
        write(&self.0, document, document, &mut text)?;
        Ok(text)
    }
}

fn write(
    nodes: &[Node],
    root: &Value,
    current: &Value,
    text: &mut String,
) -> Result<(), FindError> {
    for node in nodes {
        match node {
            Node::Text(literal) => text.push_str(literal),
            Node::Path(path) => {
                let found = find::all(path, root, current)?;
                let found: Vec<_> = found.into_iter().map(printed).collect();
                text.push_str(&found.join(" "));
            }
            Node::Range(path, body) => {
                for item in find::all(path, root, current)? {
                    write(body, root, item, text)?;
                }
            }
        }
    }
    Ok(())
}

/// Text as it is, everything else as JSON.
fn printed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
