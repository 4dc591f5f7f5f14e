//! ReplicaSets and ReplicationControllers: as many replicas are ready as are asked for.

use serde_json::Value;

use super::Readiness;
use super::fields::{condition, number, unobserved};

pub fn readiness(live: &Value) -> Readiness {
    if let Some(waiting) = unobserved(live) {
        return waiting;
    }
    let wanted = number(live, "/spec/replicas", 1);
    let ready = number(live, "/status/readyReplicas", 0);
    if ready >= wanted {
        return Readiness::Ready;
    }
    match condition(live, "ReplicaFailure") {
        Some(failure) if failure.is_true => Readiness::Waiting(format!(
            "{ready} of {wanted} replicas are ready: {}",
            failure.sentence()
        )),
        _ => Readiness::Waiting(format!("{ready} of {wanted} replicas are ready")),
    }
}
