//! Values that templates make up: passwords, keys, names.
//!
//! Such a value is made once and kept with the deployment's manifest, so that every later expansion uses it again.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::manifest::layout::LayoutPath;
use crate::model::name::ResourceName;

/// What comes before the name of a value that the template of a service binding has from that of its instance.
pub const INHERITED: &str = "instance:";

/// One value, and where it belongs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GeneratedValue {
    /// The names of the template instance and of those around it, outermost first. They find the value again: a path would
    /// change with every resource that is added before it.
    pub instance: Vec<ResourceName>,
    /// Where the instance stood in the layout when the value was used last.
    pub path: LayoutPath,
    /// What the template calls it: a parameter, a key, or the place of a call.
    pub name: String,
    /// As the template made it.
    pub value: Value,
    /// Whether answers hide it.
    #[serde(default)]
    pub secret: bool,
}

/// Which values are made again: `PATH` or `PATH.NAME`, such as `$.resources[0].PASSWORD`. The path `$` is all instances.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Regenerate {
    /// `$` for all instances.
    pub path: LayoutPath,
    /// None: all values of the instance.
    pub name: Option<String>,
}

/// A text that names no values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} names no generated values: write a path of the layout, with a parameter's name or without, like $.resources[0].PASSWORD"
)]
pub struct RegenerateError(String);

impl Regenerate {
    /// Whether the value is made again.
    pub fn names(&self, value: &GeneratedValue) -> bool {
        let is_there = self.path == LayoutPath::root() || self.path == value.path;
        is_there && self.name.as_ref().is_none_or(|name| *name == value.name)
    }
}

impl FromStr for Regenerate {
    type Err = RegenerateError;

    fn from_str(text: &str) -> Result<Self, RegenerateError> {
        let refused = || RegenerateError(text.chars().take(80).collect());
        // The name follows the last step, and no step ends without a bracket.
        let end = text.rfind(']').map_or(1, |bracket| bracket + 1);
        let (path, rest) = text.split_at_checked(end).ok_or_else(refused)?;
        let path = LayoutPath::parse(path).map_err(|_| refused())?;
        let name = match rest.strip_prefix('.') {
            Some(name) if !name.is_empty() => Some(name.to_owned()),
            None if rest.is_empty() => None,
            _ => return Err(refused()),
        };
        Ok(Self { path, name })
    }
}

impl fmt::Display for Regenerate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.fmt(f)?;
        self.name.iter().try_for_each(|name| write!(f, ".{name}"))
    }
}

impl TryFrom<String> for Regenerate {
    type Error = RegenerateError;

    fn try_from(text: String) -> Result<Self, RegenerateError> {
        text.parse()
    }
}

impl From<Regenerate> for String {
    fn from(one: Regenerate) -> String {
        one.to_string()
    }
}

/// A query's parameter that may be repeated: several, with commas between.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Regenerates(#[schemars(with = "String")] pub Vec<Regenerate>);

impl Regenerates {
    /// Whether no value is made again.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl TryFrom<String> for Regenerates {
    type Error = RegenerateError;

    fn try_from(text: String) -> Result<Self, RegenerateError> {
        let parts = text.split(',').filter(|part| !part.is_empty());
        Ok(Self(parts.map(str::parse).collect::<Result<_, _>>()?))
    }
}

impl From<Regenerates> for String {
    fn from(all: Regenerates) -> String {
        let all: Vec<_> = all.0.iter().map(Regenerate::to_string).collect();
        all.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_named_by_a_path_and_a_name() {
        for (text, path, name) in [
            ("$", "$", None),
            ("$.resources[0]", "$.resources[0]", None),
            ("$.resources[0].PASS", "$.resources[0]", Some("PASS")),
            (
                "$.resources[1].resources[2].a.b",
                "$.resources[1].resources[2]",
                Some("a.b"),
            ),
            ("$.PASS", "$", Some("PASS")),
        ] {
            let read: Regenerate = text.parse().unwrap();
            assert_eq!(
                (read.path.to_string().as_str(), read.name.as_deref()),
                (path, name)
            );
            assert_eq!(read.to_string(), text);
        }
        for bad in [
            "",
            "PASS",
            "$.resources[0]PASS",
            "$.resources[0].",
            "$.resources[x].A",
            "é",
        ] {
            assert!(bad.parse::<Regenerate>().is_err(), "{bad}");
        }
    }

    #[test]
    fn several_have_commas_between() {
        let text = "$.resources[0].A,$.resources[1]";
        let read = Regenerates::try_from(text.to_owned()).unwrap();
        assert_eq!(read.0.len(), 2);
        assert_eq!(String::from(read), text);
    }
}
