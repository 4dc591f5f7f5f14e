//! Why the broker refuses a request: the statuses and error codes of the protocol.

use serde_json::{Map, Value, json};

/// The error codes that the protocol reserves.
pub const ASYNC_REQUIRED: &str = "AsyncRequired";
pub const CONCURRENCY_ERROR: &str = "ConcurrencyError";
pub const REQUIRES_APP: &str = "RequiresApp";
pub const MAINTENANCE_INFO_CONFLICT: &str = "MaintenanceInfoConflict";

/// A refusal, with a description that a platform shows to its users.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{description}")]
pub struct BrokerError {
    pub status: u16,
    pub code: Option<&'static str>,
    pub description: String,
    /// Only for a failed update or deprovision: whether the instance can still be used.
    pub instance_usable: Option<bool>,
    /// Only for a failed update: whether repeating it can help.
    pub update_repeatable: Option<bool>,
}

impl BrokerError {
    pub fn new(status: u16, description: impl Into<String>) -> Self {
        Self {
            status,
            code: None,
            description: description.into(),
            instance_usable: None,
            update_repeatable: None,
        }
    }

    pub fn invalid(description: impl Into<String>) -> Self {
        Self::new(400, description)
    }

    pub fn missing(description: impl Into<String>) -> Self {
        Self::new(404, description)
    }

    pub fn conflict(description: impl Into<String>) -> Self {
        Self::new(409, description)
    }

    pub fn unprocessable(description: impl Into<String>) -> Self {
        Self::new(422, description)
    }

    pub fn concurrency() -> Self {
        Self::unprocessable("Another operation for this Service Instance is in progress.")
            .coded(CONCURRENCY_ERROR)
    }

    pub fn async_required() -> Self {
        Self::unprocessable("This Service Plan requires client support for asynchronous service operations: send accepts_incomplete=true.")
            .coded(ASYNC_REQUIRED)
    }

    pub fn coded(self, code: &'static str) -> Self {
        Self {
            code: Some(code),
            ..self
        }
    }

    /// The body of the answer.
    pub fn body(&self) -> Value {
        let mut body = Map::new();
        if let Some(code) = self.code {
            body.insert("error".to_owned(), json!(code));
        }
        body.insert("description".to_owned(), json!(self.description));
        let flags = [
            ("instance_usable", self.instance_usable),
            ("update_repeatable", self.update_repeatable),
        ];
        for (key, flag) in flags {
            if let Some(flag) = flag {
                body.insert(key.to_owned(), json!(flag));
            }
        }
        Value::Object(body)
    }
}
