//! PersistentVolumeClaims: bound.

use serde_json::Value;

use super::Readiness;

pub fn readiness(live: &Value) -> Readiness {
    match live["status"]["phase"].as_str() {
        Some("Bound") => Readiness::Ready,
        Some("Lost") => Readiness::Failed("its volume is lost".to_owned()),
        _ => Readiness::waiting("no volume is bound to it yet"),
    }
}
