//! One request to the API server. It can be sent again.

use std::time::Duration;

use bytes::Bytes;
use common::model::ObjectRef;
use reqwest::{Method, Url};
use serde_json::Value;

use crate::kubectl::error::{KubectlError, ObjectError, ObjectFault};
use crate::kubectl::{ServedKind, is_segment};

/// The host is the socket. `kubectl proxy` accepts only requests with this host name.
const BASE: &str = "http://localhost/";

#[derive(Debug, Clone)]
pub struct Request {
    /// Its description in errors and logs.
    pub call: &'static str,
    pub method: Method,
    pub url: Url,
    pub accept: &'static str,
    pub content_type: &'static str,
    pub body: Bytes,
    /// The maximum size of an answer.
    pub limit: usize,
}

/// A large object has 1.5 MiB, and a page of a list has many objects.
pub const ANSWER_BYTES: usize = 32 * 1024 * 1024;
/// Reviews are virtual objects: they are not stored.
const AUTHENTICATION_PATH: &str = "/apis/authentication.k8s.io/";
const AUTHORIZATION_PATH: &str = "/apis/authorization.k8s.io/";
const JSON: &str = "application/json";

impl Request {
    /// The path segments and the query are encoded here.
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

    /// A request to one object.
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

    /// Whether it changes an object. A review and a dry run do not.
    pub fn is_write(&self) -> bool {
        let is_review = self.url.path().starts_with(AUTHENTICATION_PATH)
            || self.url.path().starts_with(AUTHORIZATION_PATH);
        let is_dry_run = self.url.query_pairs().any(|(name, _)| name == "dryRun");
        self.method != Method::GET && !is_review && !is_dry_run
    }

    /// Identifies the call: the API server runs two equal calls one after the other.
    pub fn key(&self) -> String {
        format!("{} {}", self.method, self.url.path())
    }

    /// The API server cancels the request after this long, also if no client waits for the answer any more.
    pub fn timed(mut self, within: Duration) -> Self {
        let within = format!("{}ms", within.as_millis().max(1));
        self.url.query_pairs_mut().append_pair("timeout", &within);
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

/// The path of the objects of a kind, in one namespace or in all.
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

#[cfg(test)]
mod tests {
    use common::api::deployer::Policies;
    use common::api::error::ErrorBody;
    use common::model::{DeploymentName, Namespace, Resource};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::plan::{self, Catalog, Desired};

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
        for name in ["..", ".", "", "a/b", "%2e%2e", "a\tb", "a\nb", "a\0"] {
            let url = url("v1", true, Some("home"), name);
            assert!(url.ends_with("is not the name of an object"), "{url}");
        }
    }

    /// Names that lead elsewhere, are ambiguous, or are not names, and some that are valid.
    fn hostile() -> impl Strategy<Value = String> {
        let known = [
            "a",
            "a-b",
            "A b",
            "",
            ".",
            "..",
            "../b",
            "a/../b",
            "a/b",
            "%2e%2e",
            "%2F",
            "a?b",
            "a#b",
            "a;b",
            "a\\b",
            "a\tb",
            "a\nb",
            "a\r",
            "\0",
            "\u{85}",
            "ä",
            "\u{2044}",
            "\u{ff0f}",
            "system:a",
            "@",
            "//",
            "a&b=c",
            "$(ref.a.metadata.name)",
            "$(ref.b.metadata.namespace)",
        ];
        let known = proptest::sample::select(known.to_vec()).prop_map(str::to_owned);
        let long = (250..260usize).prop_map(|length| "x".repeat(length));
        prop_oneof![4 => known, 1 => ".{0,6}", 1 => "[./%a]{0,6}", 1 => long]
    }

    /// The paths of the objects in a configuration, if it can be planned.
    fn paths(resources: &Value) -> Result<Vec<(ObjectRef, String)>, ErrorBody> {
        let Ok(resources) = serde_json::from_value::<Vec<Resource>>(resources.clone()) else {
            return Ok(Vec::new());
        };
        let served = |api_version: &str, kind: &str, resource: &str| ServedKind {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            resource: resource.to_owned(),
            namespaced: true,
            applicable: true,
        };
        let definition = "CustomResourceDefinition";
        let definitions = served("apiextensions.k8s.io/v1", definition, "definitions");
        let mut catalog = Catalog::new(vec![served("v1", "ConfigMap", "configmaps"), definitions]);
        let desired = Desired {
            deployment: &DeploymentName::parse("web").unwrap(),
            namespace: &Namespace::parse("home").unwrap(),
            resources: &resources,
            outputs: &[],
            policies: Policies::default(),
        };
        let plan = plan::plan(desired, &catalog)?;
        resources
            .iter()
            .filter_map(|resource| resource.properties.as_ref())
            .for_each(|properties| catalog.add_definition(properties));
        let path = |node: plan::Node| {
            let kind = catalog.current(&node.object).unwrap();
            let request = Request::of_object("test", Method::GET, kind, &node.object).unwrap();
            (node.object, request.url.path().to_owned())
        };
        Ok(plan.nodes.into_iter().map(path).collect())
    }

    proptest! {
        /// Replaces each text of a configuration that becomes part of a path with a hostile one, one at a time.
        #[test]
        fn what_a_configuration_says_is_an_objects_own_path_or_an_error_with_its_place(
            place in 0..7usize,
            text in hostile(),
            other in hostile(),
        ) {
            let mut resources = json!([
                {"name": "a", "type": "ConfigMap", "properties": {"metadata": {"name": "one", "namespace": "n1"}}},
                {"name": "b", "type": "ConfigMap", "properties": {"metadata": {"namespace": "n2"}}},
                {"name": "c", "type": "CustomResourceDefinition", "properties": {"spec": {
                    "group": "g.example", "names": {"kind": "Thing", "plural": "things"}, "versions": [{"name": "v1"}]}}},
                {"name": "d", "type": "Thing"},
            ]);
            let places = [
                "/0/properties/metadata/name", "/0/properties/metadata/namespace", "/0/name",
                "/2/properties/spec/group", "/2/properties/spec/names/plural", "/2/properties/spec/versions/0/name",
                "/1/properties/metadata/namespace",
            ];
            *resources.pointer_mut(places[place]).unwrap() = json!(text);
            resources[1]["properties"]["metadata"]["name"] = json!(other);
            match paths(&resources) {
                Err(error) => {
                    let first = error.causes.first().unwrap_or(&error);
                    let placed = first.location.as_ref().and_then(|place| place.resource.as_ref());
                    prop_assert!(placed.is_some(), "{error:?}");
                }
                Ok(paths) => for (object, path) in paths {
                    let decoded = percent_encoding::percent_decode_str(&path).decode_utf8().unwrap().into_owned();
                    let group = if object.group().is_empty() { "/api" } else { "/apis" };
                    let namespace = object.namespace.as_deref().unwrap();
                    let whole = format!("{group}/{}/namespaces/{namespace}/", object.api_version);
                    let rest = decoded.strip_prefix(&whole).unwrap_or_else(|| panic!("{path} of {object}"));
                    let (_, name) = rest.split_once('/').unwrap();
                    prop_assert_eq!(name, &object.name);
                    prop_assert_eq!(path.matches('/').count(), whole.matches('/').count() + 1);
                    prop_assert!(Namespace::parse(namespace).is_ok());
                },
            }
        }
    }
}
