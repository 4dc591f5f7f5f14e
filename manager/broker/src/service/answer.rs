//! The answer to a request that succeeded.

use common::model::OperationId;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
    /// Whether the operation goes on, so that the platform should ask again later.
    pub is_unfinished: bool,
}

impl Answer {
    pub fn new(status: u16, body: Value) -> Self {
        Self {
            status,
            body,
            is_unfinished: false,
        }
    }

    pub fn empty(status: u16) -> Self {
        Self::new(status, Value::Object(Map::new()))
    }

    /// 202 with the operation to poll.
    pub fn accepted(operation: &OperationId) -> Self {
        Self::new(202, json!({"operation": operation}))
    }

    /// It does not exist any more.
    pub fn gone() -> Self {
        Self::empty(410)
    }
}
