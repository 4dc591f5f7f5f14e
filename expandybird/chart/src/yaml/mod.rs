//! YAML as charts are read: the dialect of Go's `sigs.k8s.io/yaml` over `go-yaml` 2.
//!
//! Responsible for one document as JSON: `yes` is a boolean, `0755` is 493, `1e3` is a number, `22:30` and dates are
//! texts, keys are texts, the last of two equal keys wins. What follows the first document is not read.
//!
//! Not `common::yaml`, which is PyYAML's dialect: `1e3` and `22:30` differ there, and this package stays without HTTP.

mod build;
mod scalar;

use saphyr_parser::Parser;
use serde_json::Value;

/// Levels of lists and maps.
const MAX_DEPTH: usize = 100;
/// Bytes of one text.
const MAX_BYTES: usize = 8 << 20;
/// Values of one document, with those of its aliases.
const MAX_NODES: usize = 1_000_000;

/// Why a text is no document. It prints as the error of Go's reader.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum YamlError {
    /// It is no YAML.
    #[error("error converting YAML to JSON: yaml: line {line}: {reason}")]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// It is YAML without a JSON.
    #[error("error converting YAML to JSON: {0}")]
    NoJson(String),
    /// It is too large.
    #[error("the YAML has more than {limit} {what}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there may be.
        limit: usize,
    },
}

/// The first document of a text; null if there is none.
///
/// # Errors
/// It is no YAML, has no JSON, or is too large.
pub fn read(text: &[u8]) -> Result<Value, YamlError> {
    let too_large = |what, limit| YamlError::TooLarge { what, limit };
    if text.len() > MAX_BYTES {
        return Err(too_large("bytes", MAX_BYTES));
    }
    let text = std::str::from_utf8(text).map_err(|error| YamlError::Syntax {
        line: 1 + text[..error.valid_up_to()]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count(),
        reason: "invalid UTF-8".to_owned(),
    })?;
    let mut builder = build::Builder::default();
    for event in Parser::new_from_str(text.trim_start_matches('\u{feff}')) {
        let (event, span) = event.map_err(|error| YamlError::Syntax {
            line: error.marker().line().max(1),
            reason: error.info().to_owned(),
        })?;
        let line = span.start.line().max(1);
        if let Some(document) = builder.accept(event, line)? {
            return Ok(document);
        }
    }
    Ok(Value::Null)
}

/// What Go calls the kind of a JSON value.
#[must_use]
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
