//! The events of an operation, in order, until it is done.

use common::model::OperationId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::operation::Event;
use crate::store::{Changes, Store, StoreError, keys, read};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::store) struct Entry {
    at: Timestamp,
    #[serde(flatten)]
    event: Event,
}

pub async fn read_all(store: &Store, id: &OperationId) -> Result<Vec<Event>, StoreError> {
    let entries = store.all(keys::journal(id)).await?;
    entries
        .iter()
        .map(|(key, bytes)| read::<Entry>(key, bytes).map(|entry| entry.event))
        .collect()
}

/// Adds the event with this number. Of two writers of the same number, one gets a conflict.
pub fn append(
    changes: &mut Changes,
    id: &OperationId,
    number: usize,
    event: &Event,
    at: Timestamp,
) -> Result<(), StoreError> {
    let key = keys::journal_entry(id, number);
    changes.expect(key.clone(), None);
    changes.put(
        key,
        &Entry {
            at,
            event: event.clone(),
        },
    )
}
