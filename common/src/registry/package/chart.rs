//! The `Chart.yaml` of a package: its name and its version. Other fields have no meaning here.

use super::PackageError;
use crate::model::Version;
use crate::yaml::{self, Duplicates, Limits};
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// Written like a template's version: `v` and the version of the file.
    pub version: String,
    parsed: Version,
    description: Option<String>,
}

impl Chart {
    /// `name` is the name of its folder.
    pub fn parse(text: &str, name: &str) -> Result<Self, String> {
        let read = yaml::read(text, &Limits::DEFAULT, Duplicates::Error);
        let Value::Object(map) = read.map_err(|error| error.to_string())?.value else {
            return Err("it must be a map like {name: redis, version: 0.1.0}".to_owned());
        };
        match map.get("name") {
            None | Some(Value::Null) => {}
            Some(Value::String(own)) if own == name => {}
            Some(other) => {
                return Err(format!(
                    "its name is {other}, but its folder is '{name}'; make them the same"
                ));
            }
        }
        let (version, parsed) = version(&map)?;
        let description = map.get("description").and_then(Value::as_str);
        Ok(Self {
            version,
            parsed,
            description: description.map(str::to_owned),
        })
    }

    pub fn number(&self) -> Version {
        self.parsed
    }

    /// Whether this is its version, in any spelling.
    pub fn is(&self, version: &str) -> bool {
        version.parse() == Ok(self.parsed)
    }

    /// The schema of the package, as YAML: it has no properties. `name` is the name of its folder.
    ///
    /// # Errors
    /// The description cannot be written as YAML.
    pub fn schema(&self, name: &str) -> Result<String, PackageError> {
        let mut info = Map::from_iter([("title".to_owned(), json!(name))]);
        let description = self.description.as_ref().map(|text| json!(text));
        info.extend(description.map(|text| ("description".to_owned(), text)));
        let schema = json!({"info": info, "properties": {}, "additionalProperties": false});
        yaml::write(&schema).map_err(|source| PackageError::Schema {
            name: name.to_owned(),
            source,
        })
    }
}

fn version(map: &Map<String, Value>) -> Result<(String, Version), String> {
    const RULE: &str = "write it like 0.1.0";
    let text = match map.get("version") {
        None | Some(Value::Null) => return Err(format!("it has no version; {RULE}")),
        Some(Value::String(text)) => text,
        // YAML would read 1.10 as 1.1.
        Some(Value::Number(number)) => {
            return Err(format!(
                "its version {number} is a number; {RULE}, or put it into quotes"
            ));
        }
        Some(_) => return Err(format!("its version is not text; {RULE}")),
    };
    let written = format!("v{}", text.strip_prefix('v').unwrap_or(text));
    match written.parse() {
        Ok(version) => Ok((written, version)),
        Err(_) => {
            let text: String = text.chars().take(80).collect();
            Err(format!("its version {text:?} is not valid; {RULE}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_written_as_a_templates() {
        for (text, version) in [
            ("name: redis\nversion: 0.1.0", "v0.1.0"),
            ("version: v1.2.3", "v1.2.3"),
            ("version: '1.10'", "v1.10"),
        ] {
            let chart = Chart::parse(text, "redis").unwrap();
            assert_eq!(chart.version, version, "{text}");
        }
        let chart = Chart::parse("version: 1.0.0", "redis").unwrap();
        assert!(chart.is("v1") && !chart.is("v1.0.1"));
    }

    #[test]
    fn what_does_not_describe_a_package_says_why() {
        for (text, reason) in [
            ("", "a map"),
            ("- a", "a map"),
            ("a: [", "line"),
            ("name: redis", "no version"),
            ("version:", "no version"),
            ("version: 1.1", "quotes"),
            ("version: [1]", "not text"),
            ("version: 1.0.0-beta", "\"1.0.0-beta\""),
            ("version: latest", "\"latest\""),
            ("name: other\nversion: 1.0.0", "folder is 'redis'"),
            ("name: 7\nversion: 1.0.0", "folder is 'redis'"),
        ] {
            let error = Chart::parse(text, "redis").unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
