//! Every other kind: by the condition `Ready`, else `Available`, where it has one; without one there is nothing to wait for.

use serde_json::Value;

use super::Readiness;
use super::fields::{condition, number, unobserved};

pub fn readiness(live: &Value) -> Readiness {
    let observes = number(live, "/status/observedGeneration", 0) > 0;
    if let Some(waiting) = observes.then(|| unobserved(live)).flatten() {
        return waiting;
    }
    if let Some(stalled) = condition(live, "Stalled").filter(|stalled| stalled.is_true) {
        return Readiness::Failed(stalled.sentence().to_owned());
    }
    match condition(live, "Ready").or_else(|| condition(live, "Available")) {
        Some(condition) if !condition.is_true => Readiness::waiting(condition.sentence()),
        _ => Readiness::Ready,
    }
}
