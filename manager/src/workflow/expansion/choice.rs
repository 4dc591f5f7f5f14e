//! How template references resolve: to their present meaning, or to what a manifest has recorded.

use common::model::{DeploymentName, ManifestName, ResolvedType, Version};
use manager_registry::Identity;

use crate::domain::manifest::resolution::Record;
use crate::store::{Store, StoreError, deployments, manifests};

/// How template references resolve.
#[derive(Debug, Clone, Default)]
pub enum Choice {
    /// To their present meaning.
    #[default]
    Latest,
    /// To what a manifest has recorded. A reference that it has not recorded is refused.
    Locked(Record),
    /// To what a manifest has recorded, and others to their present meaning.
    Recorded(Record),
    /// One template at another version. The others resolve as a manifest has recorded, or else to their present
    /// meaning.
    Instead(Record, Instead),
}

/// A template at another version than its references name.
#[derive(Debug, Clone)]
pub struct Instead {
    pub template: Identity,
    pub version: Version,
    /// Everywhere the template is used, or only where references name this version.
    pub everywhere: bool,
}

/// A deployment's latest manifest, with the resolved references.
#[derive(Debug, Clone)]
pub struct Latest {
    pub manifest: ManifestName,
    pub resolved: Vec<ResolvedType>,
}

/// None: the deployment does not exist, or has no manifest yet.
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
