//! The identity of a request to the API server.
//!
//! Every request has the credentials of the kubeconfig. A request for a user also has impersonation headers, which
//! `kubectl proxy` passes on. They are never on a command line. The API server checks the permissions of the
//! impersonated user.
//!
//! The user agent contains the operation of the request, so that the API server's audit log shows it.

use common::model::{Identity, OperationId};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, USER_AGENT};

use super::error::KubectlError;

const USER: HeaderName = HeaderName::from_static("impersonate-user");
const UID: HeaderName = HeaderName::from_static("impersonate-uid");
const GROUP: HeaderName = HeaderName::from_static("impersonate-group");
const EXTRA: &str = "impersonate-extra-";
const AGENT: &str = concat!("resourcifier/", env!("CARGO_PKG_VERSION"));
/// The characters to encode in the name of a header. The API server converts names to lower case and then decodes them,
/// so an upper-case letter must be encoded.
const ENCODED: &AsciiSet = &with_capitals(NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_'));

const fn with_capitals(mut set: AsciiSet) -> AsciiSet {
    let mut letter = b'A';
    while letter <= b'Z' {
        set = set.add(letter);
        letter += 1;
    }
    set
}

/// The user of a request.
#[derive(Debug, Clone)]
pub struct Caller {
    headers: HeaderMap,
    identity: Option<Identity>,
}

impl Caller {
    /// The service itself, with the permissions of its kubeconfig.
    pub fn itself() -> Self {
        Self {
            headers: HeaderMap::from_iter([(USER_AGENT, HeaderValue::from_static(AGENT))]),
            identity: None,
        }
    }

    pub fn new(identity: Identity) -> Result<Self, KubectlError> {
        let mut headers = Self::itself().headers;
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

    /// Adds the operation to every request from now on.
    ///
    /// # Errors
    /// Never for an operation's id: it is a label.
    pub fn working_on(mut self, operation: &OperationId) -> Result<Self, KubectlError> {
        let agent = format!("{AGENT} (operation {operation})");
        self.headers.insert(USER_AGENT, value(&agent)?);
        Ok(self)
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

/// Identities are checked when they are made, so this is a fault of that check.
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
        let caller = Caller::new(identity).unwrap();
        let lines = caller.headers.iter();
        lines
            .filter(|(name, _)| **name != USER_AGENT)
            .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
            .collect()
    }

    #[test]
    fn an_identity_is_told_in_headers_as_the_api_server_reads_them() {
        let reported = headers(json!({
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
        assert_eq!(reported, expected);
    }

    #[test]
    fn the_service_itself_is_nobody_else() {
        let names: Vec<_> = Caller::itself().headers.into_iter().collect();
        assert_eq!(names, [(Some(USER_AGENT), HeaderValue::from_static(AGENT))]);
    }

    #[test]
    fn a_request_names_the_operation_that_it_is_part_of() {
        let operation = OperationId::parse("op-1").unwrap();
        let caller = Caller::itself().working_on(&operation).unwrap();
        let agents: Vec<_> = caller.headers.get_all(USER_AGENT).iter().collect();
        assert_eq!(agents.len(), 1);
        let agent = agents[0].to_str().unwrap();
        assert!(agent.ends_with(" (operation op-1)"), "{agent}");
    }
}
