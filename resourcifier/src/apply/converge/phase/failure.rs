//! Why a resource has failed.

use common::api::error::{ErrorBody, ErrorCode};

use crate::apply::cause::Causes;

/// A sentence without the resource's name, which the report adds.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub code: ErrorCode,
    pub reason: String,
    pub causes: Vec<ErrorBody>,
}

impl Failure {
    pub fn new(code: ErrorCode, reason: impl Into<String>) -> Self {
        Self {
            code,
            reason: reason.into(),
            causes: Vec::new(),
        }
    }

    /// The resource itself is to blame.
    pub fn of_resource(reason: impl Into<String>) -> Self {
        Self::new(ErrorCode::ResourcesFailed, reason)
    }

    /// Adds what is known of the cause, and says nothing twice.
    pub fn explain(&mut self, causes: Causes) {
        if let Some(summary) = causes.summary.filter(|text| !self.reason.contains(text)) {
            self.reason = format!("{}; {summary}", self.reason);
        }
        self.causes.extend(causes.details);
    }
}
