//! Registered template registries.

pub mod credentials;

use common::model::{RegistryDefinition, RegistryName};

use super::{Changes, Store, StoreError, keys};

pub async fn get(
    store: &Store,
    name: &RegistryName,
) -> Result<Option<RegistryDefinition>, StoreError> {
    store.get(keys::registry(name)).await
}

/// All registries, by name.
pub async fn list(store: &Store) -> Result<Vec<(RegistryName, RegistryDefinition)>, StoreError> {
    store.named(keys::registries()).await
}

/// A conflict if the name is taken.
pub async fn create(
    store: &Store,
    name: &RegistryName,
    definition: &RegistryDefinition,
) -> Result<(), StoreError> {
    let mut changes = Changes::default();
    changes.expect(keys::registry(name), None);
    changes.put(keys::registry(name), definition)?;
    store.commit(changes).await
}

pub async fn delete(store: &Store, name: &RegistryName) -> Result<(), StoreError> {
    let mut changes = Changes::default();
    changes.delete(keys::registry(name));
    store.commit(changes).await
}
