//! Deployments: writes to them, and their state.

use reqwest::Method;

use super::{Answer, ManagerClient, NOTHING, READ, Write};
use crate::api::manager::{
    CreateDeployment, DeploymentsQuery, Diff, DiffQuery, Graph, Resources, ResourcesQuery,
    RollbackDeployment, UpdateDeployment,
};
use crate::api::page::Page;
use crate::api::upgrade::UpgradeDeployment;
use crate::client::error::ClientError;
use crate::model::{Deployment, DeploymentName, DeploymentSummary, Manifest, Operation};

impl ManagerClient {
    pub async fn create(
        &self,
        request: &CreateDeployment,
        write: impl Into<Write>,
    ) -> Result<Deployment, ClientError> {
        self.post(&["deployments"], write, request, Answer::WhenDone)
            .await
    }

    pub async fn create_async(
        &self,
        request: &CreateDeployment,
        write: impl Into<Write>,
    ) -> Result<Operation, ClientError> {
        self.post(&["deployments"], write, request, Answer::AtOnce)
            .await
    }

    pub async fn update(
        &self,
        name: &DeploymentName,
        request: &UpdateDeployment,
        write: impl Into<Write>,
    ) -> Result<Deployment, ClientError> {
        let path = ["deployments", name.as_str()];
        self.write(Method::PUT, &path, write, Some(request), Answer::WhenDone)
            .await
    }

    pub async fn update_async(
        &self,
        name: &DeploymentName,
        request: &UpdateDeployment,
        write: impl Into<Write>,
    ) -> Result<Operation, ClientError> {
        let path = ["deployments", name.as_str()];
        self.write(Method::PUT, &path, write, Some(request), Answer::AtOnce)
            .await
    }

    pub async fn delete(
        &self,
        name: &DeploymentName,
        write: impl Into<Write>,
    ) -> Result<Deployment, ClientError> {
        let path = ["deployments", name.as_str()];
        self.write(Method::DELETE, &path, write, NOTHING, Answer::WhenDone)
            .await
    }

    pub async fn delete_async(
        &self,
        name: &DeploymentName,
        write: impl Into<Write>,
    ) -> Result<Operation, ClientError> {
        let path = ["deployments", name.as_str()];
        self.write(Method::DELETE, &path, write, NOTHING, Answer::AtOnce)
            .await
    }

    /// Returns to the configuration of an earlier manifest, as a new manifest.
    pub async fn rollback(
        &self,
        name: &DeploymentName,
        request: &RollbackDeployment,
        write: impl Into<Write>,
    ) -> Result<Deployment, ClientError> {
        let path = ["deployments", name.as_str(), "rollback"];
        self.post(&path, write, request, Answer::WhenDone).await
    }

    pub async fn rollback_async(
        &self,
        name: &DeploymentName,
        request: &RollbackDeployment,
        write: impl Into<Write>,
    ) -> Result<Operation, ClientError> {
        let path = ["deployments", name.as_str(), "rollback"];
        self.post(&path, write, request, Answer::AtOnce).await
    }

    /// Runs the test hooks of the deployment's charts.
    pub async fn test_async(
        &self,
        name: &DeploymentName,
        write: impl Into<Write>,
    ) -> Result<Operation, ClientError> {
        let path = ["deployments", name.as_str(), "test"];
        self.write(Method::POST, &path, write, NOTHING, Answer::AtOnce)
            .await
    }

    /// Applies the same configuration with another version of one template.
    pub async fn upgrade(
        &self,
        name: &DeploymentName,
        request: &UpgradeDeployment,
        write: impl Into<Write>,
    ) -> Result<Deployment, ClientError> {
        let path = ["deployments", name.as_str(), "upgrade"];
        self.post(&path, write, request, Answer::WhenDone).await
    }

    pub async fn upgrade_async(
        &self,
        name: &DeploymentName,
        request: &UpgradeDeployment,
        write: impl Into<Write>,
    ) -> Result<Operation, ClientError> {
        let path = ["deployments", name.as_str(), "upgrade"];
        self.post(&path, write, request, Answer::AtOnce).await
    }

    /// Stops the running operation, and returns it after its end. Nothing is undone.
    pub async fn stop(
        &self,
        name: &DeploymentName,
        write: impl Into<Write>,
    ) -> Result<Operation, ClientError> {
        let path = ["deployments", name.as_str(), "stop"];
        self.write(Method::POST, &path, write, NOTHING, Answer::WhenDone)
            .await
    }

    /// What an update to the configuration, or to a stored manifest, would do now. Nothing is stored. The deployment
    /// need not exist.
    pub async fn diff(
        &self,
        name: &DeploymentName,
        request: &UpdateDeployment,
        query: &DiffQuery,
    ) -> Result<Diff, ClientError> {
        let path = ["deployments", name.as_str(), "diff"];
        let send = self
            .endpoint
            .with_query(Method::POST, &path, query)
            .json(request);
        self.endpoint.fetch(send, None).await
    }

    /// The manifest that can be committed, with what it would do.
    pub async fn preview(&self, name: &DeploymentName) -> Result<Manifest, ClientError> {
        self.read(&["deployments", name.as_str(), "preview"]).await
    }

    /// Deletes the preview. The deployment does not change.
    pub async fn drop_preview(
        &self,
        name: &DeploymentName,
        write: impl Into<Write>,
    ) -> Result<Deployment, ClientError> {
        let path = ["deployments", name.as_str(), "preview"];
        self.write(Method::DELETE, &path, write, NOTHING, Answer::WhenDone)
            .await
    }

    /// A page of those that the query asks for.
    pub async fn deployments(
        &self,
        query: impl Into<DeploymentsQuery>,
    ) -> Result<Page<DeploymentSummary>, ClientError> {
        self.endpoint
            .get(&["deployments"], &query.into(), READ)
            .await
    }

    pub async fn deployment(&self, name: &DeploymentName) -> Result<Deployment, ClientError> {
        self.read(&["deployments", name.as_str()]).await
    }

    /// A page of the live state.
    pub async fn resources(
        &self,
        name: &DeploymentName,
        query: &ResourcesQuery,
    ) -> Result<Resources, ClientError> {
        self.endpoint
            .get(&["deployments", name.as_str(), "resources"], query, READ)
            .await
    }

    /// Which resources of the latest manifest wait for which.
    pub async fn graph(&self, name: &DeploymentName) -> Result<Graph, ClientError> {
        self.read(&["deployments", name.as_str(), "graph"]).await
    }
}
