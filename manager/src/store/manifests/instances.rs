//! The index of type instances. It holds exactly what the layout of each deployment's latest manifest lists.
//!
//! It changes in the commit that makes a manifest the latest one, and in the commit that removes the deployment.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use common::api::manager::{TypeInstance, TypeSummary};
use common::api::page::{Page, PageQuery};
use common::model::{DeploymentName, LayoutPath, ManifestName, ResourceName, TypeName};
use serde::{Deserialize, Serialize};

use crate::domain::manifest::instances;
use crate::store::kv::{self, Key, Order};
use crate::store::{Changes, Store, StoreError, deployments, format, keys, read};

/// Every type with instances, by name.
pub async fn types(store: &Store, page: &PageQuery) -> Result<Page<TypeSummary>, StoreError> {
    let prefix = keys::types();
    let page = store.page(prefix.clone(), page, Order::Ascending).await?;
    let summary = |(key, count): &(Key, Bytes)| {
        let name = std::str::from_utf8(key.get(prefix.len()..).unwrap_or_default()).ok();
        let name = name.and_then(|name| TypeName::parse(name).ok());
        let count = kv::number(count).and_then(|count| u64::try_from(count).ok());
        let unusable = || StoreError::Broken(format!("{} counts no type", keys::shown(key)));
        let (name, instances) = name.zip(count).ok_or_else(unusable)?;
        Ok(TypeSummary { name, instances })
    };
    Ok(Page {
        items: page
            .items
            .iter()
            .map(summary)
            .collect::<Result<_, StoreError>>()?,
        next_page_token: page.next_page_token,
    })
}

/// What is stored of an instance. In format 2, the name of the manifest too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Indexed {
    name: ResourceName,
    #[serde(rename = "type")]
    pub type_name: TypeName,
    deployment: DeploymentName,
    path: LayoutPath,
}

impl From<&TypeInstance> for Indexed {
    fn from(instance: &TypeInstance) -> Self {
        Self {
            name: instance.name.clone(),
            type_name: instance.type_name.clone(),
            deployment: instance.deployment.clone(),
            path: instance.path.clone(),
        }
    }
}

impl Indexed {
    fn of(self, manifest: ManifestName) -> TypeInstance {
        TypeInstance {
            name: self.name,
            type_name: self.type_name,
            deployment: self.deployment,
            manifest,
            path: self.path,
        }
    }
}

/// A page of the instances of one type or of all types. Their manifests are those that are in force now. A page may be shorter
/// than its limit: instances of a deployment that was removed meanwhile are left out.
pub async fn page(
    store: &Store,
    type_name: Option<&TypeName>,
    page: &PageQuery,
) -> Result<Page<TypeInstance>, StoreError> {
    let prefix = type_name.map_or_else(keys::all_instances, keys::instances);
    let page: Page<Indexed> = store.records(prefix, page, Order::Ascending).await?;
    let names: BTreeSet<_> = page.items.iter().map(|item| &item.deployment).collect();
    let names: Vec<_> = names.into_iter().cloned().collect();
    let latest = deployments::latest_manifests(store, &names).await?;
    let latest: BTreeMap<_, _> = names.iter().zip(latest).collect();
    let instance = |item: Indexed| {
        let manifest = latest.get(&item.deployment)?.clone()?;
        Some(item.of(manifest))
    };
    Ok(Page {
        items: page.items.into_iter().filter_map(instance).collect(),
        next_page_token: page.next_page_token,
    })
}

/// A page of the instances of a type: the deployment of each.
pub async fn owners(
    store: &Store,
    type_name: &TypeName,
    page: &PageQuery,
) -> Result<Page<DeploymentName>, StoreError> {
    let prefix = keys::instances(type_name);
    let page = store.page(prefix.clone(), page, Order::Ascending).await?;
    let owners = page.items.iter().map(|(key, _)| owner(key, &prefix));
    Ok(Page {
        items: owners.collect::<Result<_, _>>()?,
        next_page_token: page.next_page_token,
    })
}

/// The deployments that have instances of a type.
pub async fn deployments(
    store: &Store,
    type_name: &TypeName,
) -> Result<BTreeSet<DeploymentName>, StoreError> {
    let prefix = keys::instances(type_name);
    let all = store.all(prefix.clone()).await?;
    all.iter().map(|(key, _)| owner(key, &prefix)).collect()
}

/// The deployment of an instance, by its key below the prefix of its type.
fn owner(key: &[u8], prefix: &[u8]) -> Result<DeploymentName, StoreError> {
    let rest = key.get(prefix.len()..).unwrap_or_default();
    let name = keys::parts(rest).into_iter().next().unwrap_or_default();
    let unusable = |_| StoreError::Broken(format!("{} names no deployment", keys::shown(key)));
    DeploymentName::parse(name).map_err(unusable)
}

/// Replaces the indexed instances of a deployment: what stays as it is is not written. Any number of operations may do this at
/// once: counts are added to.
pub fn replace(
    store: &Store,
    changes: &mut Changes,
    deployment: &DeploymentName,
    old: &[TypeInstance],
    new: &[TypeInstance],
) -> Result<(), StoreError> {
    for (type_name, by) in instances::change(old, new) {
        changes.add(keys::type_count(&type_name), by);
    }
    let mut before: BTreeMap<_, _> = keyed(deployment, old).into_iter().collect();
    for (key, instance) in keyed(deployment, new) {
        let stored = before.remove(&key).map(Indexed::from);
        let indexed = Indexed::from(instance);
        match store.format().is_lean() {
            true if stored.as_ref() == Some(&indexed) => {}
            true => changes.put_as(format::LEAN, key, &indexed)?,
            false => changes.put(key, instance)?,
        }
    }
    before.into_keys().for_each(|key| changes.delete(key));
    Ok(())
}

/// Whether the index has this of an instance.
pub(in crate::store) fn is(
    store: &Store,
    key: &[u8],
    bytes: &[u8],
    instance: &TypeInstance,
) -> bool {
    match store.format().is_lean() {
        true => read::<Indexed>(key, bytes).is_ok_and(|found| found == Indexed::from(instance)),
        false => read::<TypeInstance>(key, bytes).is_ok_and(|found| found == *instance),
    }
}

/// The instances of a deployment, in the order of its layout, with their keys.
pub(in crate::store) fn keyed<'a>(
    deployment: &DeploymentName,
    instances: &'a [TypeInstance],
) -> Vec<(Key, &'a TypeInstance)> {
    let numbered = instances.iter().enumerate();
    numbered
        .map(|(number, instance)| {
            (
                keys::instance(&instance.type_name, deployment, number),
                instance,
            )
        })
        .collect()
}
