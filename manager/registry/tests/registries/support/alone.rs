//! For tests: registries without a manager, with registrations in memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use common::model::{Credential, CredentialName, RegistryDefinition, RegistryName};
use common::registry::sums::hex;
use jiff::Timestamp;
use manager_registry::{BoxError, Options, Registrations, Registries, RegistryError};
use tempfile::TempDir;

/// Registries that send a request each time, and may use loopback addresses.
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

/// The registrations, in memory.
#[derive(Default)]
struct InMemory {
    definitions: Mutex<BTreeMap<RegistryName, RegistryDefinition>>,
    credentials: Mutex<BTreeMap<CredentialName, (Credential, Timestamp)>>,
}

#[async_trait]
impl Registrations for InMemory {
    async fn definition(
        &self,
        name: &RegistryName,
    ) -> Result<Option<RegistryDefinition>, BoxError> {
        Ok(self.definitions.lock().unwrap().get(name).cloned())
    }

    async fn definitions(&self) -> Result<Vec<(RegistryName, RegistryDefinition)>, BoxError> {
        Ok(self
            .definitions
            .lock()
            .unwrap()
            .clone()
            .into_iter()
            .collect())
    }

    async fn credential(&self, name: &CredentialName) -> Result<(Credential, Timestamp), BoxError> {
        let found = self.credentials.lock().unwrap().get(name).cloned();
        found.ok_or_else(|| format!("credential '{name}' is not set").into())
    }
}

pub struct Alone {
    pub registries: Registries,
    registered: Arc<InMemory>,
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

    /// With the cache of another process.
    pub async fn on(options: &Options, cache: Arc<TempDir>) -> Result<Self, RegistryError> {
        let options = &Options {
            registry_cache: cache.path().to_owned(),
            ..options.clone()
        };
        let registered = Arc::new(InMemory::default());
        let registries = Registries::new(options, registered.clone())?;
        Ok(Self {
            registries,
            registered,
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
        let mut definitions = self.registered.definitions.lock().unwrap();
        definitions.insert(name, definition);
    }

    pub async fn set(&self, name: &str, credential: Credential) {
        let name = CredentialName::parse(name).unwrap();
        let mut credentials = self.registered.credentials.lock().unwrap();
        credentials.insert(name, (credential, Timestamp::now()));
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
            let digest = hex(&std::fs::read(&path).unwrap());
            let shown = path.strip_prefix(root).unwrap().display().to_string();
            lines.push(format!("{digest}  ./{shown}\n"));
        }
    }
}
