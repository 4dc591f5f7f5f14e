//! A YAML or JSON file with properties of a template.

use std::path::Path;

use common::yaml::{self, Duplicates, Limits};
use serde_json::{Map, Value};

use super::source::split;
use crate::bundle::BundleError;
use crate::error::Failure;

/// A file of text.
pub fn read_text(file: &str) -> Result<String, Failure> {
    let (folder, name) = split(Path::new(file));
    let unreadable = |reason| BundleError::File {
        file: file.to_owned(),
        reason,
        asked: String::new(),
    };
    Ok(folder.read(&name).map_err(unreadable)?)
}

pub fn read_properties(file: &str) -> Result<Map<String, Value>, Failure> {
    let text = read_text(file)?;
    let document = yaml::read(&text, &Limits::DEFAULT, Duplicates::Error).map_err(|error| {
        BundleError::Malformed {
            place: format!("{file}:{}:{}", error.location.line, error.location.column),
            reason: error.kind.to_string(),
            excerpt: error.excerpt(),
        }
    })?;
    match document.value {
        Value::Object(properties) => Ok(properties),
        Value::Null => Ok(Map::new()),
        _ => Err(Failure::failed(format!(
            "{file}: properties must be a map of names to values"
        ))),
    }
}
