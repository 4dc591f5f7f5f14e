//! The flags that give properties of a template, and the merging of what they give.

use clap::Args;
use serde_json::{Map, Value};

use super::properties::{self, Values};
use super::properties_file::{read_properties, read_text};
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
    /// Properties whose values are JSON, like ports=[80,443], or one JSON object with all of them. May be repeated. --set
    /// overrides it.
    #[arg(long, value_name = "NAME=JSON,…")]
    pub set_json: Vec<String>,
    /// Properties whose values are text, like tag=1.10,id=007. May be repeated. Overrides --set.
    #[arg(long, value_name = "NAME=TEXT,…")]
    pub set_string: Vec<String>,
    /// Properties whose values are the texts of files, like key=./key.pem. May be repeated. Overrides --set-string.
    #[arg(long, value_name = "NAME=FILE,…")]
    pub set_file: Vec<String>,
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
        let lists = [
            &self.properties,
            &self.properties_file,
            &self.set_json,
            &self.set_string,
            &self.set_file,
        ];
        lists.iter().any(|list| !list.is_empty()) || !self.params.is_empty()
    }

    /// All of them, merged: `more` files after those of the flags.
    pub fn merged(&self, more: &[String]) -> Result<Map<String, Value>, Failure> {
        let mut all = Map::new();
        for file in self.properties_file.iter().chain(more) {
            merge(&mut all, read_properties(file)?);
        }
        for text in &self.set_json {
            match text.trim_start().starts_with('{') {
                true => merge(&mut all, object(text)?),
                false => properties::merge_as(Values::Json, &mut all, text)?,
            }
        }
        for text in &self.properties {
            properties::merge(&mut all, text)?;
        }
        for text in &self.set_string {
            properties::merge_as(Values::Texts, &mut all, text)?;
        }
        for text in &self.set_file {
            for (path, file) in properties::items(Values::Texts, text)? {
                let file = file.as_str().unwrap_or_default();
                properties::insert(&mut all, &path, Value::String(read_text(file)?));
            }
        }
        for (name, value) in &self.params {
            all.insert(name.clone(), Value::from(value.as_str()));
        }
        Ok(all)
    }
}

fn object(text: &str) -> Result<Map<String, Value>, Failure> {
    serde_json::from_str(text)
        .map_err(|error| Failure::usage(format!("--set-json: this is not a JSON object: {error}")))
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
            ..PropertyFlags::default()
        };
        let more = [file("three.json", r#"{"e": 5}"#)];
        let merged = flags.merged(&more).unwrap();
        let expected = json!({"a": {"b": 2, "c": "flag"}, "l": [2], "d": "1,e=2", "e": 5});
        assert_eq!(Value::Object(merged), expected);
    }

    #[test]
    fn values_are_json_typed_text_or_files_as_the_flag_says_and_later_flags_win() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key.pem");
        std::fs::write(&key, "line 1\nline 2\n").unwrap();
        let texts = |all: &[&str]| all.iter().map(|&text| text.to_owned()).collect();
        let flags = PropertyFlags {
            set_json: texts(&[
                r#"{"a": {"b": [1]}, "c": 1}"#,
                r#"d={"e": null},f=[1,2],c="json""#,
            ]),
            properties: texts(&["c=2,a.g=true"]),
            set_string: texts(&["tag=1.10,id=007,none=null,list=[1\\,2]"]),
            set_file: vec![format!("tls.key={}", key.display())],
            ..PropertyFlags::default()
        };
        let expected = json!({
            "a": {"b": [1], "g": true}, "c": 2, "d": {"e": null}, "f": [1, 2],
            "tag": "1.10", "id": "007", "none": "null", "list": "[1,2]",
            "tls": {"key": "line 1\nline 2\n"},
        });
        assert_eq!(Value::Object(flags.merged(&[]).unwrap()), expected);
    }

    #[test]
    fn a_value_that_is_no_json_and_a_file_that_is_not_there_are_refused() {
        let refused = |flags: PropertyFlags| flags.merged(&[]).unwrap_err().to_string();
        for text in ["a=b", "{\"a\": ", "a=[1"] {
            let error = refused(PropertyFlags {
                set_json: vec![text.to_owned()],
                ..PropertyFlags::default()
            });
            assert!(error.contains("JSON"), "{text}: {error}");
        }
        let error = refused(PropertyFlags {
            set_file: vec!["a=no-such-file".to_owned()],
            ..PropertyFlags::default()
        });
        assert!(error.contains("no-such-file"), "{error}");
    }
}
