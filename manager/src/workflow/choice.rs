//! What template references are to mean: what they mean now, or what they meant for a deployment's manifest.

use common::model::{DeploymentName, ManifestName, ResolvedType, Version};

use crate::domain::resolution::Record;
use crate::registry::Identity;
use crate::store::{Store, StoreError, deployments, manifests};

/// What template references are to mean.
#[derive(Debug, Clone, Default)]
pub enum Choice {
    /// What they mean now.
    #[default]
    Latest,
    /// What they meant for a manifest. One that it does not have on record is refused.
    Locked(Record),
    /// One template at another version. The others as a manifest has them on record; what it has not, as it is now.
    Instead(Record, Instead),
}

/// A template at another version than references say.
#[derive(Debug, Clone)]
pub struct Instead {
    pub template: Identity,
    pub version: Version,
    /// Wherever the template is used; else only where references name this version.
    pub everywhere: bool,
}

/// The latest manifest of a deployment, and what references resolved to for it.
#[derive(Debug, Clone)]
pub struct Latest {
    pub manifest: ManifestName,
    pub resolved: Vec<ResolvedType>,
}

/// None: the deployment is not there, or has no manifest yet.
pub async fn latest(store: &Store, name: &DeploymentName) -> Result<Option<Latest>, StoreError> {
    let found = deployments::get(store, name).await?;
    let Some(manifest) = found.and_then(|found| found.latest_manifest) else {
        return Ok(None);
    };
    let head = manifests::head(store, name, &manifest).await?;
    Ok(head.map(|head| Latest {
        manifest,
        resolved: head.resolved_types,
    }))
}

pub async fn record(
    store: &Store,
    name: &DeploymentName,
    latest: Option<&Latest>,
) -> Result<Record, StoreError> {
    let Some(Latest { manifest, .. }) = latest else {
        return Ok(Record::default());
    };
    let templates = manifests::templates(store, name, manifest).await?;
    Ok(Record::new(manifest.clone(), templates))
}
