//! Registered clusters, and the one of the manager's own resourcifier.

use std::sync::Arc;

use common::api::error::ErrorCode;
use common::api::page::{Page, PageQuery};
use common::model::{Cluster, ClusterName, CredentialType, DeploymentName};

use crate::clusters;
use crate::credentials::{Vault, VaultError};
use crate::error::Error;
use crate::service::pages::by_name;
use crate::store::deployments::clusters::{self as records, ClusterRecord, FoundCluster};
use crate::store::deployments::index;
use crate::store::operations::answers;
use crate::store::{Store, operations};

/// A refused removal names so many deployments.
const NAMED: usize = 5;

pub struct Clusters {
    pub store: Store,
    pub vault: Arc<Vault>,
    /// The URL of the manager's own resourcifier.
    pub own_url: String,
}

impl Clusters {
    pub async fn list(&self, page: &PageQuery) -> Result<Page<Cluster>, Error> {
        Ok(by_name(
            self.all().await?,
            |cluster| cluster.name.as_str(),
            page,
        )?)
    }

    /// All of them, by name.
    pub async fn all(&self) -> Result<Vec<Cluster>, Error> {
        let mut all = records::list(&self.store).await?;
        all.retain(|cluster| !cluster.name.is_default());
        all.push(self.own().await?);
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }

    pub async fn get(&self, name: &ClusterName) -> Result<Cluster, Error> {
        match name.is_default() {
            true => self.own().await,
            false => Ok(self.found(name).await?.record.cluster),
        }
    }

    /// The cluster is not called: it can be registered while it is unavailable.
    pub async fn create(&self, cluster: Cluster) -> Result<Cluster, Error> {
        self.check(&cluster).await?;
        let name = cluster.name.clone();
        answers::created(&cluster)?;
        match records::put(&self.store, None, &kept(&cluster)).await {
            Err(error) if error.is_conflict() => Err(Error::new(
                ErrorCode::AlreadyExists,
                format!("cluster '{name}' exists"),
            )),
            created => {
                created?;
                tracing::info!(cluster = %name, url = cluster.url, "registered cluster {name}");
                Ok(cluster)
            }
        }
    }

    /// Replaces all that is known of the cluster. Its deployments stay, and the next call uses the new URL.
    pub async fn replace(&self, name: &ClusterName, cluster: Cluster) -> Result<Cluster, Error> {
        if cluster.name != *name {
            let message = format!(
                "the path names cluster '{name}', and the body '{}'",
                cluster.name
            );
            return Err(Error::new(ErrorCode::InvalidRequest, message));
        }
        if name.is_default() {
            return self.describe(cluster).await;
        }
        self.check(&cluster).await?;
        let found = self.found(name).await?;
        answers::done(&cluster)?;
        put(&self.store, &found, &kept(&cluster)).await?;
        tracing::info!(cluster = %name, url = cluster.url, "changed cluster {name}");
        Ok(cluster)
    }

    /// Removes a cluster that no deployment is on.
    pub async fn delete(&self, name: &ClusterName) -> Result<Cluster, Error> {
        if name.is_default() {
            return Err(own(name, "it cannot be removed"));
        }
        let found = self.found(name).await?;
        let cluster = found.record.cluster.clone();
        let marked = ClusterRecord {
            removing: true,
            ..kept(&cluster)
        };
        put(&self.store, &found, &marked).await?;
        let found = self.found(name).await?;
        let users = self.users(name).await?;
        if !users.is_empty() {
            put(&self.store, &found, &kept(&cluster)).await?;
            return Err(in_use(name, &users));
        }
        answers::done(&cluster)?;
        let deleted = records::delete(&self.store, &found).await;
        deleted.map_err(|error| changed(name, error))?;
        tracing::info!(cluster = %name, "removed cluster {name}");
        Ok(cluster)
    }

    /// That of the manager's own resourcifier. Its record has only what an administrator says of it.
    async fn own(&self) -> Result<Cluster, Error> {
        let name = ClusterName::default();
        let said = records::find(&self.store, &name).await?;
        let said = said.map(|found| found.record.cluster);
        let (labels, capacity) = said.map(|one| (one.labels, one.capacity)).unzip();
        Ok(Cluster {
            name,
            url: common::address::without_user(&self.own_url),
            labels: labels.unwrap_or_default(),
            capacity: capacity.flatten(),
            credential: None,
            ca: None,
        })
    }

