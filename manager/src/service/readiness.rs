//! Whether the manager is ready, and what it waits for.

use std::sync::Arc;
use std::time::Duration;

use common::server::answer::error::chain;
use common::server::observe::health::Check;
use manager_registry::Registries;
use tokio::time::timeout;

use crate::audit::Audit;
use crate::deployer::Deployer;
use crate::expander::Expander;
use crate::store::{Store, StoreError};

/// The store's time for the answer. Probes wait for some seconds.
const STORE: Duration = Duration::from_secs(2);

pub struct Readiness {
    pub store: Store,
    pub expander: Arc<dyn Expander>,
    pub deployer: Arc<dyn Deployer>,
    pub registries: Arc<Registries>,
    pub audit: Audit,
}

impl Readiness {
    pub async fn checks(&self) -> Vec<Check> {
        let (store, expander, deployer, registry) = tokio::join!(
            in_time(self.store.check()),
            self.expander.health(),
            self.deployer.health(),
            self.registries.health()
        );
        let store = Check::of("store", store.map(|()| String::new()));
        let mut checks = vec![store, expander, deployer, registry];
        checks.extend(self.audit.health());
        checks
    }
}

/// A store that does not answer waits for a leader of its own, for longer than probes do.
async fn in_time(check: impl Future<Output = Result<(), StoreError>>) -> Result<(), String> {
    match timeout(STORE, check).await {
        Ok(checked) => checked.map_err(|error| chain(&error)),
        Err(_) => Err(format!(
            "the store has not answered within {} s; if it is on etcd, most of its members must be alive and reach each other: look at etcdctl endpoint status --cluster",
            STORE.as_secs()
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::testing::{DyingKv, TestBed};

    #[tokio::test]
    async fn a_store_whose_disk_is_full_is_not_ready_and_says_so() {
        let bed = TestBed::new();
        let store = |checks: Vec<super::Check>| {
            let mut checks = checks.into_iter();
            checks.find(|check| check.name == "store").unwrap()
        };
        let roomy = bed.manager().await;
        assert!(store(roomy.services.readiness.checks().await).ready);
        let full = DyingKv::full_after(0, Arc::clone(&bed.kv));
        let full = bed.manager_on(full).await;
        let found = store(full.services.readiness.checks().await);
        assert!(
            !found.ready && found.message.contains("disk is full"),
            "{found:?}"
        );
    }

    #[tokio::test]
    async fn a_store_that_never_answers_is_not_ready_and_says_where_to_look() {
        let said = super::in_time(std::future::pending()).await.unwrap_err();
        assert!(said.contains("etcdctl endpoint status"), "{said}");
    }
}
