//! StatefulSets: all replicas are ready, and those that the update strategy reaches are updated.

use serde_json::Value;

use crate::apply::readiness::Readiness;
use crate::apply::readiness::fields::{number, unobserved};

pub fn readiness(live: &Value) -> Readiness {
    if let Some(waiting) = unobserved(live) {
        return waiting;
    }
    let wanted = number(live, "/spec/replicas", 1);
    let ready = number(live, "/status/readyReplicas", 0);
    if ready < wanted {
        return Readiness::Waiting(format!("{ready} of {wanted} replicas are ready"));
    }
    let total = number(live, "/status/replicas", 0);
    if total > wanted {
        return Readiness::Waiting(format!("{} replicas are still to go", total - wanted));
    }
    let to_update =
        wanted - number(live, "/spec/updateStrategy/rollingUpdate/partition", 0).min(wanted);
    let updated = number(live, "/status/updatedReplicas", 0);
    let updates = live["spec"]["updateStrategy"]["type"] != "OnDelete"
        && live["status"]["updateRevision"] != live["status"]["currentRevision"];
    if updates && updated < to_update {
        return Readiness::Waiting(format!("{updated} of {to_update} replicas are updated"));
    }
    Readiness::Ready
}
