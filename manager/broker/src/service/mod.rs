//! The use cases of the protocol: which answer each request gets, and what it starts.
//!
//! Every change is decided from a record that was read, and committed only if the record has not changed since. So two
//! requests at the same time are decided one after the other.

mod answer;
mod bindings;
mod deploy;
mod fetch;
mod fields;
mod instances;
mod poll;
mod settle;

use std::sync::Arc;

use common::model::Namespace;
use tokio::runtime::Handle;

pub use self::answer::Answer;
pub use self::deploy::{
    BINDING_LABEL, BINDING_RESOURCE, INSTANCE_LABEL, INSTANCE_RESOURCE, PLAN_LABEL,
};
pub use self::fields::Ids;
pub use self::poll::Poll;
use crate::catalog::{Catalog, Catalogs};
use crate::error::BrokerError;
use crate::port::{Backend, BackendError};
use crate::record::Caller;

/// How often a decision is repeated because a record changed meanwhile.
const DECISIONS: usize = 8;

/// The service broker. Clones share it.
#[derive(Clone)]
pub struct Broker {
    catalogs: Arc<Catalogs>,
    backend: Arc<dyn Backend>,
    /// Whether requests need no organization and space.
    lenient: bool,
    /// The namespace of instances without one.
    namespace: Option<Namespace>,
    /// Operations are followed here, whatever becomes of the request.
    runtime: Handle,
}

/// What a request says beside its path and body.
#[derive(Debug, Clone, Default)]
pub struct Context {
    pub caller: Caller,
    /// Whether the platform accepts an asynchronous operation.
    pub accepts_incomplete: bool,
}

impl Broker {
    /// Operations are followed on the runtime of the caller.
    pub fn new(catalogs: Arc<Catalogs>, backend: Arc<dyn Backend>, lenient: bool) -> Self {
        Self {
            catalogs,
            backend,
            lenient,
            namespace: None,
            runtime: Handle::current(),
        }
    }

    /// The same, with the namespace of instances for which nothing names one.
    #[must_use]
    pub fn in_namespace(self, namespace: Option<Namespace>) -> Self {
        Self { namespace, ..self }
    }

    /// The catalog, or 503 with its first faults.
    pub fn catalog(&self) -> Result<Arc<Catalog>, BrokerError> {
        self.catalogs.get().map_err(|faults| {
            let faults = faults.join("; ");
            BrokerError::new(
                503,
                format!("the catalog of the broker is not valid: {faults}"),
            )
        })
    }
}

impl Context {
    fn require_async(&self, is_async: bool) -> Result<(), BrokerError> {
        match is_async && !self.accepts_incomplete {
            true => Err(BrokerError::async_required()),
            false => Ok(()),
        }
    }
}

impl From<BackendError> for BrokerError {
    fn from(error: BackendError) -> Self {
        match error {
            BackendError::Conflict => Self::concurrency(),
            BackendError::Refused(refusal) => refusal,
            BackendError::Stopping => Self::new(503, error.to_string()),
            BackendError::Fault(reason) => {
                tracing::error!(reason, "a request of a platform failed: {reason}");
                Self::new(500, "the broker failed; its log has the cause")
            }
        }
    }
}
