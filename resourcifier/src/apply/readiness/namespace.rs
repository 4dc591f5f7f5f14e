//! Namespaces: active.

use serde_json::Value;

use super::Readiness;

pub fn readiness(live: &Value) -> Readiness {
    match live["status"]["phase"].as_str() {
        Some("Active") => Readiness::Ready,
        Some("Terminating") => Readiness::waiting("it is being deleted"),
        _ => Readiness::waiting("it is not active yet"),
    }
}
