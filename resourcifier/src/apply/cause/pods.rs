//! The pods that a workload makes of its present template. Those of earlier templates say nothing about it.

use std::time::Duration;

use serde_json::Value;

use crate::apply::object::change;
use crate::kubectl::{Kubectl, KubectlError, PageRequest, Query, ServedKind, object_ref};

/// Pods that are looked at: what holds up so many holds up the others too.
const LOOKED_AT: usize = 100;
const REVISION: &str = "deployment.kubernetes.io/revision";
const TEMPLATE_HASH: &str = "pod-template-hash";

/// The pods of the object, or the pod that it is; none, if it makes none or none yet.
pub async fn of(
    kubectl: &dyn Kubectl,
    live: &Value,
    within: Duration,
) -> Result<Vec<Value>, KubectlError> {
    let object = object_ref(live);
    if (object.group(), object.kind.as_str()) == ("", "Pod") {
        return Ok(vec![live.clone()]);
    }
    let Some(mut selector) = selector(live) else {
        return Ok(Vec::new());
    };
    let look = Look {
        kubectl,
        namespace: object.namespace.as_deref(),
        within,
    };
    if object.kind == "Deployment" {
        match look.template_hash(live, &selector).await? {
            Some(hash) => selector.push_str(&format!(",{TEMPLATE_HASH}={hash}")),
            None => return Ok(Vec::new()),
        }
    }
    let mut pods = look.list("v1", "Pod", "pods", &selector).await?;
    pods.retain(|pod| is_of_template(pod, live) && !change::is_terminating(pod));
    Ok(pods)
}

struct Look<'a> {
    kubectl: &'a dyn Kubectl,
    namespace: Option<&'a str>,
    within: Duration,
}

impl Look<'_> {
    async fn list(
        &self,
        api_version: &str,
        kind: &str,
        resource: &str,
        selector: &str,
    ) -> Result<Vec<Value>, KubectlError> {
        let kind = ServedKind {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            resource: resource.to_owned(),
            namespaced: true,
            applicable: true,
        };
        let query = Query {
            kind: &kind,
            namespace: self.namespace,
            selector: Some(selector),
            metadata_only: kind.kind == "ReplicaSet",
        };
        let request = PageRequest {
            limit: LOOKED_AT,
            after: None,
        };
        Ok(self.kubectl.list(query, request, self.within).await?.items)
    }

    /// What tells the pods of a Deployment's newest ReplicaSet.
    async fn template_hash(
        &self,
        deployment: &Value,
        selector: &str,
    ) -> Result<Option<String>, KubectlError> {
        let sets = self
            .list("apps/v1", "ReplicaSet", "replicasets", selector)
            .await?;
        let revision = |object: &Value| object["metadata"]["annotations"][REVISION].clone();
        let is_owned = |set: &&Value| {
            let mut owners = set["metadata"]["ownerReferences"]
                .as_array()
                .into_iter()
                .flatten();
            owners.any(|owner| owner["uid"] == deployment["metadata"]["uid"])
        };
        let newest = sets
            .iter()
            .filter(is_owned)
            .find(|set| revision(set) == revision(deployment));
        let hash = newest.and_then(|set| set["metadata"]["labels"][TEMPLATE_HASH].as_str());
        Ok(hash.map(str::to_owned))
    }
}

/// The labels of the pods, as a selector.
fn selector(live: &Value) -> Option<String> {
    let selector = &live["spec"]["selector"];
    let labels = match live["kind"].as_str()? {
        "ReplicationController" => selector.as_object()?,
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "Job" => {
            selector["matchLabels"].as_object()?
        }
        _ => return None,
    };
    let pairs: Vec<String> = labels
        .iter()
        .filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)))
        .collect();
    (!pairs.is_empty()).then(|| pairs.join(","))
}

/// Whether a pod of a set has its present template, as far as the objects show it.
fn is_of_template(pod: &Value, live: &Value) -> bool {
    let label = |key: &str| pod["metadata"]["labels"].get(key).cloned();
    let (wanted, found) = match live["kind"].as_str() {
        Some("StatefulSet") => (
            live["status"].get("updateRevision").cloned(),
            label("controller-revision-hash"),
        ),
        Some("DaemonSet") => (
            live["metadata"]["annotations"]
                .get("deprecated.daemonset.template.generation")
                .cloned(),
            label("pod-template-generation"),
        ),
        _ => return true,
    };
    wanted.is_none() || wanted == found
}
