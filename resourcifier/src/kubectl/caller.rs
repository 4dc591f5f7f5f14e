//! In whose name a request reaches the API server.
//!
//! The kubeconfig's own credentials carry every request; in somebody's name it has impersonation headers besides, which
//! `kubectl proxy` passes on. They are never on a command line, and the API server decides by the named one's rights.

use common::model::Identity;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::error::KubectlError;

const USER: HeaderName = HeaderName::from_static("impersonate-user");
const UID: HeaderName = HeaderName::from_static("impersonate-uid");
const GROUP: HeaderName = HeaderName::from_static("impersonate-group");
const EXTRA: &str = "impersonate-extra-";
/// What is encoded in the name of a header. The API server reads names in lower case and then decodes them: a capital
/// letter survives only encoded.
const ENCODED: &AsciiSet = &with_capitals(NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_'));

const fn with_capitals(mut set: AsciiSet) -> AsciiSet {
    let mut letter = b'A';
    while letter <= b'Z' {
        set = set.add(letter);
        letter += 1;
    }
    set
}

/// Whom a request is made for.
#[derive(Debug, Clone)]
pub struct Caller {
    headers: HeaderMap,
    identity: Option<Identity>,
}

impl Caller {
    /// The service itself: what its kubeconfig may do.
    pub fn itself() -> Self {
        Self {
            headers: HeaderMap::new(),
            identity: None,
        }
    }

    pub fn of(identity: Identity) -> Result<Self, KubectlError> {
        let mut headers = HeaderMap::new();
        headers.append(USER, value(identity.user())?);
        if let Some(uid) = identity.uid() {
            headers.append(UID, value(uid)?);
        }
        for group in identity.groups() {
            headers.append(GROUP, value(group)?);
        }
        for (key, values) in identity.extra() {
            for text in values {
                headers.append(name(key)?, value(text)?);
            }
        }
        Ok(Self {
            headers,
            identity: Some(identity),
        })
    }

    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// `None` for the service itself.
    pub fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }
}

fn value(text: &str) -> Result<HeaderValue, KubectlError> {
    HeaderValue::from_bytes(text.as_bytes()).map_err(|_| unfit(text))
}

fn name(key: &str) -> Result<HeaderName, KubectlError> {
    let encoded = format!("{EXTRA}{}", utf8_percent_encode(key, ENCODED));
    HeaderName::from_bytes(encoded.as_bytes()).map_err(|_| unfit(key))
}

/// Identities are checked where they are made: this is a fault of that check.
fn unfit(text: &str) -> KubectlError {
    KubectlError::Malformed {
        call: "impersonation",
        reason: format!("{text:?} cannot be sent in a header"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn headers(identity: serde_json::Value) -> Vec<String> {
        let identity = serde_json::from_value(identity).unwrap();
        let caller = Caller::of(identity).unwrap();
        let lines = caller.headers.iter();
        lines
            .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
            .collect()
    }

    #[test]
    fn an_identity_is_told_in_headers_as_the_api_server_reads_them() {
        let told = headers(json!({
            "user": "jane", "uid": "7", "groups": ["dev", "système"],
            "extra": {"example.com/Team": ["a", "b"], "scopes": ["x y"], "é": ["1"]},
        }));
        let expected = [
            "impersonate-user: jane",
            "impersonate-uid: 7",
            "impersonate-group: dev",
            "impersonate-group: système",
            "impersonate-extra-example.com%2f%54eam: a",
            "impersonate-extra-example.com%2f%54eam: b",
            "impersonate-extra-scopes: x y",
            "impersonate-extra-%c3%a9: 1",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn the_service_itself_is_nobody_else() {
        assert!(Caller::itself().headers().is_empty());
    }
}