    /// Keeps the labels and the capacity of the manager's own cluster. Flags of the manager say all else.
    async fn describe(&self, cluster: Cluster) -> Result<Cluster, Error> {
        let described = Cluster {
            labels: cluster.labels.clone(),
            capacity: cluster.capacity.clone(),
            ..self.own().await?
        };
        if cluster != described {
            return Err(own(
                &cluster.name,
                "change only its labels and its capacity",
            ));
        }
        refused(&described, None)?;
        let found = records::find(&self.store, &described.name).await?;
        answers::done(&described)?;
        let put = records::put(&self.store, found.as_ref(), &kept(&described)).await;
        put.map_err(|error| changed(&described.name, error))?;
        tracing::info!("changed cluster {}", described.name);
        Ok(described)
    }

    async fn found(&self, name: &ClusterName) -> Result<FoundCluster, Error> {
        let found = records::find(&self.store, name).await?;
        found.ok_or_else(|| {
            let message =
                format!("there is no cluster '{name}'; dm clusters lists those that there are");
            Error::new(ErrorCode::NotFound, message)
        })
    }

    async fn check(&self, cluster: &Cluster) -> Result<(), Error> {
        let name = &cluster.name;
        if name.is_default() {
            return Err(own(name, "choose another name"));
        }
        refused(cluster, None)?;
        let Some(credential) = &cluster.credential else {
            return Ok(());
        };
        let found = self.vault.get(credential).await;
        let found = found.map_err(|error| match error {
            VaultError::Unknown(_) => Error::invalid(&error),
            error => error.into(),
        })?;
        refused(cluster, Some(found.credential_type))
    }

    /// The deployments on the cluster, and those that an operation is about to create.
    async fn users(&self, name: &ClusterName) -> Result<Vec<DeploymentName>, Error> {
        let unfinished = operations::unfinished(&self.store).await?.into_iter();
        let mut users: Vec<_> = unfinished
            .filter(|record| record.cluster == *name)
            .map(|record| record.operation.deployment)
            .collect();
        index::each(&self.store, |row| {
            if row.cluster == *name {
                users.push(row.name.clone());
            }
        })
        .await?;
        users.sort();
        users.dedup();
        Ok(users)
    }
}

fn refused(cluster: &Cluster, credential: Option<CredentialType>) -> Result<(), Error> {
    match clusters::fault(cluster, credential) {
        Some(fault) => Err(Error::invalid(&format!(
            "cluster '{}' is refused: {fault}",
            cluster.name
        ))),
        None => Ok(()),
    }
}

fn kept(cluster: &Cluster) -> ClusterRecord {
    ClusterRecord {
        cluster: cluster.clone(),
        removing: false,
    }
}

async fn put(store: &Store, found: &FoundCluster, record: &ClusterRecord) -> Result<(), Error> {
    let put = records::put(store, Some(found), record).await;
    put.map_err(|error| changed(&record.cluster.name, error))
}

fn changed(name: &ClusterName, error: crate::store::StoreError) -> Error {
    match error.is_conflict() {
        true => Error::new(
            ErrorCode::Unavailable,
            format!("somebody else has changed cluster '{name}' meanwhile; try again"),
        ),
        false => error.into(),
    }
}

fn own(name: &ClusterName, advice: &str) -> Error {
    let message = format!(
        "cluster '{name}' is that of the manager's own resourcifier (--deployer-url); {advice}"
    );
    Error::new(ErrorCode::InvalidRequest, message)
}

fn in_use(name: &ClusterName, users: &[DeploymentName]) -> Error {
    let named: Vec<_> = users.iter().take(NAMED).map(|user| user.as_str()).collect();
    let further = match users.len() - named.len() {
        0 => String::new(),
        further => format!(" and {further} more"),
    };
    let message = format!(
        "cluster '{name}' has deployments: {}{further}; delete them first (dm list --cluster {name})",
        named.join(", ")
    );
    Error::new(ErrorCode::InUse, message)
}
