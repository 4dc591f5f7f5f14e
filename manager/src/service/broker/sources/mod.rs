//! Where the catalog of the service broker comes from: an adapter for each kind of address.

mod objects;
mod registry;
mod templates;

use std::sync::Arc;

use common::model::Identity;
use manager_broker::{Address, FileSource, Source};

use self::objects::ObjectsSource;
use self::registry::RegistrySource;
use self::templates::TemplatesSource;
use crate::deployer::Deployer;
use crate::store::Store;

/// What the sources are read from.
pub struct Sources {
    pub store: Store,
    pub registries: Arc<manager_registry::Registries>,
    /// That of the manager's own cluster.
    pub deployer: Arc<dyn Deployer>,
    /// The user in whose name objects are read.
    pub reader: Option<Identity>,
}

impl Sources {
    pub fn open(&self, address: &Address) -> Arc<dyn Source> {
        match address {
            Address::File(path) => Arc::new(FileSource::new(path.clone())),
            Address::Registry(reference) => Arc::new(RegistrySource {
                registries: self.registries.clone(),
                reference: reference.clone(),
            }),
            Address::Objects(objects) => Arc::new(ObjectsSource {
                deployer: self.deployer.clone(),
                objects: objects.clone(),
                reader: self.reader.clone(),
            }),
            Address::Templates(namespace) => Arc::new(TemplatesSource {
                store: self.store.clone(),
                namespace: namespace.clone(),
            }),
        }
    }
}
