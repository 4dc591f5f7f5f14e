//! Manifests of deployments.

use super::{ManagerClient, READ};
use crate::api::manager::{ManifestDiff, ManifestSummary};
use crate::api::page::{Page, PageQuery};
use crate::client::error::ClientError;
use crate::model::{DeploymentName, Layout, LayoutNode, Manifest, ManifestName};

impl ManagerClient {
    pub async fn manifests(
        &self,
        name: &DeploymentName,
        page: &PageQuery,
    ) -> Result<Page<ManifestSummary>, ClientError> {
        self.endpoint
            .get(&["deployments", name.as_str(), "manifests"], page, READ)
            .await
    }

    pub async fn manifest(
        &self,
        name: &DeploymentName,
        manifest: &ManifestName,
    ) -> Result<Manifest, ClientError> {
        self.read(&["deployments", name.as_str(), "manifests", manifest.as_str()])
            .await
    }

    /// The changes from another manifest to this one.
    pub async fn manifest_diff(
        &self,
        name: &DeploymentName,
        from: &ManifestName,
        to: &ManifestName,
    ) -> Result<ManifestDiff, ClientError> {
        let segments = [
            "deployments",
            name.as_str(),
            "manifests",
            to.as_str(),
            "diff",
        ];
        let from = [("from", from.as_str())];
        self.endpoint.get(&segments, &from, READ).await
    }

    pub async fn layout(
        &self,
        name: &DeploymentName,
        manifest: &ManifestName,
    ) -> Result<Layout, ClientError> {
        self.read(&[
            "deployments",
            name.as_str(),
            "manifests",
            manifest.as_str(),
            "layout",
        ])
        .await
    }

    /// One node of a layout.
    pub async fn layout_at(
        &self,
        name: &DeploymentName,
        manifest: &ManifestName,
        path: &str,
    ) -> Result<LayoutNode, ClientError> {
        let segments = [
            "deployments",
            name.as_str(),
            "manifests",
            manifest.as_str(),
            "layout",
        ];
        self.endpoint.get(&segments, &[("path", path)], READ).await
    }
}
