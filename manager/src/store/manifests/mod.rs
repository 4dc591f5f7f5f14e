//! Manifests: a small head, and the contents in separate pieces, so that each part is read only if it is needed.

pub mod contents;
pub mod digests;
pub mod instances;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use common::api::manager::{Expansion, ManifestSummary};
use common::api::page::{Page, PageQuery};
use common::model::{
    Configuration, Deployment, DeploymentName, GeneratedValue, InputConfig, Layout, Manifest,
    ManifestDigests, ManifestName, ObjectRef, Output, Preview, ResolvedType, SecretValue,
};
use common::work;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::kv::{Key, Order};
use super::record::pieces;
use super::{Changes, Store, StoreError, keys, read};
use crate::domain::manifest::resolution::Recorded;
use crate::domain::redaction;

pub const INPUT: &str = "input";
pub const EXPANSION: &str = "expansion";
pub const LAYOUT: &str = "layout";
/// The number of manifests that one commit removes.
const DELETES: usize = 128;
/// The template files. Absent if there are none, and in manifests of the first managers.
pub const TEMPLATES: &str = "templates";
pub const PREVIEW: &str = "preview";
/// The secrets that are redacted for callers. Absent if there are none, and in manifests of the first managers.
pub const SECRETS: &str = "secrets";

/// The values that templates made up. Absent if there are none.
pub const VALUES: &str = "values";

/// What is stored with a manifest and is in no answer.
#[derive(Debug, Default)]
pub struct Private {
    pub secrets: Vec<SecretValue>,
    pub values: Vec<GeneratedValue>,
}

impl Private {
    /// Takes it out of an expansion.
    pub fn of(expansion: &mut Expansion) -> Self {
        Self {
            secrets: std::mem::take(&mut expansion.secrets),
            values: std::mem::take(&mut expansion.values),
        }
    }
}

/// The applied properties of one object, with its references replaced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinalProperties {
    pub object: ObjectRef,
    pub properties: Value,
}

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Absent in manifests of the first managers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    pub digests: ManifestDigests,
    /// Since when it is or was the deployment's latest manifest. Absent in previews and in manifests of earlier managers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_force_from: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_force_until: Option<Timestamp>,
    /// Whether it has secrets. Absent in manifests of the first managers, which did not check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_secrets: Option<bool>,
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
    Ok(Some(Manifest {
        input_config: input(store, deployment, name).await?,
        expanded_config: expansion(store, deployment, name).await?,
        layout: layout(store, deployment, name).await?,
        name: head.name,
        deployment: head.deployment,
        created_at: head.created_at,
        revision: head.revision,
        resolved_types: head.resolved_types,
        outputs: head.outputs,
        notes: head.notes,
        digests: head.digests,
        preview: preview(store, deployment, name).await?,
    }))
}

/// What applying the preview would do.
pub async fn preview(
    store: &Store,
    deployment: &DeploymentName,
    name: &ManifestName,
) -> Result<Option<Preview>, StoreError> {
    contents::find(store, deployment, name, PREVIEW).await
}

/// The secrets of a manifest. Empty if it does not exist.
pub async fn secrets(
    store: &Store,
    deployment: &DeploymentName,
    name: &ManifestName,
) -> Result<Vec<SecretValue>, StoreError> {
    match head(store, deployment, name).await? {
        Some(head) => secrets_of(store, &head).await,
        None => Ok(Vec::new()),
    }
}

async fn secrets_of(store: &Store, head: &Head) -> Result<Vec<SecretValue>, StoreError> {
    let (deployment, name) = (&head.deployment, &head.name);
    match head.has_secrets {
        Some(false) => Ok(Vec::new()),
        Some(true) => part(store, deployment, name, SECRETS).await,
        None => Ok(redaction::of_secrets(
            &expansion(store, deployment, name).await?,
        )),
    }
}

/// The values that templates made up for a manifest.
pub async fn values(
    store: &Store,
    deployment: &DeploymentName,
    name: &ManifestName,
) -> Result<Vec<GeneratedValue>, StoreError> {
    let found = contents::find(store, deployment, name, VALUES).await?;
    Ok(found.unwrap_or_default())
}

/// The secrets of everything that a deployment may have in the cluster.
pub async fn secrets_in_use(
    store: &Store,
    deployment: &Deployment,
) -> Result<Vec<SecretValue>, StoreError> {
    let (latest, deployed) = (&deployment.latest_manifest, &deployment.deployed_manifest);
    let deployed = deployed.as_ref().filter(|_| latest != deployed);
    let mut found = Vec::new();
    for manifest in latest.iter().chain(deployed) {
        found.extend(secrets(store, &deployment.name, manifest).await?);
    }
    Ok(found)
}

