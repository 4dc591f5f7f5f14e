//! A registered template registry: where templates are, as an operator configures it.

pub mod credential;
pub mod scope;
pub mod version;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::name::CredentialName;

/// The protocol of a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RegistryType {
    /// A folder on the manager's machine.
    Directory,
    /// A repository, with git's own transports.
    Git,
    /// A repository on GitHub or GitHub Enterprise, with its REST API.
    Github,
    /// Files on a web server, listed in its `SHA256SUMS`.
    Http,
    /// Artifacts in an OCI registry.
    Oci,
    /// A repository of Helm charts, with an `index.yaml`.
    Helm,
}

impl RegistryType {
    /// In the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::Directory,
        Self::Git,
        Self::Github,
        Self::Http,
        Self::Oci,
        Self::Helm,
    ];

    /// The spelling in JSON and in flags.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::Git => "git",
            Self::Github => "github",
            Self::Http => "http",
            Self::Oci => "oci",
            Self::Helm => "helm",
        }
    }
}

impl fmt::Display for RegistryType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that names no type of registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a type of registry: use directory, git, github, http, oci or helm")]
pub struct RegistryTypeError(String);

impl FromStr for RegistryType {
    type Err = RegistryTypeError;

    fn from_str(text: &str) -> Result<Self, RegistryTypeError> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| RegistryTypeError(text.chars().take(80).collect()))
    }
}

/// The stored settings of a registry. They name its credential and do not contain it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RegistryDefinition {
    /// The protocol that it is read with.
    #[serde(rename = "type")]
    pub registry_type: RegistryType,
    /// The path of a directory, or a URL.
    #[schemars(length(min = 1))]
    pub url: String,
    /// The collection of references that name none. Default: the unnamed collection at the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collection: Option<String>,
    /// The credential that opens it. Absent: the registry is public.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<CredentialName>,
    /// The branch or tag of a repository. Default: its default branch.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The URL of the REST API of GitHub Enterprise. Default: `/api/v3` on the host of the URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_url: Option<String>,
    /// Public keys of minisign, or of P-256 in PEM. If there are any, only templates with a signature of one of them
    /// are used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub public_keys: Vec<String>,
}

impl RegistryDefinition {
    /// A public registry with its templates at the root.
    pub fn new(registry_type: RegistryType, url: impl Into<String>) -> Self {
        Self {
            registry_type,
            url: url.into(),
            collection: None,
            credential: None,
            reference: None,
            api_url: None,
            public_keys: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_spelled_the_same_everywhere() {
        for kind in RegistryType::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        assert!("svn".parse::<RegistryType>().is_err());
    }

    #[test]
    fn a_definition_needs_a_type_and_a_url_only() {
        let text = r#"{"type":"http","url":"https://host/r"}"#;
        let read: RegistryDefinition = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        let misspelt = r#"{"type":"http","url":"x","credentials":"y"}"#;
        assert!(serde_json::from_str::<RegistryDefinition>(misspelt).is_err());
    }
}
