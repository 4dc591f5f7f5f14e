//! YAML files of operators about callers. They are read completely or not at all, and unknown fields are refused.

use common::yaml::{self, Duplicates, Limits};
use serde::de::DeserializeOwned;

/// The text of the only file.
pub fn text(contents: &[Vec<u8>]) -> Result<String, String> {
    let bytes = contents.first().cloned().unwrap_or_default();
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

/// `example` is shown in the error for an empty file.
pub fn document<T: DeserializeOwned>(text: &str, example: &str) -> Result<T, String> {
    let document = yaml::read(text, &Limits::default(), Duplicates::Error);
    let document = document.map_err(|error| error.to_string())?;
    if document.value.is_null() {
        return Err(format!("there is nothing in it; write {example}"));
    }
    serde_json::from_value(document.value).map_err(|error| error.to_string())
}
