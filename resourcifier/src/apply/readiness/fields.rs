//! Fields that many kinds have.

use serde_json::Value;

use super::Readiness;

/// A number, or what it means if it is absent.
pub fn number(live: &Value, pointer: &str, absent: i64) -> i64 {
    live.pointer(pointer)
        .and_then(Value::as_i64)
        .unwrap_or(absent)
}

/// One of `status.conditions`.
#[derive(Debug, Clone, Copy)]
pub struct Condition<'a> {
    pub is_true: bool,
    pub is_false: bool,
    /// Of which generation of the object it is said; of any, where it does not say.
    pub generation: i64,
    pub reason: &'a str,
    message: &'a str,
}

impl<'a> Condition<'a> {
    /// Its message, or its reason where it has none.
    pub fn sentence(&self) -> &'a str {
        match (self.message, self.reason) {
            ("", "") => "its controller gives no reason",
            ("", reason) => reason,
            (message, _) => message,
        }
    }
}

pub fn condition<'a>(live: &'a Value, kind: &str) -> Option<Condition<'a>> {
    let conditions = live["status"]["conditions"].as_array()?;
    let found = conditions
        .iter()
        .find(|condition| condition["type"] == kind)?;
    let text = |field: &str| found[field].as_str().unwrap_or_default();
    Some(Condition {
        is_true: found["status"] == "True",
        is_false: found["status"] == "False",
        generation: number(found, "/observedGeneration", i64::MAX),
        reason: text("reason"),
        message: text("message"),
    })
}

/// Waiting, as long as the controller has not seen the object as it is now: until then its status is of an earlier one.
pub fn unobserved(live: &Value) -> Option<Readiness> {
    let generation = number(live, "/metadata/generation", 0);
    let observed = number(live, "/status/observedGeneration", 0);
    (observed < generation)
        .then(|| Readiness::waiting("its controller has not seen the change yet"))
}