/// The applied properties of the objects with references.
pub async fn final_properties(
    store: &Store,
    deployment: &DeploymentName,
    name: &ManifestName,
) -> Result<Vec<FinalProperties>, StoreError> {
    let found = pieces::get(store, keys::final_properties(deployment, name)).await?;
    Ok(found.unwrap_or_default())
}

/// The only part of a manifest that is overwritten: every apply has new values.
pub async fn put_final_properties(
    store: &Store,
    changes: &mut Changes,
    deployment: &DeploymentName,
    name: &ManifestName,
    properties: &[FinalProperties],
) -> Result<(), StoreError> {
    let prefix = keys::final_properties(deployment, name);
    if properties.is_empty() {
        changes.delete_prefix(prefix);
        return Ok(());
    }
    pieces::replace(store, changes, &prefix, &properties).await
}

/// The configuration and the expansion of an existing manifest.
pub async fn source(
    store: &Store,
    deployment: &DeploymentName,
    name: &ManifestName,
) -> Result<(InputConfig, Expansion), StoreError> {
    let head = head(store, deployment, name).await?;
    let head = head.ok_or_else(|| StoreError::Missing(format!("{name} of {deployment}")))?;
    let expansion = Expansion {
        secrets: secrets_of(store, &head).await?,
        values: values(store, deployment, name).await?,
        expanded_config: expansion(store, deployment, name).await?,
        layout: layout(store, deployment, name).await?,
        resolved_types: head.resolved_types,
        outputs: head.outputs,
        notes: head.notes,
        warnings: Vec::new(),
        instance_outputs: Vec::new(),
        plans: Vec::new(),
    };
    Ok((input(store, deployment, name).await?, expansion))
}

/// The input of an existing manifest.
pub async fn input(
    store: &Store,
    deployment: &DeploymentName,
    name: &ManifestName,
) -> Result<InputConfig, StoreError> {
    part(store, deployment, name, INPUT).await
}

/// The primitive resources of an existing manifest.
pub async fn expansion(
    store: &Store,
    deployment: &DeploymentName,
    name: &ManifestName,
) -> Result<Configuration, StoreError> {
    part(store, deployment, name, EXPANSION).await
}

/// The layout of an existing manifest.
pub async fn layout(
    store: &Store,
    deployment: &DeploymentName,
    name: &ManifestName,
) -> Result<Layout, StoreError> {
    part(store, deployment, name, LAYOUT).await
}

/// The resolved template references, with all files.
pub async fn templates(
    store: &Store,
    deployment: &DeploymentName,
    name: &ManifestName,
) -> Result<Vec<Recorded>, StoreError> {
    let found = contents::find(store, deployment, name, TEMPLATES).await?;
    Ok(found.unwrap_or_default())
}

async fn part<T: DeserializeOwned + Send + 'static>(
    store: &Store,
    deployment: &DeploymentName,
    name: &ManifestName,
    part: &str,
) -> Result<T, StoreError> {
    contents::get(store, deployment, name, part).await
}

/// The oldest first.
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
        revision: head.revision,
        in_force_from: head.in_force_from,
        in_force_until: head.in_force_until,
        templates: head.resolved_types.iter().map(exactly).collect(),
    };
    Ok(Page {
        items: heads.items.into_iter().map(summary).collect(),
        next_page_token: heads.next_page_token,
    })
}

/// The reference with the exact version that it resolved to.
fn exactly(resolved: &ResolvedType) -> String {
    let reference = resolved.type_name.as_str();
    match (&resolved.version, reference.rsplit_once(':')) {
        (Some(version), Some((template, _))) => format!("{template}:{version}"),
        _ => reference.to_owned(),
    }
}

/// How many manifests are stored, previews included.
pub async fn count(store: &Store, deployment: &DeploymentName) -> Result<usize, StoreError> {
    Ok(store.all(keys::manifests(deployment)).await?.len())
}

