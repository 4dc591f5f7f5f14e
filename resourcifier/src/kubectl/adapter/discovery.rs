//! Reads the kinds that a cluster serves from its discovery documents: all at once, or one group version after another
//! from servers before 1.26.

use std::time::Duration;

use futures::StreamExt;
use reqwest::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::kubectl::ServedKind;
use crate::kubectl::error::KubectlError;
use crate::kubectl::proxy::Proxy;
use crate::kubectl::proxy::request::{Request, version};

/// All groups in one document, if the server supports it.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
/// Legacy documents that are requested at the same time.
const AT_ONCE: usize = 16;

/// `/api` and `/apis`, in either form.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind")]
enum Document {
    #[serde(rename = "APIGroupDiscoveryList")]
    Aggregated { items: Vec<DiscoveredGroup> },
    #[serde(rename = "APIVersions")]
    Core { versions: Vec<String> },
    #[serde(rename = "APIGroupList")]
    Groups { groups: Vec<Group> },
}

#[derive(Debug, Deserialize)]
struct DiscoveredGroup {
    #[serde(default)]
    metadata: Metadata,
    /// The preferred version first.
    versions: Vec<DiscoveredVersion>,
}

#[derive(Debug, Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    name: String,
}

#[derive(Debug, Deserialize)]
struct DiscoveredVersion {
    version: String,
    #[serde(default)]
    resources: Vec<DiscoveredResource>,
    /// `Stale` if the server of an API service is unreachable.
    #[serde(default)]
    freshness: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DiscoveredResource {
    resource: String,
    response_kind: Option<ResponseKind>,
    scope: String,
    #[serde(default)]
    verbs: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct ResponseKind {
    kind: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    versions: Vec<GroupVersion>,
    preferred_version: Option<GroupVersion>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GroupVersion {
    group_version: String,
}

/// One group version in the legacy form.
#[derive(Debug, Deserialize)]
struct ResourceList {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Debug, Deserialize)]
struct Resource {
    name: String,
    kind: String,
    namespaced: bool,
    #[serde(default)]
    verbs: Vec<String>,
}

/// The kinds of one group, by version, the preferred version first.
type Versions = Vec<Vec<ServedKind>>;

/// Every kind, in the version that the cluster prefers.
pub async fn preferred(proxy: &Proxy, within: Duration) -> Result<Vec<ServedKind>, KubectlError> {
    let (core, groups) = tokio::try_join!(root(proxy, "api", within), root(proxy, "apis", within))?;
    Ok(core.into_iter().chain(groups).flat_map(best).collect())
}

/// Every kind in every version.
pub async fn all(proxy: &Proxy, within: Duration) -> Result<Vec<ServedKind>, KubectlError> {
    let (core, groups) = tokio::try_join!(root(proxy, "api", within), root(proxy, "apis", within))?;
    Ok(core.into_iter().chain(groups).flatten().flatten().collect())
}

/// The kinds of one version. Empty if the version is not served.
pub async fn of_version(
    proxy: &Proxy,
    api_version: &str,
    within: Duration,
) -> Result<Vec<ServedKind>, KubectlError> {
    let request = Request::new("discovery", Method::GET, &version(api_version))?;
    match fetch::<ResourceList>(proxy, request, within).await {
        Ok(list) => Ok(kinds_of(list, api_version)),
        Err(KubectlError::Object(_)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

async fn root(
    proxy: &Proxy,
    path: &'static str,
    within: Duration,
) -> Result<Vec<Versions>, KubectlError> {
    let request = Request::new("discovery", Method::GET, &[path])?.accepts(AGGREGATED);
    let groups: Vec<Vec<String>> = match fetch(proxy, request, within).await? {
        Document::Aggregated { items } => return Ok(items.into_iter().map(discovered).collect()),
        Document::Core { versions } => vec![versions],
        Document::Groups { groups } => groups.into_iter().map(in_order).collect(),
    };
    let calls = groups
        .into_iter()
        .map(|group| versions_of(proxy, group, within));
    let versions: Vec<_> = futures::stream::iter(calls)
        .buffered(AT_ONCE)
        .collect()
        .await;
    versions.into_iter().collect()
}

async fn versions_of(
    proxy: &Proxy,
    group: Vec<String>,
    within: Duration,
) -> Result<Versions, KubectlError> {
    let mut versions = Vec::new();
    for api_version in group {
        versions.push(of_version(proxy, &api_version, within).await?);
    }
    Ok(versions)
}

async fn fetch<T: DeserializeOwned>(
    proxy: &Proxy,
    request: Request,
    within: Duration,
) -> Result<T, KubectlError> {
    let answer = proxy.ask(&request, within).await?;
    serde_json::from_slice(&answer).map_err(|error| KubectlError::Malformed {
        call: request.call,
        reason: error.to_string(),
    })
}

/// The preferred version first.
fn in_order(group: Group) -> Vec<String> {
    let preferred = group.preferred_version.into_iter();
    let mut versions: Vec<GroupVersion> = preferred.chain(group.versions).collect();
    let first = versions.first().cloned();
    let mut is_first = true;
    versions.retain(|version| std::mem::take(&mut is_first) || Some(version) != first.as_ref());
    versions
        .into_iter()
        .map(|version| version.group_version)
        .collect()
}

fn discovered(group: DiscoveredGroup) -> Versions {
    let name = group.metadata.name;
    let versions = group.versions.into_iter().map(|version| {
        let api_version = match name.as_str() {
            "" => version.version,
            group => format!("{group}/{}", version.version),
        };
        if version.freshness == "Stale" {
            tracing::warn!(
                api_version,
                "the server of {api_version} is unreachable: its kinds are unknown"
            );
        }
        let kinds = version.resources.into_iter().filter_map(|resource| {
            Some(ServedKind {
                api_version: api_version.clone(),
                kind: resource.response_kind?.kind,
                namespaced: resource.scope == "Namespaced",
                applicable: is_applicable(&resource.verbs),
                resource: resource.resource,
            })
        });
        kinds.collect()
    });
    versions.collect()
}

/// Subresources, `deployments/scale`, are left out.
fn kinds_of(list: ResourceList, api_version: &str) -> Vec<ServedKind> {
    let resources = list
        .resources
        .into_iter()
        .filter(|resource| !resource.name.contains('/'));
    resources
        .map(|resource| ServedKind {
            api_version: api_version.to_owned(),
            kind: resource.kind,
            namespaced: resource.namespaced,
            applicable: is_applicable(&resource.verbs),
            resource: resource.name,
        })
        .collect()
}

fn is_applicable(verbs: &[String]) -> bool {
    verbs.iter().any(|verb| verb == "patch")
}

/// Each kind once: in the preferred version, or in the next version that has it.
fn best(versions: Versions) -> Vec<ServedKind> {
    let mut found: Vec<ServedKind> = Vec::new();
    for kind in versions.into_iter().flatten() {
        if !found.iter().any(|known| known.resource == kind.resource) {
            found.push(kind);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(kinds: Vec<ServedKind>) -> Vec<String> {
        let show = |kind: ServedKind| {
            let scope = if kind.namespaced {
                "in a namespace"
            } else {
                "of the cluster"
            };
            format!(
                "{}/{} {} {scope} {}",
                kind.api_version, kind.kind, kind.resource, kind.applicable
            )
        };
        kinds.into_iter().map(show).collect()
    }

    #[test]
    fn both_forms_of_discovery_say_the_same() {
        let resource = |resource, kind, verbs| json!({"resource": resource, "responseKind": {"group": "", "version": "", "kind": kind}, "scope": "Namespaced", "verbs": verbs, "subresources": [{"subresource": "status"}]});
        let document = json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": [{
            "metadata": {"name": "batch"},
            "versions": [
                {"version": "v1", "freshness": "Current", "resources": [resource("jobs", "Job", json!(["get", "patch"]))]},
                {"version": "v1beta1", "resources": [resource("jobs", "Job", json!(["get", "patch"])), resource("olds", "Old", json!(["get"]))]}]}]});
        let Ok(Document::Aggregated { items }) = serde_json::from_value(document) else {
            panic!("not understood");
        };
        let aggregated = items.into_iter().map(discovered).flat_map(best).collect();
        let legacy = |resources: serde_json::Value, api_version| {
            kinds_of(
                serde_json::from_value(json!({"resources": resources})).unwrap(),
                api_version,
            )
        };
        let jobs = json!({"name": "jobs", "kind": "Job", "namespaced": true, "verbs": ["patch"]});
        let status =
            json!({"name": "jobs/status", "kind": "Job", "namespaced": true, "verbs": ["patch"]});
        let olds = json!({"name": "olds", "kind": "Old", "namespaced": true, "verbs": ["get"]});
        let legacy = best(vec![
            legacy(json!([jobs, status]), "batch/v1"),
            legacy(json!([jobs, olds]), "batch/v1beta1"),
        ]);
        let expected = [
            "batch/v1/Job jobs in a namespace true",
            "batch/v1beta1/Old olds in a namespace false",
        ];
        assert_eq!(shown(aggregated), expected);
        assert_eq!(shown(legacy), expected);
    }

    #[test]
    fn the_preferred_version_of_a_group_comes_first() {
        let version =
            |version: &str| json!({"groupVersion": format!("x.dev/{version}"), "version": version});
        let group: Group = serde_json::from_value(json!({"name": "x.dev", "versions": [version("v2"), version("v1")], "preferredVersion": version("v1")})).unwrap();
        assert_eq!(in_order(group), ["x.dev/v1", "x.dev/v2"]);
    }
}
