//! One object that a template wrote, and its head.

use serde_json::Value;

use crate::error::ChartError;
use crate::{metadata, yaml};

/// One object that a template wrote. A part with comments only is one, too, without a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The path of the template: `web/charts/db/templates/service.yaml`.
    pub path: String,
    /// The kind; empty if there is none.
    pub kind: String,
    /// The name of the object; empty if there is none.
    pub name: String,
    /// The text, as the template wrote it.
    pub text: String,
    /// The object.
    pub value: Value,
    /// The line of the template's output where it begins, from 1.
    pub line: usize,
}

/// What decides where a manifest belongs.
pub struct Head {
    annotations: Vec<(String, String)>,
}

impl Head {
    /// The text of an annotation.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        let found = self.annotations.iter().find(|(key, _)| key == name);
        found.map(|(_, text)| text.as_str())
    }
}

/// Reads a part of the output of the template at this path.
pub fn read(path: &str, line: usize, part: &[u8]) -> Result<(Manifest, Head), ChartError> {
    let refused = |reason: String| ChartError::Manifest {
        file: path.to_owned(),
        reason,
    };
    let value = yaml::read(part).map_err(|error| refused(error.to_string()))?;
    let text_at = |pointer: &str| match value.pointer(pointer) {
        None => Ok(String::new()),
        Some(value) => metadata::text(value).map_err(&refused),
    };
    if !matches!(value, Value::Object(_) | Value::Null) {
        return Err(refused(metadata::wrong(&value, "util.SimpleHead")));
    }
    for (pointer, wanted) in [
        ("/metadata", "struct"),
        ("/metadata/annotations", "map[string]string"),
    ] {
        match value.pointer(pointer) {
            None | Some(Value::Object(_) | Value::Null) => {}
            Some(other) => return Err(refused(metadata::wrong(other, wanted))),
        }
    }
    let annotations = value
        .pointer("/metadata/annotations")
        .and_then(Value::as_object);
    let annotations = annotations.into_iter().flatten().map(|(key, value)| {
        let text = metadata::text(value).map_err(&refused);
        Ok((key.clone(), text?))
    });
    let head = Head {
        annotations: annotations.collect::<Result<_, ChartError>>()?,
    };
    text_at("/apiVersion")?;
    let manifest = Manifest {
        path: path.to_owned(),
        kind: text_at("/kind")?,
        name: text_at("/metadata/name")?,
        text: String::from_utf8_lossy(part).into_owned(),
        line,
        value,
    };
    Ok((manifest, head))
}
