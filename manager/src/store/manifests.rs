//! Manifests: a small head, and the contents in pieces of their own, so that each is read only where it is wanted.

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
use super::{Changes, Store, StoreError, keys, pieces};

const INPUT: &str = "input";
const EXPANSION: &str = "expansion";
const LAYOUT: &str = "layout";
const PARTS: [&str; 3] = [INPUT, EXPANSION, LAYOUT];

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
    let found = pieces::get(store, keys::pieces(deployment, name, part)).await?;
    found.ok_or_else(|| StoreError::Missing(format!("the {part} of {deployment}'s {name}")))
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
pub fn put(changes: &mut Changes, manifest: &Manifest) -> Result<(), StoreError> {
    let (deployment, name) = (&manifest.deployment, &manifest.name);
    pieces::put(
        changes,
        &keys::pieces(deployment, name, INPUT),
        &manifest.input_config,
    )?;
    pieces::put(
        changes,
        &keys::pieces(deployment, name, EXPANSION),
        &manifest.expanded_config,
    )?;
    pieces::put(
        changes,
        &keys::pieces(deployment, name, LAYOUT),
        &manifest.layout,
    )?;
    let head = Head {
        name: name.clone(),
        deployment: deployment.clone(),
        created_at: manifest.created_at,
        resolved_types: manifest.resolved_types.clone(),
        outputs: manifest.outputs.clone(),
        digests: manifest.digests.clone(),
    };
    changes.put(keys::manifest(deployment, name), &head)
}

/// Removes one with its contents.
pub async fn delete(
    store: &Store,
    changes: &mut Changes,
    deployment: &DeploymentName,
    name: &ManifestName,
) -> Result<(), StoreError> {
    for part in PARTS {
        pieces::delete(store, changes, keys::pieces(deployment, name, part)).await?;
    }
    changes.delete(keys::manifest(deployment, name));
    Ok(())
}
