//! What a packed Helm chart says about itself: its name, and which values it takes.
//!
//! The values of a chart are its properties. Their schema is the chart's `values.schema.json`, with the defaults of its
//! `values.yaml`. This module does not know what a chart renders to.

use common_chart::archive::{self, Room};
use common_chart::{ArchiveError, File};
use serde_json::{Map, Value, json};

use crate::yaml::{self, Duplicates, Limits};

const CHART: &str = "Chart.yaml";
const VALUES: &str = "values.yaml";
const SCHEMA: &str = "values.schema.json";
/// Levels of values that get their defaults.
const DEPTH: usize = 32;
/// What says which values are allowed. Beside it, a type would be a guess.
const SAYS_TYPE: [&str; 7] = ["type", "enum", "const", "$ref", "oneOf", "anyOf", "allOf"];

#[derive(Debug, Clone, PartialEq)]
pub struct About {
    pub name: String,
    pub version: String,
    pub description: Option<String>,
    /// The schema of its values, with their defaults.
    pub schema: Value,
}

#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("the chart has no {CHART}")]
    NoChart,
    #[error("{file} of the chart cannot be read: {reason}")]
    File { file: &'static str, reason: String },
}

impl About {
    /// Reads a packed chart.
    ///
    /// # Errors
    /// It is no archive of a chart, is too large, or one of these files cannot be read.
    pub fn read(packed: &[u8]) -> Result<Self, ChartError> {
        Self::of(&archive::read(packed, &mut Room::default())?)
    }

    fn of(files: &[File]) -> Result<Self, ChartError> {
        let data = |name: &str| {
            let file = files.iter().find(|file| file.name == name);
            file.map(|file| file.data.as_slice())
        };
        let chart = map(CHART, data(CHART).ok_or(ChartError::NoChart)?)?;
        let text = |key: &str| chart.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut schema = match data(SCHEMA) {
            Some(bytes) => json_map(bytes)?,
            None => Map::new(),
        };
        let values = data(VALUES).map(|bytes| map(VALUES, bytes)).transpose()?;
        add_defaults(&mut schema, values.unwrap_or_default(), DEPTH);
        Ok(Self {
            name: text("name").unwrap_or_default(),
            version: text("version").unwrap_or_default(),
            description: text("description"),
            schema: Value::Object(schema),
        })
    }
}

fn map(file: &'static str, bytes: &[u8]) -> Result<Map<String, Value>, ChartError> {
    let failed = |reason: String| ChartError::File { file, reason };
    let text = std::str::from_utf8(bytes).map_err(|error| failed(error.to_string()))?;
    let read = yaml::read(text, &Limits::DEFAULT, Duplicates::Warn);
    match read.map_err(|error| failed(error.to_string()))?.value {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        _ => Err(failed("it must be a map".to_owned())),
    }
}

fn json_map(bytes: &[u8]) -> Result<Map<String, Value>, ChartError> {
    serde_json::from_slice(bytes).map_err(|error| ChartError::File {
        file: SCHEMA,
        reason: error.to_string(),
    })
}

/// Writes the chart's defaults beside what its schema says.
fn add_defaults(schema: &mut Map<String, Value>, values: Map<String, Value>, depth: usize) {
    if values.is_empty() {
        return;
    }
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    let Value::Object(properties) = properties else {
        return;
    };
    for (name, value) in values {
        // A schema may be `true` or `false`, too.
        let Value::Object(property) = properties.entry(name).or_insert_with(|| json!({})) else {
            continue;
        };
        let says_type = SAYS_TYPE.iter().any(|key| property.contains_key(*key));
        if let Some(kind) = kind(&value).filter(|_| !says_type) {
            property.insert("type".to_owned(), kind.into());
        }
        match value {
            Value::Object(inner) if !inner.is_empty() && depth > 0 => {
                add_defaults(property, inner, depth - 1);
            }
            Value::Null => {}
            value => {
                property.entry("default").or_insert(value);
            }
        }
    }
}

fn kind(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some("boolean"),
        Value::Number(_) => Some("number"),
        Value::String(_) => Some("string"),
        Value::Array(_) => Some("array"),
        Value::Object(_) => Some("object"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(files: &[(&str, &str)]) -> Result<About, ChartError> {
        let files: Vec<_> = files
            .iter()
            .map(|(name, text)| File::new(*name, *text))
            .collect();
        About::read(&archive::pack("web", &files).unwrap())
    }

    #[test]
    fn the_schema_has_what_the_chart_says_and_the_defaults_of_its_values() {
        let schema = r#"{"required": ["image"], "properties": {"image": {"type": "object"},
            "kind": {"enum": ["a", "b"], "default": "b"}, "any": true}}"#;
        let values = "image: {tag: '1.0', port: 80}\nkind: a\nany: 1\nextra:\nargs: []\n";
        let about = about(&[
            (
                "Chart.yaml",
                "name: web\nversion: 1.0.0\ndescription: Serves.\n",
            ),
            ("values.yaml", values),
            ("values.schema.json", schema),
        ])
        .unwrap();
        assert_eq!(about.name, "web");
        assert_eq!(about.description.as_deref(), Some("Serves."));
        assert_eq!(
            about.schema,
            json!({"required": ["image"], "properties": {
                "image": {"type": "object", "properties": {
                    "tag": {"type": "string", "default": "1.0"},
                    "port": {"type": "number", "default": 80},
                }},
                "kind": {"enum": ["a", "b"], "default": "b"},
                "any": true,
                "extra": {},
                "args": {"type": "array", "default": []},
            }})
        );
    }

    #[test]
    fn a_chart_that_cannot_be_read_says_which_file_is_wrong() {
        let error = about(&[("values.yaml", "a: 1")]).unwrap_err().to_string();
        assert!(error.contains("no Chart.yaml"), "{error}");
        for (file, text) in [("values.yaml", "- a"), ("values.schema.json", "[")] {
            let error = about(&[("Chart.yaml", "name: a"), (file, text)]).unwrap_err();
            assert!(error.to_string().starts_with(file), "{error}");
        }
    }
}
