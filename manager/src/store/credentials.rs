//! Credentials, sealed by the vault.

use common::model::CredentialName;

use super::{Changes, Store, StoreError, keys};
use crate::vault::CredentialRecord;

pub async fn get(
    store: &Store,
    name: &CredentialName,
) -> Result<Option<CredentialRecord>, StoreError> {
    store.get(keys::credential(name)).await
}

/// All credentials, by name.
pub async fn list(store: &Store) -> Result<Vec<(CredentialName, CredentialRecord)>, StoreError> {
    store.named(keys::credentials()).await
}

pub async fn put(
    store: &Store,
    name: &CredentialName,
    record: &CredentialRecord,
) -> Result<(), StoreError> {
    let mut changes = Changes::default();
    changes.put(keys::credential(name), record)?;
    store.commit(changes).await
}

pub async fn delete(store: &Store, name: &CredentialName) -> Result<(), StoreError> {
    let mut changes = Changes::default();
    changes.delete(keys::credential(name));
    store.commit(changes).await
}
