//! Manifests: a small head, and the contents in pieces of their own, so that each is read only where it is wanted.

use std::collections::BTreeMap;

use common::api::manager::ManifestSummary;
use common::api::page::{Page, PageQuery};
use common::model::{
    Configuration, DeploymentName, InputConfig, Layout, Manifest, ManifestDigests, ManifestName,
    Output, ResolvedType,
};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::kv::Order;
use super::{Changes, Store, StoreError, contents, keys, read};

pub const INPUT: &str = "input";
pub const EXPANSION: &str = "expansion";
pub const LAYOUT: &str = "layout";
/// Manifests that one commit removes, where there may be many.
const DELETES: usize = 128;

/// A manifest without its contents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    pub name: ManifestName,
    pub deployment: DeploymentName,
    pub created_at: Timestamp,
    #[serde(default)]
    pub resolved_types: Vec<ResolvedType>,
    #[serde(default)]
    pub outputs: Vec<Output>,
    pub digests: ManifestDigests,
}

pub async fn head(
    store: &Store,
    deployment: &DeploymentName,
    name: &ManifestName,
) -> Result<Option<Head>, StoreError> {
    store.get(keys::manifest(deployment, name)).await
}

pub async fn get(
    store: &Store,
    deployment: &DeploymentName,
    name: &ManifestName,
) -> Result<Option<Manifest>, StoreError> {
    let Some(head) = head(store, deployment, name).await? else {
        return Ok(None);
    };
    let input_config: InputConfig = part(store, deployment, name, INPUT).await?;
    Ok(Some(Manifest {
        input_config,
        expanded_config: expansion(store, deployment, name).await?,
        layout: layout(store, deployment, name).await?,
        name: head.name,
        deployment: head.deployment,
        created_at: head.created_at,
        resolved_types: head.resolved_types,
        outputs: head.outputs,
        digests: head.digests,
        preview: None,
    }))
}

/// The primitives of a manifest that exists.
pub async fn expansion(
    store: &Store,
    deployment: &DeploymentName,
    name: &ManifestName,
) -> Result<Configuration, StoreError> {
    part(store, deployment, name, EXPANSION).await
}

/// The layout of a manifest that exists.
pub async fn layout(
    store: &Store,
    deployment: &DeploymentName,
    name: &ManifestName,
) -> Result<Layout, StoreError> {
    part(store, deployment, name, LAYOUT).await
}

async fn part<T: DeserializeOwned>(
    store: &Store,
    deployment: &DeploymentName,
    name: &ManifestName,
    part: &str,
) -> Result<T, StoreError> {
    contents::get(store, deployment, name, part).await
}

/// Oldest first.
pub async fn list(
    store: &Store,
    deployment: &DeploymentName,
    page: &PageQuery,
) -> Result<Page<ManifestSummary>, StoreError> {
    let heads: Page<Head> = store
        .records(keys::manifests(deployment), page, Order::Ascending)
        .await?;
    let summary = |head: Head| ManifestSummary {
        name: head.name,
        deployment: head.deployment,
        created_at: head.created_at,
    };
    Ok(Page {
        items: heads.items.into_iter().map(summary).collect(),
        next_page_token: heads.next_page_token,
    })
}

/// Manifests are immutable: a name is only put again by a repeated step, with the same contents.
pub async fn put(
    store: &Store,
    changes: &mut Changes,
    manifest: &Manifest,
) -> Result<(), StoreError> {
    let (deployment, name) = (&manifest.deployment, &manifest.name);
    let key = keys::manifest(deployment, name);
    let parts = BTreeMap::from([
        (
            INPUT.to_owned(),
            contents::part(&manifest.input_config, &key)?,
        ),
        (
            EXPANSION.to_owned(),
            contents::part(&manifest.expanded_config, &key)?,
        ),
        (LAYOUT.to_owned(), contents::part(&manifest.layout, &key)?),
    ]);
    contents::put(store, changes, deployment, name, parts).await?;
    let head = Head {
        name: name.clone(),
        deployment: deployment.clone(),
        created_at: manifest.created_at,
        resolved_types: manifest.resolved_types.clone(),
        outputs: manifest.outputs.clone(),
        digests: manifest.digests.clone(),
    };
    changes.put(key, &head)
}

/// Removes one with its contents, apart from what others share.
pub async fn delete(
    store: &Store,
    changes: &mut Changes,
    deployment: &DeploymentName,
    name: &ManifestName,
) -> Result<(), StoreError> {
    contents::delete(store, changes, deployment, name).await?;
    changes.delete(keys::manifest(deployment, name));
    Ok(())
}

/// Removes all of a deployment but one, in as many commits as it takes: together they may be far larger than one commit
/// should be. What a crash leaves is removed by the next call.
pub async fn delete_all_but(
    store: &Store,
    deployment: &DeploymentName,
    kept: &ManifestName,
) -> Result<(), StoreError> {
    let all = store.all(keys::manifests(deployment)).await?;
    for some in all.chunks(DELETES) {
        let mut changes = Changes::default();
        for (key, bytes) in some {
            let head: Head = read(key, bytes)?;
            if head.name != *kept {
                changes.delete(key.clone());
                changes.delete(keys::lists(deployment, &head.name));
            }
        }
        store.commit(changes).await?;
    }
    contents::sweep(store, deployment).await
}
