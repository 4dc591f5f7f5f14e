//! The user of a request, as an authenticator found it.
//!
//! It goes to the API server in headers (`Impersonate-*`), so it is checked when it is made. A text that could end a
//! header, or that the API server would read as another name, is rejected.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::limits;
use super::name::Namespace;

/// A user as Kubernetes knows one: from a token review, a certificate, an OIDC token or a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Identity(Parts);

/// The parts of an identity before they are checked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Parts {
    /// The full name: `ann`, `system:serviceaccount:NAMESPACE:NAME`.
    pub user: String,
    /// Distinguishes users who had the same name one after the other. Absent if the authenticator has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// As the authenticator found them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Additions of authenticators, by key. Webhooks and policies of the cluster may read them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, Vec<String>>,
}

/// Why the parts are not a valid identity. The quoted text is clipped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// A part that no header can carry unchanged, or that is too long.
    #[error(
        "the {part} {text:?} of an identity is not valid: use 1 to {} bytes, no control characters, no blank at either end",
        limits::IDENTITY_TEXT_BYTES
    )]
    Text {
        /// `user`, `uid`, `group`, `extra key` or `extra value`.
        part: &'static str,
        /// The part, clipped to 80 characters.
        text: String,
    },
    /// Too many groups and extras for the headers of one request.
    #[error(
        "the identity of {user:?} is too large: its groups and extras may have at most {} bytes in total and {} entries",
        limits::IDENTITY_BYTES,
        limits::IDENTITY_TEXTS
    )]
    TooLarge {
        /// The full name.
        user: String,
    },
}

/// An error clips a quoted text that is longer than this.
const QUOTED_CHARS: usize = 80;

impl Identity {
    /// Accepts the parts if headers can carry them unchanged.
    ///
    /// # Errors
    /// A part is empty, too long, or has control characters or blanks at an end. Or there are too many parts.
    pub fn parse(parts: Parts) -> Result<Self, IdentityError> {
        let mut texts = 0;
        let mut bytes = 0;
        for (part, text) in parts.texts() {
            texts += 1;
            bytes += text.len();
            if !is_text(text) {
                let text = text.chars().take(QUOTED_CHARS).collect();
                return Err(IdentityError::Text { part, text });
            }
        }
        if texts > limits::IDENTITY_TEXTS || bytes > limits::IDENTITY_BYTES {
            return Err(IdentityError::TooLarge { user: parts.user });
        }
        Ok(Self(parts))
    }

    /// A service account, with the name and groups that the API server gives its tokens.
    pub fn of_service_account(namespace: &Namespace, name: &str) -> Result<Self, IdentityError> {
        Self::parse(Parts {
            user: format!("system:serviceaccount:{namespace}:{name}"),
            groups: vec![
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{namespace}"),
            ],
            ..Parts::default()
        })
    }

    /// The full name, as in [`Parts`].
    pub fn user(&self) -> &str {
        &self.0.user
    }

    /// Absent if the authenticator has none.
    pub fn uid(&self) -> Option<&str> {
        self.0.uid.as_deref()
    }

    /// As the authenticator found them.
    pub fn groups(&self) -> &[String] {
        &self.0.groups
    }

    /// Additions of authenticators, by key.
    pub fn extra(&self) -> &BTreeMap<String, Vec<String>> {
        &self.0.extra
    }
}

impl Parts {
    fn texts(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let groups = self.groups.iter().map(|group| ("group", group));
        let extra = self.extra.iter().flat_map(|(key, values)| {
            let values = values.iter().map(|value| ("extra value", value));
            std::iter::once(("extra key", key)).chain(values)
        });
        std::iter::once(("user", &self.user))
            .chain(self.uid.as_ref().map(|uid| ("uid", uid)))
            .chain(groups)
            .chain(extra)
    }
}

/// A header value loses blanks at its ends, and cannot contain control characters.
fn is_text(text: &str) -> bool {
    (1..=limits::IDENTITY_TEXT_BYTES).contains(&text.len())
        && !text.chars().any(char::is_control)
        && text.trim().len() == text.len()
}

impl TryFrom<Parts> for Identity {
    type Error = IdentityError;
    fn try_from(parts: Parts) -> Result<Self, IdentityError> {
        Self::parse(parts)
    }
}

impl From<Identity> for Parts {
    fn from(identity: Identity) -> Self {
        identity.0
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.user())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: serde_json::Value) -> Result<Identity, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn an_identity_is_written_as_it_is_read() {
        let whole = json!({
            "user": "jane@example.com", "uid": "7", "groups": ["dev", "system:authenticated"],
            "extra": {"example.com/Team": ["a b", "ü"]},
        });
        let identity = read(whole.clone()).unwrap();
        assert_eq!(serde_json::to_value(&identity).unwrap(), whole);
        assert_eq!(identity.to_string(), "jane@example.com");
    }

    #[test]
    fn what_a_header_would_not_carry_unchanged_is_no_identity() {
        let cases = [
            json!({"user": ""}),
            json!({"user": "a\r\nImpersonate-Group: system:masters"}),
            json!({"user": " a"}),
            json!({"user": "a", "uid": "b\u{0}"}),
            json!({"user": "a", "groups": ["b "]}),
            json!({"user": "a", "groups": ["x".repeat(2_000)]}),
            json!({"user": "a", "extra": {"k\n": ["v"]}}),
            json!({"user": "a", "extra": {"k": ["\u{85}"]}}),
            json!({"user": "a", "admin": true}),
        ];
        for case in cases {
            assert!(read(case.clone()).is_err(), "{case}");
        }
    }

    #[test]
    fn an_identity_is_bounded_as_a_whole() {
        let error = read(json!({"user": "a", "groups": vec!["g"; 2_000]})).unwrap_err();
        assert!(error.contains("too large"), "{error}");
        let error = read(json!({"user": "a", "groups": vec!["g".repeat(1_000); 100]})).unwrap_err();
        assert!(error.contains("too large"), "{error}");
    }

    #[test]
    fn a_service_account_has_the_groups_that_the_api_server_gives_it() {
        let namespace = Namespace::parse("shop").unwrap();
        let account = Identity::of_service_account(&namespace, "deployer").unwrap();
        assert_eq!(account.user(), "system:serviceaccount:shop:deployer");
        assert_eq!(
            account.groups(),
            ["system:serviceaccounts", "system:serviceaccounts:shop"]
        );
    }
}