/// Manifests are immutable: only a repeated step writes the same name again, with the same contents.
pub async fn put(
    store: &Store,
    changes: &mut Changes,
    manifest: &Arc<Manifest>,
    templates: Vec<Recorded>,
    private: Private,
    in_force_from: Option<Timestamp>,
) -> Result<(), StoreError> {
    let (deployment, name) = (&manifest.deployment, &manifest.name);
    let key = keys::manifest(deployment, name);
    let has_secrets = !private.secrets.is_empty();
    let written = {
        let (manifest, key) = (manifest.clone(), key.clone());
        move || parts(&manifest, &templates, &private, &key)
    };
    let parts = work::large(written).await?;
    contents::put(store, changes, deployment, name, parts).await?;
    let head = Head {
        name: name.clone(),
        deployment: deployment.clone(),
        created_at: manifest.created_at,
        resolved_types: manifest.resolved_types.clone(),
        outputs: manifest.outputs.clone(),
        notes: manifest.notes.clone(),
        revision: manifest.revision,
        digests: manifest.digests.clone(),
        in_force_from,
        in_force_until: None,
        has_secrets: Some(has_secrets),
    };
    changes.put(key, &head)
}

/// A stored manifest is the latest one from now on. One that is stored by the same changes has the time already.
pub async fn enter(
    store: &Store,
    changes: &mut Changes,
    deployment: &DeploymentName,
    name: &ManifestName,
    now: Timestamp,
) -> Result<(), StoreError> {
    let entered = |head: Head| Head {
        in_force_from: head.in_force_from.or(Some(now)),
        in_force_until: None,
        ..head
    };
    match head(store, deployment, name).await? {
        Some(found) => changes.put(keys::manifest(deployment, name), &entered(found)),
        None => Ok(()),
    }
}

/// A stored manifest is not the latest one any more.
pub async fn leave(
    store: &Store,
    changes: &mut Changes,
    deployment: &DeploymentName,
    name: &ManifestName,
    now: Timestamp,
) -> Result<(), StoreError> {
    let left = |head: Head| Head {
        in_force_until: Some(now),
        ..head
    };
    match head(store, deployment, name).await? {
        Some(found) => changes.put(keys::manifest(deployment, name), &left(found)),
        None => Ok(()),
    }
}

/// The manifest of a deployment that was in force at a moment.
///
/// Manifests of earlier managers have no times. Of these, each counts from when it was made until the next one.
pub async fn in_force(
    store: &Store,
    deployment: &Deployment,
    at: Timestamp,
) -> Result<Option<ManifestName>, StoreError> {
    let heads = store.named::<ManifestName, Head>(keys::manifests(&deployment.name));
    let mut found: Option<(Timestamp, ManifestName)> = None;
    for (name, head) in heads.await? {
        let is_preview = deployment.preview.as_ref() == Some(&name);
        let from = head.in_force_from.unwrap_or(head.created_at);
        let ended = head.in_force_until.is_some_and(|until| until <= at);
        let later = found.as_ref().is_none_or(|(before, _)| *before <= from);
        if !is_preview && from <= at && !ended && later {
            found = Some((from, name));
        }
    }
    Ok(found.map(|(_, name)| name))
}

/// The contents, as they are stored.
fn parts(
    manifest: &Manifest,
    templates: &[Recorded],
    private: &Private,
    key: &Key,
) -> Result<BTreeMap<String, Vec<Bytes>>, StoreError> {
    let mut parts = BTreeMap::from([
        (
            INPUT.to_owned(),
            contents::part(&manifest.input_config, key)?,
        ),
        (
            EXPANSION.to_owned(),
            contents::part(&manifest.expanded_config, key)?,
        ),
        (LAYOUT.to_owned(), contents::part(&manifest.layout, key)?),
    ]);
    if let Some(preview) = &manifest.preview {
        parts.insert(PREVIEW.to_owned(), contents::part(preview, key)?);
    }
    if !templates.is_empty() {
        parts.insert(TEMPLATES.to_owned(), contents::part(&templates, key)?);
    }
    if !private.secrets.is_empty() {
        parts.insert(SECRETS.to_owned(), contents::part(&private.secrets, key)?);
    }
    if !private.values.is_empty() {
        parts.insert(VALUES.to_owned(), contents::part(&private.values, key)?);
    }
    Ok(parts)
}

/// Removes a manifest with those contents that no other manifest shares.
pub async fn delete(
    store: &Store,
    changes: &mut Changes,
    deployment: &DeploymentName,
    name: &ManifestName,
) -> Result<(), StoreError> {
    contents::delete(store, changes, deployment, name).await?;
    changes.delete(keys::manifest(deployment, name));
    changes.delete_prefix(keys::final_properties(deployment, name));
    Ok(())
}

/// Removes all manifests of a deployment except one, in several commits if they are large. After a crash, the next call
/// removes the rest.
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
                changes.delete_prefix(keys::final_properties(deployment, &head.name));
            }
        }
        store.commit(changes).await?;
    }
    contents::sweep(store, deployment).await
}
