//! The use cases, by noun: model in, model out. They decide and refuse; they know no HTTP.

pub mod admin;
pub mod credentials;
pub mod deployments;
pub mod expand;
pub mod manifests;
pub mod operations;
pub mod readiness;
pub mod registries;
pub mod types;

use std::sync::Arc;
use std::time::Duration;

use self::admin::Admin;
use self::credentials::Credentials;
use self::deployments::Deployments;
use self::expand::Expand;
use self::manifests::Manifests;
use self::operations::Operations;
use self::readiness::Readiness;
use self::registries::Catalog;
use self::types::Types;
use crate::deployer::Deployer;
use crate::expander::Expander;
use crate::registry::Registries;
use crate::store::Store;
use crate::workflow::Engine;
use crate::workflow::expansion::Expansions;

/// All use cases; clones work on the same.
#[derive(Clone)]
pub struct Services {
    pub admin: Arc<Admin>,
    pub deployments: Arc<Deployments>,
    pub manifests: Arc<Manifests>,
    pub operations: Arc<Operations>,
    pub types: Arc<Types>,
    pub catalog: Arc<Catalog>,
    pub credentials: Arc<Credentials>,
    pub expand: Arc<Expand>,
    pub readiness: Arc<Readiness>,
}

impl Services {
    pub fn new(
        store: Store,
        engine: Engine,
        registries: Arc<Registries>,
        expansions: Arc<Expansions>,
        expander: Arc<dyn Expander>,
        deployer: Arc<dyn Deployer>,
        operation_timeout: Duration,
    ) -> Self {
        let vault = registries.vault();
        Self {
            admin: Arc::new(Admin {
                store: store.clone(),
                engine: engine.clone(),
            }),
            deployments: Arc::new(Deployments {
                store: store.clone(),
                engine: engine.clone(),
                deployer: deployer.clone(),
                operation_timeout,
            }),
            manifests: Arc::new(Manifests {
                store: store.clone(),
            }),
            operations: Arc::new(Operations {
                store: store.clone(),
                engine,
            }),
            types: Arc::new(Types {
                store: store.clone(),
            }),
            catalog: Arc::new(Catalog {
                registries: registries.clone(),
                store: store.clone(),
                vault: vault.clone(),
            }),
            credentials: Arc::new(Credentials {
                vault,
                store: store.clone(),
            }),
            expand: Arc::new(Expand {
                expansions,
                operation_timeout,
            }),
            readiness: Arc::new(Readiness {
                store,
                expander,
                deployer,
                registries,
            }),
        }
    }
}
