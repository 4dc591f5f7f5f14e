//! What is registered, for the registries: definitions from the store, credentials from the vault.

use std::sync::Arc;

use async_trait::async_trait;
use common::model::{Credential, CredentialName, RegistryDefinition, RegistryName};
use jiff::Timestamp;
use manager_registry::{BoxError, Registrations};

use crate::credentials::Vault;
use crate::store::{Store, registries};

pub struct StoredRegistrations {
    pub store: Store,
    pub vault: Arc<Vault>,
}

#[async_trait]
impl Registrations for StoredRegistrations {
    async fn definition(
        &self,
        name: &RegistryName,
    ) -> Result<Option<RegistryDefinition>, BoxError> {
        Ok(registries::get(&self.store, name).await?)
    }

    async fn definitions(&self) -> Result<Vec<(RegistryName, RegistryDefinition)>, BoxError> {
        Ok(registries::list(&self.store).await?)
    }

    async fn credential(&self, name: &CredentialName) -> Result<(Credential, Timestamp), BoxError> {
        Ok(self.vault.reveal(name).await?)
    }
}
