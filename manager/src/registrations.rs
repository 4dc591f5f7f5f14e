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

#[cfg(test)]
mod tests {
    use common::model::Secret;
    use serde_json::json;

    use super::*;
    use crate::keys::{KeyPlace, Ring};
    use crate::store::kv::MemoryKv;

    #[tokio::test]
    async fn what_is_registered_is_found_and_a_missing_credential_says_how_to_set_it() {
        let store = Store::open(Arc::new(MemoryKv::default())).await.unwrap();
        let ring = Arc::new(Ring::open(KeyPlace::Memory, false).unwrap());
        let vault = Arc::new(Vault::new(store.clone(), ring));
        let name = RegistryName::parse("shop").unwrap();
        let definition = json!({"type": "http", "url": "https://host/", "credential": "own"});
        let definition: RegistryDefinition = serde_json::from_value(definition).unwrap();
        let own = definition.credential.clone().unwrap();
        registries::create(&store, &name, &definition)
            .await
            .unwrap();
        let registrations = StoredRegistrations {
            store,
            vault: vault.clone(),
        };

        let found = registrations.definition(&name).await.unwrap();
        assert_eq!(found.as_ref(), Some(&definition));
        let all = registrations.definitions().await.unwrap();
        assert_eq!(all, [(name, definition)]);
        let missing = registrations.credential(&own).await.unwrap_err();
        let message = missing.to_string();
        assert!(message.contains("dm setcredential own"), "{message}");

        let (token, now) = (Credential::Token(Secret::new("t")), Timestamp::UNIX_EPOCH);
        vault.set(&own, &token, now).await.unwrap();
        assert_eq!(registrations.credential(&own).await.unwrap(), (token, now));
    }
}
