//! Deployments: all replicas are of the current template and available.

use serde_json::Value;

use super::refused::pods_refused;
use crate::apply::readiness::Readiness;
use crate::apply::readiness::fields::{condition, number, unobserved};

pub fn readiness(live: &Value) -> Readiness {
    if let Some(waiting) = unobserved(live) {
        return waiting;
    }
    if let Some(progressing) = condition(live, "Progressing")
        && progressing.reason == "ProgressDeadlineExceeded"
    {
        return Readiness::Failed(progressing.sentence().to_owned());
    }
    if let Some(failed) = pods_refused(live) {
        return failed;
    }
    if live["spec"]["paused"] == true {
        return Readiness::Ready;
    }
    let status = |field: &str| number(live, &format!("/status/{field}"), 0);
    let wanted = number(live, "/spec/replicas", 1);
    let (updated, total, available) = (
        status("updatedReplicas"),
        status("replicas"),
        status("availableReplicas"),
    );
    if updated < wanted {
        return Readiness::Waiting(format!("{updated} of {wanted} replicas are updated"));
    }
    if total > updated {
        return Readiness::Waiting(format!("{} old replicas are still to go", total - updated));
    }
    if available < wanted {
        return Readiness::Waiting(format!("{available} of {wanted} replicas are available"));
    }
    Readiness::Ready
}
