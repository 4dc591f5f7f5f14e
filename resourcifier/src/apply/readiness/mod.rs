//! Whether an object does what it is there for: one file a kind, three values, each with its sentence.
//!
//! Pure: it reads a live object and nothing else. What other objects say about it is looked for in `evidence`.
//!
//! A user's own condition goes over the rule of the kind: the annotations `deployment-manager.dev/ready-when` and
//! `…/fail-when`, written as for `kubectl wait`: `{.status.phase}=Ready`. They are checked before anything is applied.

mod custom;
mod extensions;
mod fields;
mod namespace;
mod network;
mod openshift;
mod own_rule;
mod volume_claim;
mod workloads;

use common::model::ObjectRef;
use serde_json::Value;

use self::workloads::{daemon_set, deployment, job, pod, replica_set, stateful_set};
use super::object::change::{self, departure};

pub use openshift::{build_config, build_number};
pub use own_rule::is_set as has_own_rule;
pub use workloads::pod::{failure as pod_failure, trouble as pod_trouble};
pub use workloads::refused::is_final as is_final_refusal;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    Ready,
    /// What it waits for.
    Waiting(String),
    /// Why it cannot become ready by waiting.
    Failed(String),
}

impl Readiness {
    fn waiting(reason: impl Into<String>) -> Self {
        Self::Waiting(reason.into())
    }
}

/// By the object's own rule, else by its kind's. Kinds without one are ready as soon as they exist.
pub fn of(live: &Value) -> Readiness {
    if let Some(reason) = departure(live) {
        return Readiness::Waiting(reason);
    }
    own_rule::readiness(live).unwrap_or_else(|| match change::hook_run(live) {
        Some(_) => of_hook(live),
        None => by_kind(live),
    })
}

/// A hook is ready when it is done. Like in Helm, only Jobs and Pods take their time, and what others build on.
fn of_hook(live: &Value) -> Readiness {
    match live["kind"].as_str() {
        Some("Pod") if live["status"]["phase"] == "Running" => match pod_failure(live) {
            Some(reason) => Readiness::Failed(reason),
            None => Readiness::waiting("it is Running and not done"),
        },
        Some("Job" | "Pod" | "Namespace" | "CustomResourceDefinition") => by_kind(live),
        _ => Readiness::Ready,
    }
}

fn by_kind(live: &Value) -> Readiness {
    let object: ObjectRef = crate::kubectl::object_ref(live);
    match (object.group(), object.kind.as_str()) {
        ("apps", "Deployment") => deployment::readiness(live),
        ("apps", "StatefulSet") => stateful_set::readiness(live),
        ("apps", "DaemonSet") => daemon_set::readiness(live),
        ("apps", "ReplicaSet") | ("", "ReplicationController") => replica_set::readiness(live),
        ("batch", "Job") => job::readiness(live),
        ("", "Pod") => pod::readiness(live),
        ("", "PersistentVolumeClaim") => volume_claim::readiness(live),
        ("", "Service") => network::service::readiness(live),
        ("networking.k8s.io", "Ingress") => network::ingress::readiness(live),
        ("", "Namespace") => namespace::readiness(live),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            extensions::definition::readiness(live)
        }
        ("apiregistration.k8s.io", "APIService") => extensions::api_service::readiness(live),
        ("apps.openshift.io", "DeploymentConfig") => openshift::deployment_config(live),
        ("route.openshift.io", "Route") => openshift::route(live),
        ("build.openshift.io", "Build") => openshift::build(live),
        ("build.openshift.io", "BuildConfig") => openshift::build_config(live, None),
        _ => custom::readiness(live),
    }
}

#[cfg(test)]
mod tests;
