//! Every other kind: by the conditions that kinds agree on (`Stalled`, `Reconciling`, `Ready`, else `Available`), where it
//! has them and they are about the object as it is now; without one there is nothing to wait for.

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
    if let Some(doing) = condition(live, "Reconciling").filter(|doing| doing.is_true) {
        return Readiness::waiting(doing.sentence());
    }
    match condition(live, "Ready").or_else(|| condition(live, "Available")) {
        Some(condition) if condition.generation < number(live, "/metadata/generation", 0) => {
            Readiness::waiting("its controller has not seen the change yet")
        }
        Some(condition) if !condition.is_true => Readiness::waiting(condition.sentence()),
        _ => Readiness::Ready,
    }
}
