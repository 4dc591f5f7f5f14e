//! A credential opens a registry that is not public.
//!
//! It goes from its owner to the manager, and never back. It cannot be printed: [`Secret`] prints as `***`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::limits::SECRET_BYTES;

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
#[schemars(extend("pattern" = r"\S", "maxLength" = SECRET_BYTES))]
pub struct Secret(String);

impl Secret {
    /// Accepts every text. Its limits are checked where it is received.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the code that sends or seals it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// `POST /credentials/{c}`: one of `{"token": …}`, `{"basic": {"username", "password"}}`, `{"serviceAccount": "<key file>"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Credential {
    /// Sent as a bearer token.
    #[schemars(title = "TokenCredential")]
    Token(Secret),
    /// Sent as a user name and a password.
    #[schemars(title = "BasicCredential")]
    Basic {
        /// Without `:`, at most 255 characters.
        #[schemars(extend("pattern" = "^[^:]{1,255}$"))]
        username: String,
        /// Never returned.
        password: Secret,
    },
    /// The text of a Google service account's key file. It is exchanged for tokens that are valid for an hour.
    #[schemars(title = "ServiceAccountCredential")]
    ServiceAccount(Secret),
}

/// Which kind of secret a credential holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CredentialType {
    /// A bearer token.
    Token,
    /// A user name and a password.
    Basic,
    /// The key file of a Google service account.
    ServiceAccount,
}

impl CredentialType {
    /// The spelling in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Basic => "basic",
            Self::ServiceAccount => "serviceAccount",
        }
    }
}

impl Credential {
    /// Which of the three it is.
    pub const fn kind(&self) -> CredentialType {
        match self {
            Self::Token(_) => CredentialType::Token,
            Self::Basic { .. } => CredentialType::Basic,
            Self::ServiceAccount(_) => CredentialType::ServiceAccount,
        }
    }

    /// Only for a user name with a password.
    pub fn username(&self) -> Option<&str> {
        match self {
            Self::Basic { username, .. } => Some(username),
            Self::Token(_) | Self::ServiceAccount(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_not_shown_when_it_is_printed() {
        let all = [
            Credential::Token(Secret::new("s3cret")),
            Credential::Basic {
                username: "u".to_owned(),
                password: Secret::new("s3cret"),
            },
            Credential::ServiceAccount(Secret::new("s3cret")),
        ];
        for credential in all {
            assert!(!format!("{credential:?}").contains("s3cret"));
            assert!(!format!("{credential:#?}").contains("s3cret"));
        }
    }

    #[test]
    fn a_credential_is_of_exactly_one_type() {
        let read = |text: &str| serde_json::from_str::<Credential>(text);
        assert_eq!(
            read(r#"{"token":"t"}"#).unwrap(),
            Credential::Token(Secret::new("t"))
        );
        assert!(read(r#"{"basic":{"username":"u","password":"p"}}"#).is_ok());
        assert!(read(r#"{"serviceAccount":"{}"}"#).is_ok());
        for bad in ["{}", r#"{"key":"x"}"#, r#"{"token":"t","basic":null}"#] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
