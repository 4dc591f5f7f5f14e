//! CustomResourceDefinitions: established, so that objects of the kind can be made.

use serde_json::Value;

use crate::apply::readiness::Readiness;
use crate::apply::readiness::fields::condition;

pub fn readiness(live: &Value) -> Readiness {
    if let Some(names) = condition(live, "NamesAccepted").filter(|names| names.is_false) {
        return Readiness::Failed(format!("its names are not accepted: {}", names.sentence()));
    }
    match condition(live, "Established") {
        Some(established) if established.is_true => Readiness::Ready,
        _ => Readiness::waiting("it is not established yet"),
    }
}
