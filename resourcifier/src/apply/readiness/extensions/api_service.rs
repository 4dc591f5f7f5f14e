//! APIServices: available.

use serde_json::Value;

use crate::apply::readiness::Readiness;
use crate::apply::readiness::fields::condition;

pub fn readiness(live: &Value) -> Readiness {
    match condition(live, "Available") {
        Some(available) if available.is_true => Readiness::Ready,
        Some(available) => Readiness::waiting(available.sentence()),
        None => Readiness::waiting("it is not available yet"),
    }
}
