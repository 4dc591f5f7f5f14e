//! Operations: reading them, and watching them.

use common::api::error::ErrorCode;
use common::api::page::{Page, PageQuery};
use common::model::{DeploymentName, Operation, OperationId};

use crate::error::Error;
use crate::store::{Store, operations};
use crate::workflow::Engine;
pub use crate::workflow::Ticket;
pub use crate::workflow::live::LiveEvent;

pub struct Operations {
    pub store: Store,
    pub engine: Engine,
}

/// An operation to watch: one that this process knows, or one that ended before.
pub enum Watch {
    Live(Ticket),
    Past(Box<Operation>),
}

impl Operations {
    /// Latest first.
    pub async fn list(
        &self,
        deployment: Option<&DeploymentName>,
        page: &PageQuery,
    ) -> Result<Page<Operation>, Error> {
        let mut found = operations::list(&self.store, deployment, page).await?;
        for operation in &mut found.items {
            if let Some(ticket) = self.engine.ticket(&operation.id) {
                *operation = (*ticket.live().operation()).clone();
            }
        }
        Ok(found)
    }

    /// With its progress, if it runs.
    pub async fn get(&self, id: &OperationId) -> Result<Operation, Error> {
        Ok(match self.watch(id).await? {
            Watch::Live(ticket) => (*ticket.live().operation()).clone(),
            Watch::Past(operation) => *operation,
        })
    }

    pub async fn watch(&self, id: &OperationId) -> Result<Watch, Error> {
        if let Some(ticket) = self.engine.ticket(id) {
            return Ok(Watch::Live(ticket));
        }
        let record = operations::get(&self.store, id).await?;
        let record = record.ok_or_else(|| {
            Error::new(ErrorCode::NotFound, format!("there is no operation '{id}'"))
        })?;
        Ok(Watch::Past(Box::new(record.operation)))
    }
}
