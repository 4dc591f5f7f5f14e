//! The pods that a workload makes of its present template. Those of earlier templates say nothing about it.

use std::time::Duration;

use serde_json::Value;

use super::related::Related;
use crate::apply::object::change;
use crate::kubectl::{ClusterApi, KubectlError, object_ref};

const REVISION: &str = "deployment.kubernetes.io/revision";
const TEMPLATE_HASH: &str = "pod-template-hash";

/// The pods of the object, or the pod that it is; none, if it makes none or none yet.
pub async fn of(
    kubectl: &dyn ClusterApi,
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
    let related = Related {
        kubectl,
        namespace: object.namespace.as_deref(),
        within,
    };
    if object.kind == "Deployment" {
        match template_hash(&related, live, &selector).await? {
            Some(hash) => selector.push_str(&format!(",{TEMPLATE_HASH}={hash}")),
            None => return Ok(Vec::new()),
        }
    }
    let mut pods = related.list("v1", "Pod", "pods", Some(&selector)).await?;
    pods.retain(|pod| is_of_template(pod, live) && !change::is_terminating(pod));
    Ok(pods)
}

/// The hash by which the pods of a Deployment's newest ReplicaSet are found.
async fn template_hash(
    related: &Related<'_>,
    deployment: &Value,
    selector: &str,
) -> Result<Option<String>, KubectlError> {
    let sets = related
        .list("apps/v1", "ReplicaSet", "replicasets", Some(selector))
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
