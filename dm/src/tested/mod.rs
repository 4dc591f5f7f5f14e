//! A template's version with all that a test of it needs: its example, its schema, and the version before it.
//!
//! Read from a folder ([`folder`]) or asked for at a registry ([`registry`]). Refuses to know what is tested.

pub mod folder;
pub mod registry;

use common::model::Version;
use common::yaml::{self, Duplicates, Limits};
use serde_json::Value;

use crate::bundle::{Bundle, BundleError};

/// The configuration that deploys an instance, as the seed names it.
pub const EXAMPLE: &str = "example.yaml";

#[derive(Debug)]
pub struct Tested {
    /// What messages call it.
    pub shown: String,
    /// Unknown where a folder is not named for a version.
    pub version: Option<Version>,
    pub schema: Option<Value>,
    /// Its example, to be expanded with it; the reason, if there is none that can be.
    pub example: Result<Bundle, String>,
    pub previous: Option<Previous>,
}

/// The highest version below it.
#[derive(Debug)]
pub struct Previous {
    pub version: Version,
    pub schema: Option<Value>,
}

/// What a reference in an example must say to mean the version that is tested.
struct Meant<'a> {
    template: &'a str,
    version: Option<Version>,
    /// The template's file, for examples that name that.
    file: &'a str,
}

impl Meant<'_> {
    fn by(&self, type_name: &str) -> bool {
        if type_name == self.file {
            return true;
        }
        let last = type_name.rsplit('/').next().unwrap_or_default();
        let Some((template, version)) = last.split_once(':') else {
            return false;
        };
        // A reference means the highest patch: only MAJOR and MINOR tell.
        let minor = |version: Version| (version.major, version.minor);
        let is_version = match (self.version, version.parse()) {
            (Some(tested), Ok(named)) => minor(tested) == minor(named),
            (None, Ok(_)) => true,
            (_, Err(_)) => false,
        };
        template == self.template && is_version
    }

    fn missing(&self) -> String {
        let version = self.version.map(|version| format!(":{version}"));
        format!(
            "{EXAMPLE} has no resource of type {}{}",
            self.template,
            version.unwrap_or_default()
        )
    }
}

/// The types of a configuration's own resources.
fn types(configuration: &Value) -> Vec<&str> {
    let resources = configuration.get("resources").and_then(Value::as_array);
    let types = resources.into_iter().flatten();
    types
        .filter_map(|resource| resource.get("type")?.as_str())
        .collect()
}

fn parsed(shown: &str, text: &str) -> Result<Value, BundleError> {
    let document = yaml::read(text, &Limits::DEFAULT, Duplicates::Error);
    let document = document.map_err(|error| BundleError::Malformed {
        place: format!("{shown}:{}:{}", error.location.line, error.location.column),
        reason: error.kind.to_string(),
        excerpt: error.excerpt(),
    })?;
    Ok(document.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_means_the_tested_version_by_template_major_and_minor() {
        let meant = Meant {
            template: "redis",
            version: "v1.1.2".parse().ok(),
            file: "redis.jinja",
        };
        for (type_name, expected) in [
            ("redis:v1.1", true),
            ("own/redis:v1.1.0", true),
            ("redis.jinja", true),
            ("redis:v1", false),
            ("other:v1.1", false),
            ("Service", false),
        ] {
            assert_eq!(meant.by(type_name), expected, "{type_name}");
        }
    }
}
