//! What a controller says that may make no pods.

use crate::apply::readiness::Readiness;
use crate::apply::readiness::fields::condition;
use serde_json::Value;

/// Failed, where its pods are refused for what nobody gives back by waiting: a quota, a policy, a missing right.
pub fn pods_refused(live: &Value) -> Option<Readiness> {
    let failure = condition(live, "ReplicaFailure").filter(|failure| failure.is_true)?;
    is_final(failure.sentence())
        .then(|| Readiness::Failed(format!("its pods are refused: {}", failure.sentence())))
}

/// Whether the refusal of a pod stays one. A service account is made a moment later, so that is none.
pub fn is_final(message: &str) -> bool {
    message.contains("forbidden") && !message.contains("error looking up service account")
}
