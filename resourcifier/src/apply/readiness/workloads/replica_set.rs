//! ReplicaSets and ReplicationControllers: as many replicas are ready as are asked for.

use serde_json::Value;

use super::refused::pods_refused;
use crate::apply::readiness::Readiness;
use crate::apply::readiness::fields::{condition, number, unobserved};

pub fn readiness(live: &Value) -> Readiness {
    if let Some(waiting) = unobserved(live) {
        return waiting;
    }
    let wanted = number(live, "/spec/replicas", 1);
    let ready = number(live, "/status/readyReplicas", 0);
    if ready >= wanted {
        return Readiness::Ready;
    }
    if let Some(failed) = pods_refused(live) {
        return failed;
    }
    match condition(live, "ReplicaFailure").filter(|failure| failure.is_true) {
        Some(failure) => Readiness::Waiting(format!(
            "{ready} of {wanted} replicas are ready: {}",
            failure.sentence()
        )),
        None => Readiness::Waiting(format!("{ready} of {wanted} replicas are ready")),
    }
}
