//! DaemonSets: a ready, updated pod on every node that is to have one.

use serde_json::Value;

use crate::apply::readiness::Readiness;
use crate::apply::readiness::fields::{number, unobserved};

pub fn readiness(live: &Value) -> Readiness {
    if let Some(waiting) = unobserved(live) {
        return waiting;
    }
    let status = |field: &str| number(live, &format!("/status/{field}"), 0);
    let wanted = status("desiredNumberScheduled");
    let updated = status("updatedNumberScheduled");
    if live["spec"]["updateStrategy"]["type"] != "OnDelete" && updated < wanted {
        return Readiness::Waiting(format!("{updated} of {wanted} nodes have the updated pod"));
    }
    let ready = status("numberReady");
    if ready < wanted {
        return Readiness::Waiting(format!("the pod is ready on {ready} of {wanted} nodes"));
    }
    Readiness::Ready
}
