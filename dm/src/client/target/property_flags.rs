//! The flags that give properties of a template, and the merging of what they give.

use clap::Args;
use serde_json::{Map, Value};

use super::properties;
use super::properties_file::read_properties;
use crate::error::Failure;

/// The flags that give properties.
#[derive(Debug, Default, Args)]
pub struct PropertyFlags {
    /// Properties of a template, like replicas=3,service.port=80,tags=["a","b"]; "1" in quotes is text. May be repeated.
    #[arg(
        long,
        id = "properties",
        visible_alias = "set",
        value_name = "NAME=VALUE,…"
    )]
    pub properties: Vec<String>,
    /// YAML or JSON file with properties of a template. May be repeated: later files override earlier ones, and --set
    /// overrides all.
    #[arg(long, visible_alias = "values", value_name = "FILE")]
    pub properties_file: Vec<String>,
    /// Property whose value is text, such as a parameter of a Template object. May be repeated. Overrides --set.
    #[arg(short = 'p', long = "param", value_name = "NAME=VALUE", value_parser = param)]
    pub params: Vec<(String, String)>,
}

fn param(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write a parameter as NAME=VALUE".to_owned()),
    }
}

impl PropertyFlags {
    pub fn is_given(&self) -> bool {
        !self.properties.is_empty() || !self.properties_file.is_empty() || !self.params.is_empty()
    }

    /// All of them, merged: `more` files after those of the flags.
    pub fn merged(&self, more: &[String]) -> Result<Map<String, Value>, Failure> {
        let mut all = Map::new();
        for file in self.properties_file.iter().chain(more) {
            merge(&mut all, read_properties(file)?);
        }
        for text in &self.properties {
            properties::merge(&mut all, text)?;
        }
        for (name, value) in &self.params {
            all.insert(name.clone(), Value::from(value.as_str()));
        }
        Ok(all)
    }
}

/// Later values replace earlier ones, and maps are merged.
fn merge(all: &mut Map<String, Value>, later: Map<String, Value>) {
    for (name, value) in later {
        match (all.get_mut(&name), value) {
            (Some(Value::Object(inner)), Value::Object(later)) => merge(inner, later),
            (_, value) => {
                all.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn later_files_override_earlier_ones_and_flags_override_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let flags = PropertyFlags {
            properties: vec!["a.c=flag".to_owned(), "d=1".to_owned()],
            properties_file: vec![
                file("one.yaml", "a: {b: 1, c: one}\nl: [1]\n"),
                file("two.yaml", "a: {b: 2}\nl: [2]\n"),
            ],
            params: vec![("d".to_owned(), "1,e=2".to_owned())],
        };
        let more = [file("three.json", r#"{"e": 5}"#)];
        let merged = flags.merged(&more).unwrap();
        let expected = json!({"a": {"b": 2, "c": "flag"}, "l": [2], "d": "1,e=2", "e": 5});
        assert_eq!(Value::Object(merged), expected);
    }
}
