//! Stored manifests.

use common::api::deployer::ResourceDiff;
use common::api::error::ErrorCode;
use common::api::manager::{Expansion, ManifestDiff, ManifestSummary};
use common::api::page::{Page, PageQuery};
use common::model::{
    DeploymentName, DiffSummary, InputConfig, Layout, LayoutNode, LayoutPath, Manifest,
    ManifestName,
};
use common::{compare, work};

use crate::domain::redaction::Redaction;
use crate::error::Error;
use crate::service::deployments;
use crate::store::{self, Store, StoreError, manifests};
use crate::workflow::expansion::redacting;

/// A stored manifest with its secrets redacted.
///
/// Its secrets are read first: one that is removed in between is then not found, and not shown with them.
pub async fn redacted(
    store: &Store,
    deployment: &DeploymentName,
    name: &ManifestName,
) -> Result<Option<Manifest>, StoreError> {
    let secrets = manifests::secrets(store, deployment, name).await?;
    let Some(mut manifest) = manifests::get(store, deployment, name).await? else {
        return Ok(None);
    };
    let redaction = redacting::prepared(secrets).await;
    if !redaction.is_empty() {
        store::manifests::digests::keyed(store, &mut manifest.digests).await?;
    }
    let manifest = redacting::redacted(&redaction, manifest, Redaction::manifest).await;
    Ok(Some(manifest))
}

/// What is different, without the secrets of both.
fn compared(before: Expansion, after: Expansion) -> Vec<ResourceDiff> {
    let mut resources = compare::resources(
        &before.expanded_config.resources,
        &after.expanded_config.resources,
    );
    let secrets = before.secrets.into_iter().chain(after.secrets);
    Redaction::new(secrets.collect()).diffs(&mut resources);
    resources
}

pub struct Manifests {
    pub store: Store,
}

impl Manifests {
    pub async fn list(
        &self,
        deployment: &DeploymentName,
        page: &PageQuery,
    ) -> Result<Page<ManifestSummary>, Error> {
        self.check(deployment).await?;
        Ok(manifests::list(&self.store, deployment, page).await?)
    }

    pub async fn get(
        &self,
        deployment: &DeploymentName,
        name: &ManifestName,
    ) -> Result<Manifest, Error> {
        match redacted(&self.store, deployment, name).await? {
            Some(manifest) => Ok(manifest),
            None => Err(self.missing(deployment, name).await),
        }
    }

    /// The differences between two manifests, computed before redaction: a changed secret is reported as changed, and
    /// neither value is shown.
    pub async fn diff(
        &self,
        deployment: &DeploymentName,
        from: &ManifestName,
        to: &ManifestName,
    ) -> Result<ManifestDiff, Error> {
        let (input_before, before) = self.source(deployment, from).await?;
        let (input_after, after) = self.source(deployment, to).await?;
        let (from, to) = (from.clone(), to.clone());
        let diff = move || {
            let resources = compared(before, after);
            ManifestDiff {
                from,
                to,
                same_input: input_before == input_after,
                summary: DiffSummary::summarize(&resources),
                resources,
            }
        };
        Ok(work::large(diff).await)
    }

    /// The configuration and its expansion, with secrets.
    async fn source(
        &self,
        deployment: &DeploymentName,
        name: &ManifestName,
    ) -> Result<(InputConfig, Expansion), Error> {
        let head = manifests::head(&self.store, deployment, name).await?;
        match head {
            Some(_) => Ok(manifests::source(&self.store, deployment, name).await?),
            None => Err(self.missing(deployment, name).await),
        }
    }

    pub async fn layout(
        &self,
        deployment: &DeploymentName,
        name: &ManifestName,
    ) -> Result<Layout, Error> {
        if manifests::head(&self.store, deployment, name)
            .await?
            .is_none()
        {
            return Err(self.missing(deployment, name).await);
        }
        let secrets = manifests::secrets(&self.store, deployment, name).await?;
        let layout = manifests::layout(&self.store, deployment, name).await?;
        let redaction = redacting::prepared(secrets).await;
        Ok(redacting::redacted(&redaction, layout, Redaction::layout).await)
    }

    /// One node of a layout.
    pub async fn layout_at(
        &self,
        deployment: &DeploymentName,
        name: &ManifestName,
        path: &LayoutPath,
    ) -> Result<LayoutNode, Error> {
        let layout = self.layout(deployment, name).await?;
        let node = layout.at(path).cloned();
        node.ok_or_else(|| {
            Error::new(
                ErrorCode::NotFound,
                format!("the layout of {name} has nothing at {path}"),
            )
        })
    }

    async fn check(&self, deployment: &DeploymentName) -> Result<(), Error> {
        match store::deployments::get(&self.store, deployment).await? {
            Some(_) => Ok(()),
            None => Err(deployments::missing(deployment)),
        }
    }

    /// Which of the two is missing.
    async fn missing(&self, deployment: &DeploymentName, name: &ManifestName) -> Error {
        let absent = || {
            Error::new(
                ErrorCode::NotFound,
                format!("deployment '{deployment}' has no manifest '{name}'"),
            )
        };
        self.check(deployment).await.err().unwrap_or_else(absent)
    }
}
