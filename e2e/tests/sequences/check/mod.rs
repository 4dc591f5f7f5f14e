//! What must be true at a quiet point. Pure: what is known and what is seen go in, faults come out.
//!
//! A quiet point has no interference and no running operation. What others changed since a deployment was applied last is
//! known (`Known::disturbed`), and is not compared.

mod calls;
mod foreign;
mod objects;
mod store;
#[cfg(test)]
mod tests;

use std::fmt;

use e2e::audit::AuditedWrite;
use jiff::Timestamp;
use serde_json::Value;

use crate::known::Known;
use crate::model::Names;
use crate::seen::{Seen, text};

/// A rule that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// Which rule, in one or two words: a shrunk sequence breaks the same one.
    pub rule: &'static str,
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.rule, self.what)
    }
}

pub fn violation(rule: &'static str, what: impl Into<String>) -> Violation {
    Violation {
        rule,
        what: what.into(),
    }
}

/// All that is compared.
pub struct Point<'a> {
    pub names: &'a Names,
    pub known: &'a Known,
    pub seen: &'a Seen,
    pub writes: &'a [AuditedWrite],
}

impl Point<'_> {
    pub fn violations(&self) -> Vec<Violation> {
        let mut found = store::violations(self);
        found.extend(objects::violations(self));
        found.extend(foreign::violations(self));
        found.extend(calls::violations(self));
        found.sort();
        found.dedup();
        found
    }

    /// Only those that the audit log shows.
    pub fn calls(&self) -> Vec<Violation> {
        calls::violations(self)
    }

    /// The operations of one deployment, by start.
    fn operations(&self, deployment: &str) -> impl Iterator<Item = &Value> {
        let all = self.seen.operations.iter();
        all.filter(move |operation| operation["deployment"] == deployment)
    }
}

/// Start and end of an operation. One that has not ended has no window.
fn window(operation: &Value) -> Option<(Timestamp, Timestamp)> {
    let at = |field: &str| text(&operation[field]).parse().ok();
    Some((at("startTime")?, at("endTime")?))
}

/// Whether it applied all that it was asked to.
fn succeeded(operation: &Value) -> bool {
    operation["status"] == "DONE" && operation["error"].is_null()
}

/// Whether it is of a type that applies a manifest.
fn applies(operation: &Value) -> bool {
    ["CREATE", "UPDATE", "ROLLBACK", "CORRECT"]
        .iter()
        .any(|applying| operation["type"] == *applying)
}
