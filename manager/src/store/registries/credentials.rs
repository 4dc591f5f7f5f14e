//! Credentials, sealed by the vault.

use common::api::manager::CredentialSummary;
use common::model::{CredentialName, CredentialType};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::keys::Sealed;
use crate::store::{Changes, Store, StoreError, keys};

/// The stored record of a credential.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CredentialRecord {
    pub kind: CredentialType,
    pub username: Option<String>,
    pub created_at: Timestamp,
    pub modified_at: Timestamp,
    pub sealed: Sealed,
}

impl CredentialRecord {
    pub fn summary(self, name: CredentialName) -> CredentialSummary {
        CredentialSummary {
            name,
            credential_type: self.kind,
            username: self.username,
            created_at: self.created_at,
            modified_at: self.modified_at,
        }
    }
}

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
