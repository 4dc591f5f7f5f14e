//! Registered clusters.
//!
//! A deployment that is created expects its cluster as it was read, and a removal first marks the cluster. So no deployment
//! is created on a cluster while it is removed.

use common::model::{Cluster, ClusterName};
use serde::{Deserialize, Serialize};

use crate::store::kv::Entry;
use crate::store::{Changes, Store, StoreError, keys, read};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterRecord {
    pub cluster: Cluster,
    /// Whether a removal has begun. No deployment is created on it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removing: bool,
}

/// A cluster with the entry that was read.
#[derive(Debug, Clone)]
pub struct FoundCluster {
    pub record: ClusterRecord,
    entry: Entry,
}

pub async fn find(store: &Store, name: &ClusterName) -> Result<Option<FoundCluster>, StoreError> {
    let key = keys::cluster(name);
    let Some(entry) = store.kv.get(&key).await? else {
        return Ok(None);
    };
    Ok(Some(FoundCluster {
        record: read(&key, &entry)?,
        entry,
    }))
}

/// All registered clusters, by name.
pub async fn list(store: &Store) -> Result<Vec<Cluster>, StoreError> {
    let all: Vec<(ClusterName, ClusterRecord)> = store.named(keys::clusters()).await?;
    Ok(all.into_iter().map(|(_, record)| record.cluster).collect())
}

/// Requires that the cluster has not changed since it was read.
pub fn expect(changes: &mut Changes, found: &FoundCluster) {
    let name = &found.record.cluster.name;
    changes.expect(keys::cluster(name), Some(found.entry.clone()));
}

/// A conflict if the name is taken, or if the cluster has changed since it was found.
pub async fn put(
    store: &Store,
    found: Option<&FoundCluster>,
    record: &ClusterRecord,
) -> Result<(), StoreError> {
    let mut changes = Changes::default();
    let key = keys::cluster(&record.cluster.name);
    changes.expect(key.clone(), found.map(|found| found.entry.clone()));
    changes.put(key, record)?;
    store.commit(changes).await
}

/// A conflict if the cluster has changed since it was found.
pub async fn delete(store: &Store, found: &FoundCluster) -> Result<(), StoreError> {
    let mut changes = Changes::default();
    expect(&mut changes, found);
    changes.delete(keys::cluster(&found.record.cluster.name));
    store.commit(changes).await
}
