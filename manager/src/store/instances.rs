//! The index of type instances: of each deployment's latest manifest, exactly what its layout says.
//!
//! It changes in the commit that makes a manifest the latest one, and in the one that removes the deployment.

use std::collections::HashSet;

use common::api::manager::{TypeInstance, TypeSummary};
use common::api::page::{Page, PageQuery};
use common::model::{DeploymentName, TypeName};

use super::kv::{Key, Order};
use super::{Changes, Store, StoreError, keys, read};
use crate::domain::instances;

/// Every type that has instances, by name.
pub async fn types(store: &Store, page: &PageQuery) -> Result<Page<TypeSummary>, StoreError> {
    store.records(keys::types(), page, Order::Ascending).await
}

/// The instances of one type, or of all types.
pub async fn list(
    store: &Store,
    type_name: Option<&TypeName>,
    page: &PageQuery,
) -> Result<Page<TypeInstance>, StoreError> {
    let prefix = type_name.map_or_else(keys::all_instances, keys::instances);
    store.records(prefix, page, Order::Ascending).await
}

/// Replaces what the index says of a deployment. The index is locked until the changes are committed or dropped.
pub async fn replace(
    store: &Store,
    changes: &mut Changes,
    deployment: &DeploymentName,
    old: &[TypeInstance],
    new: &[TypeInstance],
) -> Result<(), StoreError> {
    changes.index = Some(store.index.clone().lock_owned().await);
    for (type_name, by) in instances::change(old, new) {
        count(store, changes, type_name, by).await?;
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

fn keyed<'a>(
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

async fn count(
    store: &Store,
    changes: &mut Changes,
    type_name: TypeName,
    by: i64,
) -> Result<(), StoreError> {
    let key = keys::type_count(&type_name);
    let bytes = store.kv.get(&key).await?;
    let before = bytes
        .as_ref()
        .map(|bytes| read::<TypeSummary>(&key, bytes))
        .transpose()?;
    let instances = before
        .map_or(0, |summary| summary.instances)
        .saturating_add_signed(by);
    changes.expect(key.clone(), bytes);
    if instances == 0 {
        changes.delete(key);
        return Ok(());
    }
    changes.put(
        key,
        &TypeSummary {
            name: type_name,
            instances,
        },
    )
}
