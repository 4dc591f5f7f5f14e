//! One request to the API server, as it can be sent again.

use bytes::Bytes;
use common::model::ObjectRef;
use reqwest::{Method, Url};
use serde_json::Value;

use super::error::{KubectlError, ObjectError, ObjectFault};
use crate::plan::ServedKind;

/// The host is the socket; `kubectl proxy` accepts requests to this name only.
const BASE: &str = "http://localhost/";

#[derive(Debug, Clone)]
pub struct Request {
    /// What errors and logs call it.
    pub call: &'static str,
    pub method: Method,
    pub url: Url,
    pub accept: &'static str,
    pub content_type: &'static str,
    pub body: Bytes,
    /// The most bytes of an answer.
    pub limit: usize,
}

/// A large object has 1.5 MiB, and a page of a list many of them.
pub const ANSWER_BYTES: usize = 32 * 1024 * 1024;
const JSON: &str = "application/json";

impl Request {
    /// Path segments and query are encoded here.
    pub fn new(
        call: &'static str,
        method: Method,
        segments: &[&str],
    ) -> Result<Self, KubectlError> {
        if let Some(segment) = segments.iter().find(|segment| !is_segment(segment)) {
            return Err(KubectlError::Object(ObjectError {
                fault: ObjectFault::Refused,
                text: format!("{segment:?} is not the name of an object"),
                causes: Vec::new(),
            }));
        }
        let malformed = |reason: &str| KubectlError::Malformed {
            call,
            reason: reason.to_owned(),
        };
        let mut url = Url::parse(BASE).map_err(|error| malformed(&error.to_string()))?;
        url.path_segments_mut()
            .map_err(|()| malformed("no path can be made"))?
            .pop_if_empty()
            .extend(segments);
        Ok(Self {
            call,
            method,
            url,
            accept: JSON,
            content_type: JSON,
            body: Bytes::new(),
            limit: ANSWER_BYTES,
        })
    }

    /// To one object.
    pub fn of_object(
        call: &'static str,
        method: Method,
        kind: &ServedKind,
        object: &ObjectRef,
    ) -> Result<Self, KubectlError> {
        let mut segments = collection(kind, object.namespace.as_deref());
        segments.push(&object.name);
        Self::new(call, method, &segments)
    }

    pub fn query(mut self, name: &str, value: &str) -> Self {
        self.url.query_pairs_mut().append_pair(name, value);
        self
    }

    pub fn accepts(mut self, accept: &'static str) -> Self {
        self.accept = accept;
        self
    }

    pub fn body(mut self, content_type: &'static str, body: &Value) -> Self {
        self.content_type = content_type;
        self.body = Bytes::from(body.to_string());
        self
    }
}

/// The path of a kind's objects, in one namespace or in all.
pub fn collection<'a>(kind: &'a ServedKind, namespace: Option<&'a str>) -> Vec<&'a str> {
    let mut segments = version(&kind.api_version);
    if let Some(namespace) = namespace.filter(|_| kind.namespaced) {
        segments.extend(["namespaces", namespace]);
    }
    segments.push(&kind.resource);
    segments
}

/// The path of one version of a group.
pub fn version(api_version: &str) -> Vec<&str> {
    match api_version.split_once('/') {
        Some((group, version)) => vec!["apis", group, version],
        None => vec!["api", api_version],
    }
}

/// Kubernetes' own rule for names in paths; what breaks it would mean another path.
fn is_segment(text: &str) -> bool {
    !matches!(text, "" | "." | "..") && !text.contains(['/', '%'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(api_version: &str, namespaced: bool, namespace: Option<&str>, name: &str) -> String {
        let kind = ServedKind {
            api_version: api_version.to_owned(),
            kind: "Thing".to_owned(),
            resource: "things".to_owned(),
            namespaced,
            applicable: true,
        };
        let object = ObjectRef {
            api_version: api_version.to_owned(),
            kind: "Thing".to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        };
        match Request::of_object("test", Method::GET, &kind, &object) {
            Ok(request) => request.url.path().to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn objects_have_the_paths_that_kubernetes_gives_them() {
        let cases = [
            (
                url("v1", true, Some("home"), "a"),
                "/api/v1/namespaces/home/things/a",
            ),
            (url("v1", false, None, "a"), "/api/v1/things/a"),
            (
                url("x.dev/v2", true, Some("home"), "a"),
                "/apis/x.dev/v2/namespaces/home/things/a",
            ),
            (
                url("x.dev/v2", false, None, "system:a b"),
                "/apis/x.dev/v2/things/system:a%20b",
            ),
        ];
        for (url, expected) in cases {
            assert_eq!(url, expected);
        }
    }

    #[test]
    fn a_name_never_leads_to_another_path() {
        for name in ["..", ".", "", "a/b", "%2e%2e"] {
            let url = url("v1", true, Some("home"), name);
            assert!(url.ends_with("is not the name of an object"), "{url}");
        }
    }
}
