//! Whether an object does what it is there for: one file a kind, three values, each with its sentence.
//!
//! Pure: it reads a live object and nothing else.

mod api_service;
mod custom;
mod daemon_set;
mod definition;
mod deployment;
mod fields;
mod job;
mod namespace;
mod pod;
mod replica_set;
mod service;
mod stateful_set;
mod volume_claim;

use common::model::ObjectRef;
use serde_json::Value;

pub use pod::trouble as pod_trouble;

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

/// Kinds without a rule are ready as soon as they exist.
pub fn of(live: &Value) -> Readiness {
    let object: ObjectRef = crate::plan::object_ref(live);
    match (object.group(), object.kind.as_str()) {
        ("apps", "Deployment") => deployment::readiness(live),
        ("apps", "StatefulSet") => stateful_set::readiness(live),
        ("apps", "DaemonSet") => daemon_set::readiness(live),
        ("apps", "ReplicaSet") | ("", "ReplicationController") => replica_set::readiness(live),
        ("batch", "Job") => job::readiness(live),
        ("", "Pod") => pod::readiness(live),
        ("", "PersistentVolumeClaim") => volume_claim::readiness(live),
        ("", "Service") => service::readiness(live),
        ("", "Namespace") => namespace::readiness(live),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition::readiness(live),
        ("apiregistration.k8s.io", "APIService") => api_service::readiness(live),
        _ => custom::readiness(live),
    }
}

#[cfg(test)]
mod tests;
