//! Jobs: complete. A suspended one waits for somebody else, so nobody waits for it.

use serde_json::Value;

use crate::apply::readiness::Readiness;
use crate::apply::readiness::fields::{condition, number};

pub fn readiness(live: &Value) -> Readiness {
    if let Some(failed) = condition(live, "Failed").filter(|failed| failed.is_true) {
        return Readiness::Failed(failed.sentence().to_owned());
    }
    if condition(live, "Complete").is_some_and(|complete| complete.is_true)
        || live["spec"]["suspend"] == true
    {
        return Readiness::Ready;
    }
    let wanted = number(live, "/spec/completions", 1);
    let (succeeded, failed) = (
        number(live, "/status/succeeded", 0),
        number(live, "/status/failed", 0),
    );
    match failed {
        0 => Readiness::Waiting(format!("{succeeded} of {wanted} pods have succeeded")),
        _ => Readiness::Waiting(format!(
            "{succeeded} of {wanted} pods have succeeded, {failed} failed"
        )),
    }
}
