//! The index of type instances. It holds exactly what the layout of each deployment's latest manifest lists.
//!
//! It changes in the commit that makes a manifest the latest one, and in the commit that removes the deployment.

use std::collections::{BTreeSet, HashSet};

use bytes::Bytes;
use common::api::manager::{TypeInstance, TypeSummary};
use common::api::page::{Page, PageQuery};
use common::model::{DeploymentName, TypeName};

use crate::domain::manifest::instances;
use crate::store::kv::{self, Key, Order};
use crate::store::{Changes, Store, StoreError, keys};

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

/// A page of the instances of one type or of all types, as JSON.
pub async fn list(
    store: &Store,
    type_name: Option<&TypeName>,
    page: &PageQuery,
) -> Result<String, StoreError> {
    let prefix = type_name.map_or_else(keys::all_instances, keys::instances);
    store
        .listed::<TypeInstance>(prefix, page, |record| Some([record, ""]))
        .await
}

/// Like [`list`], parsed.
pub async fn page(
    store: &Store,
    type_name: Option<&TypeName>,
    page: &PageQuery,
) -> Result<Page<TypeInstance>, StoreError> {
    let prefix = type_name.map_or_else(keys::all_instances, keys::instances);
    store.records(prefix, page, Order::Ascending).await
}

/// The deployments that have instances of a type.
pub async fn deployments(
    store: &Store,
    type_name: &TypeName,
) -> Result<BTreeSet<DeploymentName>, StoreError> {
    let prefix = keys::instances(type_name);
    let all = store.all(prefix.clone()).await?;
    let deployment = |(key, _): &(Key, Bytes)| {
        let rest = key.get(prefix.len()..).unwrap_or_default();
        let name = keys::parts(rest).into_iter().next().unwrap_or_default();
        let unusable = |_| StoreError::Broken(format!("{} names no deployment", keys::shown(key)));
        DeploymentName::parse(name).map_err(unusable)
    };
    all.iter().map(deployment).collect()
}

/// Replaces the indexed instances of a deployment. Any number of operations may do this at once: counts are added to.
pub fn replace(
    changes: &mut Changes,
    deployment: &DeploymentName,
    old: &[TypeInstance],
    new: &[TypeInstance],
) -> Result<(), StoreError> {
    for (type_name, by) in instances::change(old, new) {
        changes.add(keys::type_count(&type_name), by);
    }
    let put = keyed(deployment, new);
    let kept: HashSet<&Key> = put.iter().map(|(key, _)| key).collect();
    for (key, _) in keyed(deployment, old) {
        if !kept.contains(&key) {
            changes.delete(key);
        }
    }
    put.into_iter()
        .try_for_each(|(key, instance)| changes.put(key, instance))
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
