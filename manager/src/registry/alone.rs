//! For tests: registries without a manager around them, on a store in memory.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use common::model::{Credential, CredentialName, RegistryName};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::tree::hex;
use super::{Options, Registries, RegistryError};
use crate::store::kv::MemoryKv;
use crate::store::{self, Store};
use crate::vault::{KeyPlace, Ring, Vault};

/// Registries that ask anew each time, and may ask loopback.
pub fn options(registry: &str) -> Options {
    Options {
        registry: Some(registry.to_owned()),
        registry_refresh: Duration::ZERO,
        allow_private_registries: true,
        ..Options::default()
    }
}

pub async fn alone(options: &Options) -> Result<Alone, RegistryError> {
    Alone::new(options).await
}

pub struct Alone {
    pub registries: Registries,
    pub vault: Arc<Vault>,
    store: Store,
    cache: Arc<TempDir>,
}

impl std::ops::Deref for Alone {
    type Target = Registries;

    fn deref(&self) -> &Registries {
        &self.registries
    }
}

impl Alone {
    /// With a cache of its own.
    pub async fn new(options: &Options) -> Result<Self, RegistryError> {
        Self::on(options, Arc::new(tempfile::tempdir().unwrap())).await
    }

    /// With the cache that another process leaves.
    pub async fn on(options: &Options, cache: Arc<TempDir>) -> Result<Self, RegistryError> {
        let options = &Options {
            registry_cache: cache.path().to_owned(),
            ..options.clone()
        };
        let store = Store::open(Arc::new(MemoryKv::default())).await.unwrap();
        let vault = Arc::new(Vault::new(
            store.clone(),
            Arc::new(Ring::open(KeyPlace::Memory, false).unwrap()),
        ));
        let registries = Registries::new(options, store.clone(), vault.clone())?;
        Ok(Self {
            registries,
            vault,
            store,
            cache,
        })
    }

    pub fn cache(&self) -> Arc<TempDir> {
        self.cache.clone()
    }

    pub async fn register(&self, name: &str, definition: serde_json::Value) {
        let name = RegistryName::parse(name).unwrap();
        let definition = serde_json::from_value(definition).unwrap();
        self.registries.check(&definition).unwrap();
        let created = store::registries::create(&self.store, &name, &definition);
        created.await.unwrap();
    }

    pub async fn set(&self, name: &str, credential: Credential) {
        let name = CredentialName::parse(name).unwrap();
        let set = self.vault.set(&name, &credential, Timestamp::now()).await;
        set.unwrap();
    }
}

/// Writes a folder's `SHA256SUMS`, as `sha256sum` would.
pub fn list_files(root: &Path) {
    let mut lines = Vec::new();
    add(root, root, &mut lines);
    std::fs::write(root.join("SHA256SUMS"), lines.concat()).unwrap();
}

fn add(root: &Path, folder: &Path, lines: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add(root, &path, lines);
        } else if !path.ends_with("SHA256SUMS") {
            let digest = hex(Sha256::new_with_prefix(std::fs::read(&path).unwrap()));
            let shown = path.strip_prefix(root).unwrap().display().to_string();
            lines.push(format!("{digest}  ./{shown}\n"));
        }
    }
}
