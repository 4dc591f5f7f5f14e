//! Operations: reading, watching and stopping them.

use common::api::error::ErrorCode;
use common::api::page::{Page, PageQuery};
use common::model::{DeploymentName, Operation, OperationId, OperationStatus};

use super::asked::{Asked, Kind};
use super::deployments::missing;
use super::gate::missing_operation;
use super::sight::{Views, sifted};
use crate::auth::Caller;
use crate::error::Error;
use crate::store::operations::{OperationRecord, StopWish};
use crate::store::{Store, deployments, operations};
use crate::workflow::Engine;
pub use crate::workflow::Ticket;
pub use crate::workflow::live::LiveEvent;

pub struct Operations {
    pub store: Store,
    pub views: Views,
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
        caller: &Caller,
    ) -> Result<Page<Operation>, Error> {
        let mut viewer = self.views.of(caller).await?;
        let read = async |page| Ok(operations::list(&self.store, deployment, &page).await?);
        let found = match viewer.sees_all() {
            true => read(page.clone()).await?,
            false => sifted(page, read, async |records| viewer.operations(records).await).await?,
        };
        let current = |record: OperationRecord| match self.engine.ticket(&record.operation.id) {
            Some(ticket) => (*ticket.live().operation()).clone(),
            None => record.operation,
        };
        Ok(Page {
            items: found.items.into_iter().map(current).collect(),
            next_page_token: found.next_page_token,
        })
    }

    /// With its progress, if it runs.
    pub async fn get(&self, id: &OperationId) -> Result<Operation, Error> {
        Ok(match self.watch(id).await? {
            Watch::Live(ticket) => (*ticket.live().operation()).clone(),
            Watch::Past(operation) => *operation,
        })
    }

    /// Stops it; nothing is undone. Gives the operation to wait for: it ends at once.
    pub async fn cancel(&self, id: &OperationId, caller: &Caller) -> Result<Ticket, Error> {
        let wish = StopWish {
            user: caller.user().to_owned(),
        };
        if let Some(ticket) = self.engine.stop(id, wish).await? {
            return Ok(ticket);
        }
        let operation = self.get(id).await?;
        let message = match operation.status {
            OperationStatus::Done => format!("operation {id} is done; there is nothing to stop"),
            OperationStatus::Pending | OperationStatus::Running => {
                format!("operation {id} is to be stopped, and will be when it is gone on with")
            }
        };
        Err(Error::new(ErrorCode::NothingRunning, message))
    }

    /// Stops the operation that runs on a deployment.
    pub async fn stop(&self, name: &DeploymentName, asked: &Asked) -> Result<Ticket, Error> {
        asked.check(Kind::Other)?;
        let found = deployments::get(&self.store, name).await?;
        let holder = deployments::holder(&self.store, name).await?;
        match (&found, &holder) {
            (None, None) => return Err(missing(name)),
            (Some(deployment), _) => asked.precondition.check(deployment)?,
            (None, Some(_)) => {}
        }
        match holder {
            Some(id) => self.cancel(&id, &asked.caller).await,
            None => Err(Error::new(
                ErrorCode::NothingRunning,
                format!("no operation is running on deployment '{name}'"),
            )),
        }
    }

    /// An operation as it ended.
    pub async fn ended(&self, ticket: &Ticket) -> Result<Operation, Error> {
        Ok(ticket.outcome().await?.operation.clone())
    }

    pub async fn watch(&self, id: &OperationId) -> Result<Watch, Error> {
        if let Some(ticket) = self.engine.ticket(id) {
            return Ok(Watch::Live(ticket));
        }
        let record = operations::get(&self.store, id).await?;
        let record = record.ok_or_else(|| missing_operation(id))?;
        Ok(Watch::Past(Box::new(record.operation)))
    }
}
