//! The answer to a request that succeeded.

use common::model::OperationId;
use serde_json::{Map, Value, json};

use crate::record::{DASHBOARD_URL, Instance};

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

    /// What platforms learn about an instance when it is there.
    pub fn of_instance(status: u16, instance: &Instance) -> Self {
        Self::empty(status).with_dashboard(instance.dashboard_url.as_deref())
    }

    /// The same answer with the URL of the dashboard, if there is one.
    pub fn with_dashboard(mut self, url: Option<&str>) -> Self {
        if let (Value::Object(body), Some(url)) = (&mut self.body, url) {
            body.insert(DASHBOARD_URL.to_owned(), json!(url));
        }
        self
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
