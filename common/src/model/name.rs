//! Names that callers choose. Each kind is a type of its own, so that one cannot be used in place of another.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a text is not a name: the kind of name, the text (clipped), and the rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{noun} {text:?} is not valid: {rule}")]
pub struct NameError {
    noun: &'static str,
    text: String,
    rule: &'static str,
}

/// An error clips a quoted text that is longer than this.
const QUOTED_CHARS: usize = 80;

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $noun:literal, $valid:path, $rule:expr, $pattern:expr, $longest:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(extend("pattern" = $pattern, "maxLength" = $longest))]
        pub struct $type(String);

        impl $type {
            /// Accepts the text if it follows the rule of this kind of name.
            ///
            /// # Errors
            /// It does not. The error says the rule.
            pub fn parse(text: impl Into<String>) -> Result<Self, NameError> {
                let text = text.into();
                if $valid(&text) {
                    return Ok(Self(text));
                }
                Err(NameError { noun: $noun, text: text.chars().take(QUOTED_CHARS).collect(), rule: $rule })
            }

            /// The text, as it was given.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $type {
            type Error = NameError;
            fn try_from(text: String) -> Result<Self, NameError> {
                Self::parse(text)
            }
        }

        impl std::str::FromStr for $type {
            type Err = NameError;
            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::parse(text)
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> String {
                name.0
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

impl ClusterName {
    /// The cluster of the manager's own resourcifier.
    pub(super) fn own() -> Self {
        Self(super::cluster::DEFAULT_CLUSTER.to_owned())
    }
}

const LABEL_RULE: &str =
    "use 1 to 63 lower-case letters, digits and '-', with a letter or digit at both ends";
const TEXT_RULE: &str = "use 1 to 2048 characters, none of them a control character";
const RESOURCE_RULE: &str = "use 1 to 253 characters, none of them a control character";

const SUBDOMAIN_RULE: &str = "use 1 to 253 lower-case letters, digits, '-' and '.', with a letter or digit at both ends and around each '.'";

/// The longest names, in characters.
const LABEL_CHARS: usize = 63;
const SUBDOMAIN_CHARS: usize = 253;
const TEXT_CHARS: usize = 2048;
const RESOURCE_CHARS: usize = 253;

/// The rules as patterns, for the schemas of the API.
const LABEL_PATTERN: &str = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$";
const SUBDOMAIN_PATTERN: &str =
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
const TEXT_PATTERN: &str = r"^[^\x00-\x1f\x7f-\x9f]{1,2048}$";
const RESOURCE_PATTERN: &str = r"^[^\x00-\x1f\x7f-\x9f]{1,253}$";

name!(
    /// A deployment: an RFC 1123 label, because it becomes the value of a label and part of a field manager's name in
    /// the cluster.
    DeploymentName, "deployment name", is_label, LABEL_RULE, LABEL_PATTERN, LABEL_CHARS
);
name!(
    /// A manifest of a deployment. The manager chooses the name.
    ManifestName, "manifest name", is_label, LABEL_RULE, LABEL_PATTERN, LABEL_CHARS
);
name!(
    /// An operation. The manager chooses the id.
    OperationId, "operation id", is_label, LABEL_RULE, LABEL_PATTERN, LABEL_CHARS
);
name!(
    /// A Kubernetes namespace (RFC 1123 label).
    Namespace, "namespace", is_label, LABEL_RULE, LABEL_PATTERN, LABEL_CHARS
);
name!(
    /// A service account of a deployment's namespace (RFC 1123 subdomain).
    ServiceAccountName, "service account", is_subdomain, SUBDOMAIN_RULE, SUBDOMAIN_PATTERN, SUBDOMAIN_CHARS
);
name!(
    /// A stored Template object (RFC 1123 subdomain).
    TemplateName, "template name", is_subdomain, SUBDOMAIN_RULE, SUBDOMAIN_PATTERN, SUBDOMAIN_CHARS
);
name!(
    /// A registered template registry. References to its templates start with it.
    RegistryName, "registry name", is_label, LABEL_RULE, LABEL_PATTERN, LABEL_CHARS
);
name!(
    /// The credential of a registry.
    CredentialName, "credential name", is_label, LABEL_RULE, LABEL_PATTERN, LABEL_CHARS
);
name!(
    /// A cluster that deployments are applied to.
    ClusterName, "cluster name", is_label, LABEL_RULE, LABEL_PATTERN, LABEL_CHARS
);
name!(
    /// A resource in the list of one configuration or template. Free text: Kubernetes has rules only for the name of
    /// the object.
    ResourceName, "resource name", is_resource, RESOURCE_RULE, RESOURCE_PATTERN, RESOURCE_CHARS
);
name!(
    /// The type of a resource: the name of an import, a template reference or a Kubernetes kind.
    TypeName, "type", is_text, TEXT_RULE, TEXT_PATTERN, TEXT_CHARS
);

/// RFC 1123 subdomain: labels of any length with dots between them, 253 characters in all.
fn is_subdomain(text: &str) -> bool {
    let is_alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_part = |part: &str| {
        part.starts_with(is_alphanumeric)
            && part.ends_with(is_alphanumeric)
            && part.chars().all(|c| is_alphanumeric(c) || c == '-')
    };
    text.len() <= SUBDOMAIN_CHARS && text.split('.').all(is_part)
}

/// RFC 1123 label, as Kubernetes checks it.
fn is_label(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    (1..=LABEL_CHARS).contains(&bytes.len())
        && bytes.iter().all(|&b| inner(b) || b == b'-')
        && bytes.first().is_some_and(|&b| inner(b))
        && bytes.last().is_some_and(|&b| inner(b))
}

fn is_text(text: &str) -> bool {
    !text.is_empty() && text.chars().count() <= TEXT_CHARS && !text.chars().any(char::is_control)
}

fn is_resource(text: &str) -> bool {
    is_text(text) && text.chars().count() <= RESOURCE_CHARS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deployment_name_is_an_rfc_1123_label() {
        for good in ["web", "a", "0", "a-b-1", &"x".repeat(63)] {
            assert!(DeploymentName::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "-a",
            "a-",
            "A",
            "a.b",
            "a/b",
            "ä",
            "a\0",
            &"x".repeat(64),
        ] {
            assert!(DeploymentName::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_refused_name_is_quoted_and_its_rule_told() {
        let error = DeploymentName::parse("Web\n").unwrap_err().to_string();
        assert_eq!(
            error,
            "deployment name \"Web\\n\" is not valid: use 1 to 63 lower-case letters, digits and '-', with a letter or digit at both ends"
        );
    }

    #[test]
    fn a_type_is_free_text_without_control_characters() {
        assert!(TypeName::parse("github.com/a/b/c:v1").is_ok());
        assert!(TypeName::parse("a\nb").is_err());
        assert!(TypeName::parse("").is_err());
    }
}
