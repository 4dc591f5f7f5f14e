//! After a crash or a stop: what is unfinished, and where each journal ends.

use common::model::OperationId;

use crate::domain::operation::{Event, IllegalEvent, State};
use crate::store::operations::{self, OperationRecord};
use crate::store::{Store, StoreError};

pub async fn unfinished(store: &Store) -> Result<Vec<OperationRecord>, StoreError> {
    operations::unfinished(store).await
}

/// The state that a journal leads to.
pub fn state(id: &OperationId, events: &[Event]) -> Result<State, StoreError> {
    State::replay(events).map_err(|error| illegal(id, &error))
}

/// A journal that no engine could have written.
pub fn illegal(id: &OperationId, error: &IllegalEvent) -> StoreError {
    StoreError::Broken(format!("the journal of operation {id}: {error}"))
}
