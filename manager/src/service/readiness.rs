//! Whether the manager is ready, and what it waits for.

use std::sync::Arc;

use common::server::answer::error::chain;
use common::server::observe::health::Check;
use manager_registry::Registries;

use crate::audit::Audit;
use crate::deployer::Deployer;
use crate::expander::Expander;
use crate::store::Store;

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
            self.store.check(),
            self.expander.health(),
            self.deployer.health(),
            self.registries.health()
        );
        let store = Check::of(
            "store",
            store.map(|()| String::new()).map_err(|error| chain(&error)),
        );
        let mut checks = vec![store, expander, deployer, registry];
        checks.extend(self.audit.health());
        checks
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
}
