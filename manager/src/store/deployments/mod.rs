//! Deployments, their objects in the cluster, and their locks.
//!
//! Only the operation that holds a deployment's lock writes its records.

pub mod clusters;
pub mod index;
pub mod recorded;
pub mod rows;

use common::api::page::{Page, PageQuery};
use common::model::{Deployment, DeploymentName, Identity, ManifestName, Namespace, OperationId};
use serde::Deserialize;

pub use self::recorded::{Objects, objects, put_objects};
use crate::store::kv::{Entry, Order};
use crate::store::{Changes, Store, StoreError, keys, read};

/// A deployment with the entry that was read, to find out at the commit whether it has changed.
#[derive(Debug, Clone)]
pub struct Found {
    pub deployment: Deployment,
    entry: Entry,
}

pub async fn find(store: &Store, name: &DeploymentName) -> Result<Option<Found>, StoreError> {
    let key = keys::deployment(name);
    // With its lock: callers look at that next, and a store on etcd need not be asked again then.
    let both = vec![key.clone(), keys::lock(name)];
    let found = store.kv.get_each(both).await?.into_iter().next();
    let Some(entry) = found.flatten() else {
        return Ok(None);
    };
    Ok(Some(Found {
        deployment: read(&key, &entry)?,
        entry,
    }))
}

pub async fn get(store: &Store, name: &DeploymentName) -> Result<Option<Deployment>, StoreError> {
    store.get(keys::deployment(name)).await
}

/// A page by name.
pub async fn page(store: &Store, page: &PageQuery) -> Result<Page<Deployment>, StoreError> {
    store
        .records(keys::deployments(), page, Order::Ascending)
        .await
}

pub fn put(changes: &mut Changes, deployment: &Deployment) -> Result<(), StoreError> {
    changes.put(keys::deployment(&deployment.name), deployment)
}

/// Requires that the deployment has not changed since it was read, or is still absent.
pub fn expect(changes: &mut Changes, name: &DeploymentName, found: Option<&Found>) {
    changes.expect(
        keys::deployment(name),
        found.map(|found| found.entry.clone()),
    );
}

/// The last writer of the deployment, if callers were authenticated.
pub async fn writer(store: &Store, name: &DeploymentName) -> Result<Option<Identity>, StoreError> {
    store.get(keys::writer(name)).await
}

pub fn put_writer(
    changes: &mut Changes,
    name: &DeploymentName,
    writer: Option<&Identity>,
) -> Result<(), StoreError> {
    match writer {
        Some(writer) => changes.put(keys::writer(name), writer),
        None => {
            changes.delete(keys::writer(name));
            Ok(())
        }
    }
}

/// The namespaces of the deployments. `None` for those that do not exist.
pub async fn namespaces(
    store: &Store,
    names: &[DeploymentName],
) -> Result<Vec<Option<Namespace>>, StoreError> {
    let keys: Vec<_> = names.iter().map(keys::deployment).collect();
    let found = store.kv.get_each(keys.clone()).await?;
    let namespace = |(key, entry): (Vec<u8>, Option<Entry>)| {
        let found = entry.map(|entry| read::<Placed>(&key, &entry));
        Ok(found.transpose()?.map(|placed| placed.namespace))
    };
    keys.into_iter().zip(found).map(namespace).collect()
}

/// The latest manifests of the deployments. `None` for those that do not exist or have none.
pub async fn latest_manifests(
    store: &Store,
    names: &[DeploymentName],
) -> Result<Vec<Option<ManifestName>>, StoreError> {
    let keys: Vec<_> = names.iter().map(keys::deployment).collect();
    let found = store.kv.get_each(keys.clone()).await?;
    let latest = |(key, entry): (Vec<u8>, Option<Entry>)| {
        let found = entry.map(|entry| read::<Advanced>(&key, &entry));
        Ok(found.transpose()?.and_then(|found| found.latest_manifest))
    };
    keys.into_iter().zip(found).map(latest).collect()
}

/// The part of a deployment's record that names its latest manifest.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Advanced {
    latest_manifest: Option<ManifestName>,
}

/// The part of a deployment's record that names its namespace.
#[derive(Deserialize)]
struct Placed {
    namespace: Namespace,
}

/// The operation that holds the deployment.
pub async fn holder(
    store: &Store,
    name: &DeploymentName,
) -> Result<Option<OperationId>, StoreError> {
    store.get(keys::lock(name)).await
}

/// Requires that no operation holds it.
pub fn hold(
    changes: &mut Changes,
    name: &DeploymentName,
    operation: &OperationId,
) -> Result<(), StoreError> {
    changes.expect(keys::lock(name), None);
    changes.put(keys::lock(name), operation)
}

/// Requires that no operation holds it, and removes the lock record.
pub fn expect_free(changes: &mut Changes, name: &DeploymentName) {
    changes.expect(keys::lock(name), None);
}

pub fn release(changes: &mut Changes, name: &DeploymentName) {
    changes.delete(keys::lock(name));
}

/// Removes its records. Manifests and instances are removed separately.
pub fn delete(changes: &mut Changes, name: &DeploymentName) {
    changes.delete(keys::deployment(name));
    changes.delete(keys::objects(name));
    changes.delete_prefix(keys::recorded_pieces(name));
    changes.delete(keys::writer(name));
}
