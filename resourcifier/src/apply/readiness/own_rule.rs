//! Objects that say themselves when they are ready or have failed; see `plan::rule` for how.

use serde_json::Value;

use super::Readiness;
use super::fields::{number, unobserved};
use crate::plan::{FAIL_WHEN, READY_WHEN, rule_of};

/// `None`, if the kind's rule decides.
pub fn readiness(live: &Value) -> Option<Readiness> {
    match verdict(live) {
        Ok(verdict) => verdict,
        Err(error) => Some(Readiness::Failed(error.to_string())),
    }
}

/// Whether the kind's own rule does not count.
pub fn is_set(live: &Value) -> bool {
    live["metadata"]["annotations"].get(READY_WHEN).is_some()
}

fn verdict(live: &Value) -> Result<Option<Readiness>, crate::plan::RuleError> {
    if let Some(rule) = rule_of(live, FAIL_WHEN)?.filter(|rule| rule.holds(live)) {
        let reason = format!("its condition of failure holds: {rule}");
        return Ok(Some(Readiness::Failed(reason)));
    }
    let Some(rule) = rule_of(live, READY_WHEN)? else {
        return Ok(None);
    };
    let observes = number(live, "/status/observedGeneration", 0) > 0;
    if let Some(waiting) = observes.then(|| unobserved(live)).flatten() {
        return Ok(Some(waiting));
    }
    Ok(Some(match rule.holds(live) {
        true => Readiness::Ready,
        false => Readiness::Waiting(format!("{rule} does not hold: {}", rule.seen(live))),
    }))
}
