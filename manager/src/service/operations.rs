//! Operations: reading, watching and stopping them.

use common::api::error::ErrorCode;
use common::api::page::{Page, PageQuery};
use common::model::{DeploymentName, Operation, OperationId, OperationStatus};

use tokio::sync::watch;

use super::access::gate::missing_operation;
use super::access::visibility::{VisibilityFilters, filter_page};
use super::deployments::missing;
use super::writes::asked::{Asked, Kind};
use crate::auth::Caller;
use crate::error::Error;
use crate::store::operations::{OperationRecord, StopWish};
use crate::store::{Store, deployments, operations};
use crate::workflow::Engine;
pub use crate::workflow::OperationHandle;
pub use crate::workflow::engine::watch::WatchEvent;

pub struct Operations {
    pub store: Store,
    pub filters: VisibilityFilters,
    pub engine: Engine,
}

/// An operation to watch: one that runs in this process, or one that has ended.
pub enum Watch {
    Live(OperationHandle),
    Past(Box<Operation>),
}

impl Operations {
    /// The latest first.
    pub async fn list(
        &self,
        deployment: Option<&DeploymentName>,
        page: &PageQuery,
        caller: &Caller,
    ) -> Result<Page<Operation>, Error> {
        let mut filter = self.filters.for_caller(caller).await?;
        let read = async |page| Ok(operations::list(&self.store, deployment, &page).await?);
        let found = match filter.sees_all() {
            true => read(page.clone()).await?,
            false => {
                filter_page(page, read, async |records| filter.operations(records).await).await?
            }
        };
        let current = |record: OperationRecord| match self.engine.handle(&record.operation.id) {
            Some(handle) => (*handle.watch().operation()).clone(),
            None => record.operation,
        };
        Ok(Page {
            items: found.items.into_iter().map(current).collect(),
            next_page_token: found.next_page_token,
        })
    }

    /// Includes the progress of a running operation.
    pub async fn get(&self, id: &OperationId) -> Result<Operation, Error> {
        Ok(match self.watch(id).await? {
            Watch::Live(handle) => (*handle.watch().operation()).clone(),
            Watch::Past(operation) => *operation,
        })
    }

    /// Stops the operation and undoes nothing. Returns a handle to wait for its end.
    pub async fn cancel(
        &self,
        id: &OperationId,
        caller: &Caller,
    ) -> Result<OperationHandle, Error> {
        let wish = StopWish {
            user: caller.user().to_owned(),
        };
        if let Some(handle) = self.engine.stop(id, wish).await? {
            return Ok(handle);
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

    /// Stops the operation that is running on a deployment.
    pub async fn stop(
        &self,
        name: &DeploymentName,
        asked: &Asked,
    ) -> Result<OperationHandle, Error> {
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

    /// An operation that has ended.
    pub async fn ended(&self, handle: &OperationHandle) -> Result<Operation, Error> {
        Ok(handle.outcome().await?.operation.clone())
    }

    /// A receiver that is notified when an operation begins.
    pub fn began(&self) -> watch::Receiver<u64> {
        self.engine.began()
    }

    /// The operations of a deployment that are running or have ended recently, the first one first.
    pub fn of_deployment(&self, name: &DeploymentName) -> Vec<OperationId> {
        self.engine.operations_of(name)
    }

    pub async fn watch(&self, id: &OperationId) -> Result<Watch, Error> {
        if let Some(handle) = self.engine.handle(id) {
            return Ok(Watch::Live(handle));
        }
        let record = operations::get(&self.store, id).await?;
        let record = record.ok_or_else(|| missing_operation(id))?;
        Ok(Watch::Past(Box::new(record.operation)))
    }
}
