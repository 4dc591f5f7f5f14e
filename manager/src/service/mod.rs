//! The use cases, one file for each noun. They take and return model types, and know no HTTP.

pub mod access;
pub mod admin;
pub mod broker;
pub mod deployments;
pub mod expand;
pub mod operations;
mod pages;
pub mod readiness;
pub mod registries;
pub mod templates;
pub mod writes;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use common::model::{ClusterName, Identity};
use manager_registry::Registries;

use self::access::gate::Gate;
use self::access::visibility::VisibilityFilters;
use self::admin::Admin;
use self::admin::clusters::Clusters;
use self::broker::BrokerDeployments;
use self::broker::sources::Sources;
use self::deployments::Deployments;
use self::deployments::activity::Activity;
use self::deployments::drift::DriftChecks;
use self::deployments::live::LiveState;
use self::deployments::manifests::Manifests;
use self::deployments::previews::Previews;
use self::expand::Expand;
use self::operations::Operations;
use self::readiness::Readiness;
use self::registries::Catalog;
use self::registries::credentials::Credentials;
use self::templates::live_export::LiveExport;
use self::templates::stored_templates::StoredTemplates;
use self::templates::types::Types;
use self::templates::whatif::WhatIfs;
use self::writes::Writes;
use self::writes::answers::Answers;
use self::writes::quota::{Quota, Quotas};
use crate::audit::Audit;
use crate::auth::{AccessControl, Auth, Authenticators, BrowserAccess};
use crate::credentials::Vault;
use crate::deployer::{Deployer, Deployers};
use crate::expander::Expander;
use crate::store::Store;
use crate::workflow::expansion::Expansions;
use crate::workflow::{Engine, Retry};

/// All use cases. Clones share the same state.
#[derive(Clone)]
pub struct Services {
    pub admin: Arc<Admin>,
    pub answers: Arc<Answers>,
    pub clusters: Arc<Clusters>,
    pub deployments: Arc<Deployments>,
    pub writes: Arc<Writes>,
    pub previews: Arc<Previews>,
    pub live: Arc<LiveState>,
    pub activity: Arc<Activity>,
    pub drift: Arc<DriftChecks>,
    pub manifests: Arc<Manifests>,
    pub operations: Arc<Operations>,
    pub types: Arc<Types>,
    pub whatifs: Arc<WhatIfs>,
    pub catalog: Arc<Catalog>,
    pub stored_templates: Arc<StoredTemplates>,
    pub live_export: Arc<LiveExport>,
    pub credentials: Arc<Credentials>,
    pub expand: Arc<Expand>,
    pub readiness: Arc<Readiness>,
    pub gate: Arc<Gate>,
    pub authenticators: Authenticators,
    pub browsers: BrowserAccess,
    pub audit: Audit,
    /// Proxies whose `X-Forwarded-For` header is trusted.
    pub trusted_proxies: Arc<[IpAddr]>,
}

/// What the use cases work with.
pub struct Dependencies {
    pub store: Store,
    pub engine: Engine,
    pub registries: Arc<Registries>,
    pub vault: Arc<Vault>,
    pub expansions: Arc<Expansions>,
    pub expander: Arc<dyn Expander>,
    pub deployer: Arc<dyn Deployer>,
    pub deployer_url: String,
    pub deployers: Arc<dyn Deployers>,
    pub access: AccessControl,
    pub retry: Retry,
    pub operation_timeout: Duration,
    pub auth: Auth,
    pub quotas: Quotas,
    /// Whether the manager checks for drift on a schedule.
    pub drift_checks: bool,
}

impl Services {
    /// The deployments of a service broker.
    pub fn broker_deployments(&self) -> BrokerDeployments {
        BrokerDeployments {
            writes: self.writes.clone(),
            clusters: self.clusters.clone(),
            expand: self.expand.clone(),
            deployers: self.live.deployers.clone(),
        }
    }

    /// Where the catalog of a service broker comes from. Objects of the cluster are read in the name of a user.
    pub fn broker_sources(&self, reader: Option<Identity>) -> Sources {
        Sources {
            store: self.writes.store.clone(),
            registries: self.catalog.registries.clone(),
            deployer: self.live.deployers.of(&ClusterName::default()),
            reader,
        }
    }

    pub fn new(dependencies: Dependencies) -> Self {
        let (store, operation_timeout) = (dependencies.store, dependencies.operation_timeout);
        let gate = Gate {
            store: store.clone(),
            access: dependencies.access.clone(),
        };
        let filters = VisibilityFilters {
            store: store.clone(),
            access: dependencies.access,
        };
        let writes = Arc::new(Writes {
            store: store.clone(),
            gate: gate.clone(),
            engine: dependencies.engine.clone(),
            operation_timeout,
            quota: Quota::new(dependencies.quotas, store.clone()),
        });
        let live = Arc::new(LiveState {
            store: store.clone(),
            deployers: dependencies.deployers.clone(),
        });
        let vault = dependencies.vault;
        Self {
            answers: Arc::new(Answers::new(store.clone())),
            admin: Arc::new(Admin {
                store: store.clone(),
                engine: dependencies.engine.clone(),
                vault: vault.clone(),
            }),
            clusters: Arc::new(Clusters {
                store: store.clone(),
                vault: vault.clone(),
                own_url: dependencies.deployer_url,
            }),
            deployments: Arc::new(Deployments {
                store: store.clone(),
                filters: filters.clone(),
                drift_checks: dependencies.drift_checks,
            }),
            drift: Arc::new(DriftChecks {
                store: store.clone(),
                live: live.clone(),
                writes: writes.clone(),
            }),
            writes,
            live,
            activity: Arc::new(Activity {
                store: store.clone(),
                engine: dependencies.engine.clone(),
                deployers: dependencies.deployers.clone(),
            }),
            previews: Arc::new(Previews {
                store: store.clone(),
                gate: gate.clone(),
                expansions: dependencies.expansions.clone(),
                deployers: dependencies.deployers.clone(),
                retry: dependencies.retry,
                operation_timeout,
            }),
            manifests: Arc::new(Manifests {
                store: store.clone(),
            }),
            operations: Arc::new(Operations {
                store: store.clone(),
                filters: filters.clone(),
                engine: dependencies.engine,
            }),
            types: Arc::new(Types {
                store: store.clone(),
                filters: filters.clone(),
            }),
            whatifs: Arc::new(WhatIfs {
                store: store.clone(),
                filters,
                expansions: dependencies.expansions.clone(),
                timeout: operation_timeout,
            }),
            catalog: Arc::new(Catalog {
                registries: dependencies.registries.clone(),
                store: store.clone(),
                vault: vault.clone(),
            }),
            stored_templates: Arc::new(StoredTemplates {
                store: store.clone(),
                access: gate.access.clone(),
            }),
            live_export: Arc::new(LiveExport {
                deployers: dependencies.deployers.clone(),
                access: gate.access.clone(),
            }),
            credentials: Arc::new(Credentials {
                vault,
                store: store.clone(),
            }),
            expand: Arc::new(Expand {
                expansions: dependencies.expansions,
                operation_timeout,
            }),
            gate: Arc::new(gate),
            authenticators: dependencies.auth.authenticators,
            browsers: dependencies.auth.browsers,
            audit: dependencies.auth.audit.clone(),
            trusted_proxies: dependencies.auth.trusted_proxies.into(),
            readiness: Arc::new(Readiness {
                store,
                expander: dependencies.expander,
                deployer: dependencies.deployer,
                registries: dependencies.registries,
                audit: dependencies.auth.audit,
            }),
        }
    }
}
