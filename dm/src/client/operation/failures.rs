//! The causes of failed resources. The error of their operation shows them, so that each stands on the screen once.

use std::collections::BTreeMap;

use common::api::deployer::{ResourceReport, ResourceState};
use common::api::error::ErrorBody;

use crate::client::render::event;
use crate::terminal::text;

/// The causes, by the names of the resources' objects.
#[derive(Debug, Default)]
pub struct Failures(BTreeMap<String, String>);

impl Failures {
    /// The last report of a resource counts.
    pub fn take(&mut self, report: &ResourceReport) {
        let name = event::name(report);
        match event::cause(report) {
            Some(cause) if report.state == ResourceState::Failed => {
                self.0.insert(name, cause.to_owned());
            }
            _ => {
                self.0.remove(&name);
            }
        }
    }

    /// A line about the first one, while the others go on.
    pub fn first(&self) -> Option<String> {
        let (name, cause) = self.0.iter().next()?;
        Some(format!("{name}: failed: {}", text::line(cause)))
    }

    /// A line for each cause that the error does not have.
    pub fn missing_in(&self, error: Option<&ErrorBody>) -> Vec<String> {
        let is_missing = |cause: &str| !error.is_some_and(|error| has(error, cause));
        let missing = self.0.iter().filter(|(_, cause)| is_missing(cause));
        missing
            .map(|(name, cause)| format!("{name}: {}", text::line(cause)))
            .collect()
    }
}

fn has(error: &ErrorBody, cause: &str) -> bool {
    error.message.contains(cause) || error.causes.iter().any(|inner| has(inner, cause))
}

#[cfg(test)]
mod tests {
    use common::api::error::ErrorCode;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cause_that_the_error_has_is_not_said_again() {
        let report = |name: &str, state: &str, message: &str| {
            let error = json!({"code": "RESOURCES_FAILED", "message": message});
            let report = json!({"name": name, "type": "Pod", "state": state, "error": error});
            serde_json::from_value::<ResourceReport>(report).unwrap()
        };
        let mut failures = Failures::default();
        failures.take(&report("a", "FAILED", "resource a (Pod a): no image"));
        failures.take(&report("b", "FAILED", "no room\u{1b}"));
        failures.take(&report("c", "FAILED", "late"));
        failures.take(&report("c", "READY", ""));
        let first = "Pod a: failed: no image";
        assert_eq!(failures.first().as_deref(), Some(first));
        let cause = ErrorBody::new(ErrorCode::ResourcesFailed, "resource a (Pod a): no image");
        let error = ErrorBody::new(ErrorCode::ResourcesFailed, "2 failed").caused_by([cause]);
        let missing = failures.missing_in(Some(&error));
        assert_eq!(missing, ["Pod b: no room\\u{1b}"]);
        assert_eq!(failures.missing_in(None).len(), 2);
    }
}
