//! What other objects say about one that is not ready, so that nobody waits for what cannot come.
//!
//! A workload has failed when its pods cannot start. A BuildConfig that is waited for is as ready as its latest build. A claim that waits for its first pod, and an ingress that no controller
//! serves, are as ready as they get. Where others cannot be read, nothing is said.

use std::time::Duration;

use serde_json::Value;

use super::related::Related;
use super::{builds, pods};
use crate::apply::object::change;
use crate::apply::readiness::{self, Readiness};
use crate::kubectl::{ClusterApi, object_ref};

/// The time for each look.
const WITHIN: Duration = Duration::from_secs(5);

/// A better verdict on an object that waits, if there is one.
pub async fn of(kubectl: &dyn ClusterApi, live: &Value) -> Option<Readiness> {
    if readiness::has_own_rule(live) || change::is_terminating(live) {
        return None;
    }
    let object = object_ref(live);
    match (object.group(), object.kind.as_str()) {
        ("", "PersistentVolumeClaim") => claim(kubectl, live).await,
        ("networking.k8s.io", "Ingress") => ingress(kubectl, live).await,
        ("build.openshift.io", "BuildConfig") => {
            Some(builds::evidence(kubectl, live, WITHIN).await)
        }
        ("apps", _) | ("batch", "Job") | ("", "ReplicationController") => {
            workload(kubectl, live).await
        }
        _ => None,
    }
}

async fn workload(kubectl: &dyn ClusterApi, live: &Value) -> Option<Readiness> {
    let pods = pods::of(kubectl, live, WITHIN).await.ok()?;
    if pods.is_empty() {
        return refused(kubectl, live).await;
    }
    // A Job counts its own failures.
    let counts = |reason: &String| live["kind"] != "Job" || !reason.contains("CrashLoopBackOff");
    pods.iter().find_map(|pod| {
        let reason = readiness::pod_failure(pod).filter(counts)?;
        let name = pod["metadata"]["name"].as_str().unwrap_or_default();
        Some(Readiness::Failed(format!("pod {name}: {reason}")))
    })
}

/// A controller that says only in events that it may make no pods.
async fn refused(kubectl: &dyn ClusterApi, live: &Value) -> Option<Readiness> {
    let uid = live["metadata"]["uid"].as_str();
    let events = kubectl.events(&object_ref(live), uid, WITHIN).await.ok()?;
    let last = events.iter().rev().find(|event| event.warning)?;
    (last.reason == "FailedCreate" && readiness::is_final_refusal(&last.message))
        .then(|| Readiness::Failed(format!("its pods are refused: {}", last.message)))
}

/// A claim of a class that binds late is bound when a pod uses it.
async fn claim(kubectl: &dyn ClusterApi, live: &Value) -> Option<Readiness> {
    let classes = list(
        kubectl,
        "storage.k8s.io/v1",
        "StorageClass",
        "storageclasses",
    )
    .await?;
    let named = live["spec"]["storageClassName"].as_str();
    let class = class(
        &classes,
        named,
        "storageclass.kubernetes.io/is-default-class",
    )?;
    (class["volumeBindingMode"] == "WaitForFirstConsumer").then_some(Readiness::Ready)
}

/// Without a class that it belongs to, nobody gives an ingress an address.
async fn ingress(kubectl: &dyn ClusterApi, live: &Value) -> Option<Readiness> {
    let classes = list(
        kubectl,
        "networking.k8s.io/v1",
        "IngressClass",
        "ingressclasses",
    )
    .await?;
    let named = live["spec"]["ingressClassName"].as_str();
    let named =
        named.or_else(|| live["metadata"]["annotations"]["kubernetes.io/ingress.class"].as_str());
    let class = class(
        &classes,
        named,
        "ingressclass.kubernetes.io/is-default-class",
    );
    class.is_none().then_some(Readiness::Ready)
}

/// The class of that name, or the default one.
fn class<'c>(classes: &'c [Value], named: Option<&str>, default: &str) -> Option<&'c Value> {
    classes.iter().find(|class| match named {
        Some(name) => class["metadata"]["name"] == name,
        None => class["metadata"]["annotations"][default] == "true",
    })
}

async fn list(
    kubectl: &dyn ClusterApi,
    api_version: &str,
    kind: &str,
    resource: &str,
) -> Option<Vec<Value>> {
    let cluster = Related {
        kubectl,
        namespace: None,
        within: WITHIN,
    };
    cluster.list(api_version, kind, resource, None).await.ok()
}
