//! Finds unfinished operations after a crash or a stop, and the state at the end of each journal.

use common::model::{Operation, OperationId, OperationStatus};

use crate::domain::operation::{Event, IllegalEvent, State};
use crate::store::operations::{self, OperationRecord};
use crate::store::{Store, StoreError};

pub async fn unfinished(store: &Store) -> Result<Vec<OperationRecord>, StoreError> {
    operations::unfinished(store).await
}

/// The state of an operation: the end of its journal, or its outcome once the journal is deleted.
pub fn state(operation: &Operation, events: &[Event]) -> Result<State, StoreError> {
    match (operation.status, &operation.error) {
        (OperationStatus::Done, None) => Ok(State::Succeeded),
        (OperationStatus::Done, Some(error)) => Ok(State::Failed {
            error: Box::new(error.clone()),
        }),
        _ => State::replay(events).map_err(|error| illegal(&operation.id, &error)),
    }
}

/// A journal that no version of the engine writes.
pub fn illegal(id: &OperationId, error: &IllegalEvent) -> StoreError {
    StoreError::Broken(format!("the journal of operation {id}: {error}"))
}
