//! Limits on the deployments of a namespace and on the size of one deployment.
//!
//! Counting reads every deployment, so the last count is kept as an upper bound. It grows with each new deployment and
//! is counted again only when it reaches the limit. Deleted deployments, and creates that were refused later, are noticed
//! then.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use common::api::error::ErrorCode;
use common::model::{InputConfig, Namespace};
use tokio::sync::Mutex;

use crate::error::Error;
use crate::store::deployments::index;
use crate::store::{Store, operations};

const KIB: usize = 1024;

/// The operator's settings. An absent value means no limit.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Limits")]
pub struct Quotas {
    /// The maximum number of deployments in a namespace [default: no limit].
    #[arg(long, env = "DM_MAX_DEPLOYMENTS", value_name = "N")]
    pub max_deployments: Option<NonZeroUsize>,
    /// The maximum size of a deployment's configuration with its imports, in KiB [default: the limit of a request].
    #[arg(long, env = "DM_MAX_DEPLOYMENT_SIZE", value_name = "KIB")]
    pub max_deployment_size: Option<NonZeroUsize>,
}

/// [`Quotas`], and how much of them is used.
pub struct Quota {
    quotas: Quotas,
    store: Store,
    /// Upper bounds of the numbers of deployments, by namespace. Empty until the first count.
    counted: Mutex<BTreeMap<Namespace, usize>>,
}

impl Quota {
    pub fn new(quotas: Quotas, store: Store) -> Self {
        Self {
            quotas,
            store,
            counted: Mutex::default(),
        }
    }

    /// Refuses an input that exceeds the limit.
    pub fn check_size(&self, input: &InputConfig) -> Result<(), Error> {
        let Some(most) = self.quotas.max_deployment_size else {
            return Ok(());
        };
        let imports = input.imports.iter().map(|import| import.content.len());
        let size = input.content.len() + imports.sum::<usize>();
        if size <= most.get().saturating_mul(KIB) {
            return Ok(());
        }
        let message = format!(
            "the configuration with its imports has {} KiB, and a deployment may have {most} KiB (the manager's --max-deployment-size): import less, or divide it",
            size.div_ceil(KIB)
        );
        Err(Error::new(ErrorCode::QuotaExceeded, message))
    }

    /// Counts one more deployment, or refuses it.
    pub async fn take(&self, namespace: &Namespace) -> Result<(), Error> {
        let Some(most) = self.quotas.max_deployments else {
            return Ok(());
        };
        let mut counted = self.counted.lock().await;
        let taken = counted.get(namespace).copied();
        if taken.is_none_or(|taken| taken >= most.get()) {
            *counted = self.count().await?;
        }
        let taken = counted.entry(namespace.clone()).or_default();
        if *taken >= most.get() {
            let message = format!(
                "namespace '{namespace}' holds {taken} deployments, and may hold {most} (the manager's --max-deployments): delete one that is no longer needed, or use another namespace"
            );
            return Err(Error::new(ErrorCode::QuotaExceeded, message));
        }
        *taken += 1;
        Ok(())
    }

    /// The stored deployments, and those that are being created.
    async fn count(&self) -> Result<BTreeMap<Namespace, usize>, Error> {
        let mut counted: BTreeMap<_, usize> = BTreeMap::new();
        let mut begun = BTreeMap::new();
        // This order counts a deployment that is stored meanwhile once, by its name.
        for record in operations::unfinished(&self.store).await? {
            if let Some(new) = record.intent.new_deployment() {
                begun.insert(record.operation.deployment, new.namespace.clone());
            }
        }
        let mut stored = BTreeSet::new();
        index::each(&self.store, |row| {
            *counted.entry(row.namespace.clone()).or_default() += 1;
            if begun.contains_key(&row.name) {
                stored.insert(row.name.clone());
            }
        })
        .await?;
        let unstored = begun.into_iter().filter(|(name, _)| !stored.contains(name));
        for (_, namespace) in unstored {
            *counted.entry(namespace).or_default() += 1;
        }
        Ok(counted)
    }
}

#[cfg(test)]
mod tests {
    use common::api::manager::{CreateDeployment, WriteQuery};
    use common::client::ClientError;
    use serde_json::json;

    use super::*;
    use crate::testing::{Served, TestBed};

    async fn create(served: &Served, name: &str, namespace: &str) -> Result<(), ClientError> {
        let content = json!({"resources": [{"name": name, "type": "pair:v1"}]}).to_string();
        let request: CreateDeployment = serde_json::from_value(
            json!({"name": name, "content": content, "namespace": namespace}),
        )
        .unwrap();
        let created = served.client.create(&request, &WriteQuery::default()).await;
        created.map(drop)
    }

    fn refused(outcome: Result<(), ClientError>) -> String {
        match outcome {
            Err(ClientError::Answered(body)) if body.code == ErrorCode::QuotaExceeded => {
                body.message
            }
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_namespace_holds_as_many_deployments_as_it_may_and_others_are_not_touched() {
        let mut bed = TestBed::new();
        bed.quotas.max_deployments = NonZeroUsize::new(2);
        let served = Served::on(bed).await;
        create(&served, "a", "one").await.unwrap();
        create(&served, "b", "one").await.unwrap();
        let message = refused(create(&served, "c", "one").await);
        assert!(
            message.starts_with("namespace 'one' holds 2 deployments, and may hold 2"),
            "{message}"
        );
        create(&served, "c", "two").await.unwrap();
        let name = "a".parse().unwrap();
        let deleted = served.client.delete(&name, &WriteQuery::default()).await;
        deleted.unwrap();
        create(&served, "d", "one").await.unwrap();
        refused(create(&served, "e", "one").await);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_deployment_that_exists_is_named_before_the_limit_and_uses_none_of_it() {
        let mut bed = TestBed::new();
        bed.quotas.max_deployments = NonZeroUsize::new(2);
        let served = Served::on(bed).await;
        create(&served, "a", "one").await.unwrap();
        for _ in 0..3 {
            match create(&served, "a", "one").await {
                Err(ClientError::Answered(body)) if body.code == ErrorCode::AlreadyExists => {}
                other => panic!("{other:?}"),
            }
        }
        create(&served, "b", "one").await.unwrap();
        match create(&served, "b", "one").await {
            Err(ClientError::Answered(body)) if body.code == ErrorCode::AlreadyExists => {}
            other => panic!("{other:?}"),
        }
        refused(create(&served, "c", "one").await);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_deployment_is_as_large_as_it_may_be() {
        let mut bed = TestBed::new();
        bed.quotas.max_deployment_size = NonZeroUsize::new(1);
        let served = Served::on(bed).await;
        create(&served, "a", "one").await.unwrap();
        let content = format!("# {}\nresources: []", "x".repeat(KIB));
        let request = json!({"name": "large", "content": content});
        let request: CreateDeployment = serde_json::from_value(request).unwrap();
        let outcome = served.client.create(&request, &WriteQuery::default()).await;
        let message = refused(outcome.map(drop));
        assert!(
            message.contains("has 2 KiB, and a deployment may have 1 KiB"),
            "{message}"
        );
    }
}
