//! `imports: [{path, name?}]` of a configuration or a schema.

use common::manifests;
use common::yaml::{self, Duplicates, Limits, Location};
use serde_json::Value;

use super::BundleError;

pub struct Declared {
    pub path: String,
    pub name: Option<String>,
}

/// What a text imports; Kubernetes objects import nothing. All else in it is the expander's business.
pub fn declared(text: &str, file: &str) -> Result<Vec<Declared>, BundleError> {
    if manifests::is_manifests(text) {
        return Ok(Vec::new());
    }
    let document = yaml::read(text, &Limits::DEFAULT, Duplicates::Warn).map_err(|error| {
        BundleError::Malformed {
            place: format!("{file}:{}:{}", error.location.line, error.location.column),
            reason: error.kind.to_string(),
            excerpt: error.excerpt(),
        }
    })?;
    let items = match &document.value["imports"] {
        Value::Null => return Ok(Vec::new()),
        Value::Array(items) => items,
        _ => {
            return Err(malformed(
                text,
                file,
                "/imports",
                "imports is not a list; write it like [{path: template.py}]",
            ));
        }
    };
    items
        .iter()
        .enumerate()
        .map(|(index, item)| import(item).ok_or_else(|| refused(text, file, index)))
        .collect()
}

fn import(item: &Value) -> Option<Declared> {
    let path = item["path"].as_str().filter(|path| !path.is_empty())?;
    let name = match item.get("name") {
        None | Some(Value::Null) => None,
        Some(name) => Some(name.as_str().filter(|name| !name.is_empty())?.to_owned()),
    };
    Some(Declared {
        path: path.to_owned(),
        name,
    })
}

fn refused(text: &str, file: &str, index: usize) -> BundleError {
    let pointer = format!("/imports/{index}");
    malformed(
        text,
        file,
        &pointer,
        "an import is written {path: FILE} or {path: FILE, name: NAME}",
    )
}

fn malformed(text: &str, file: &str, pointer: &str, reason: &str) -> BundleError {
    let location = yaml::locate(text, pointer, &Limits::DEFAULT).unwrap_or(Location::START);
    BundleError::Malformed {
        place: format!("{file}:{}:{}", location.line, location.column),
        reason: reason.to_owned(),
        excerpt: yaml::excerpt(text, location),
    }
}
