//! After a crash or a stop: what is unfinished, and where each journal ends.

use common::model::{Operation, OperationId, OperationStatus};

use crate::domain::operation::{Event, IllegalEvent, State};
use crate::store::operations::{self, OperationRecord};
use crate::store::{Store, StoreError};

pub async fn unfinished(store: &Store) -> Result<Vec<OperationRecord>, StoreError> {
    operations::unfinished(store).await
}

/// Where an operation stands: what its journal leads to, or its end, after which there is none.
pub fn state(operation: &Operation, events: &[Event]) -> Result<State, StoreError> {
    match (operation.status, &operation.error) {
        (OperationStatus::Done, None) => Ok(State::Succeeded),
        (OperationStatus::Done, Some(error)) => Ok(State::Failed {
            error: Box::new(error.clone()),
        }),
        _ => State::replay(events).map_err(|error| illegal(&operation.id, &error)),
    }
}

/// A journal that no engine could have written.
pub fn illegal(id: &OperationId, error: &IllegalEvent) -> StoreError {
    StoreError::Broken(format!("the journal of operation {id}: {error}"))
}
