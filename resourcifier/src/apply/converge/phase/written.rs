//! An object that the deployment has in the cluster.

use common::api::deployer::Action;
use serde_json::Value;

use crate::apply::object::change;

/// The object of a resource since it was applied, or found as it should be.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    pub uid: Option<String>,
    pub action: Action,
    /// Without the lists of field managers; `None` once nobody asks for it.
    pub live: Option<Value>,
}

impl Written {
    pub fn new(action: Action, live: Value) -> Self {
        Self {
            uid: change::uid(&live).map(str::to_owned),
            action,
            live: Some(change::without_managers(live)),
        }
    }

    pub fn now(self, live: Value) -> Self {
        let live = Some(change::without_managers(live));
        Self { live, ..self }
    }
}
