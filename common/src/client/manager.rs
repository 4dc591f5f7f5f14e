//! The client of the manager.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::ClientError;
use super::http::Endpoint;
use crate::api::manager::*;
use crate::api::page::{Page, PageQuery};
use crate::model::{
    Deployment, DeploymentName, Layout, LayoutNode, Manifest, ManifestName, Operation, OperationId,
};
use crate::server::health::Readiness;

/// Reads answer at once; listing a registry over a slow network is the slowest of them.
const READ: Duration = Duration::from_secs(60);

/// What a write answers: the result, or with `Prefer: respond-async` the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    WhenDone,
    AtOnce,
}

#[derive(Debug, Clone)]
pub struct ManagerClient {
    endpoint: Endpoint,
}

impl ManagerClient {
    pub fn new(url: &str) -> Result<Self, ClientError> {
        Ok(Self {
            endpoint: Endpoint::new("the manager", url)?,
        })
    }

    pub async fn create(
        &self,
        request: &CreateDeployment,
        query: &WriteQuery,
    ) -> Result<Deployment, ClientError> {
        self.write(
            Method::POST,
            &["deployments"],
            query,
            Some(request),
            Answer::WhenDone,
        )
        .await
    }

    pub async fn create_async(
        &self,
        request: &CreateDeployment,
        query: &WriteQuery,
    ) -> Result<Operation, ClientError> {
        self.write(
            Method::POST,
            &["deployments"],
            query,
            Some(request),
            Answer::AtOnce,
        )
        .await
    }

    pub async fn update(
        &self,
        name: &DeploymentName,
        request: &UpdateDeployment,
        query: &WriteQuery,
    ) -> Result<Deployment, ClientError> {
        self.write(
            Method::PUT,
            &["deployments", name.as_str()],
            query,
            Some(request),
            Answer::WhenDone,
        )
        .await
    }

    pub async fn update_async(
        &self,
        name: &DeploymentName,
        request: &UpdateDeployment,
        query: &WriteQuery,
    ) -> Result<Operation, ClientError> {
        self.write(
            Method::PUT,
            &["deployments", name.as_str()],
            query,
            Some(request),
            Answer::AtOnce,
        )
        .await
    }

    pub async fn delete(
        &self,
        name: &DeploymentName,
        query: &WriteQuery,
    ) -> Result<Deployment, ClientError> {
        self.write(
            Method::DELETE,
            &["deployments", name.as_str()],
            query,
            None::<&()>,
            Answer::WhenDone,
        )
        .await
    }

    pub async fn delete_async(
        &self,
        name: &DeploymentName,
        query: &WriteQuery,
    ) -> Result<Operation, ClientError> {
        self.write(
            Method::DELETE,
            &["deployments", name.as_str()],
            query,
            None::<&()>,
            Answer::AtOnce,
        )
        .await
    }

    pub async fn deployments(&self, page: &PageQuery) -> Result<Page<Deployment>, ClientError> {
        self.endpoint.get(&["deployments"], page, READ).await
    }

    pub async fn deployment(&self, name: &DeploymentName) -> Result<Deployment, ClientError> {
        self.read(&["deployments", name.as_str()]).await
    }

    pub async fn resources(&self, name: &DeploymentName) -> Result<Resources, ClientError> {
        self.read(&["deployments", name.as_str(), "resources"])
            .await
    }

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

    /// Expands as a create would; nothing is stored or applied.
    pub async fn expand(&self, request: &Expand) -> Result<Expansion, ClientError> {
        let send = || {
            self.endpoint
                .request(Method::POST, &["expand"])
                .json(request)
        };
        self.endpoint.fetch_repeatedly(send, READ).await
    }

    pub async fn types(&self, page: &PageQuery) -> Result<Page<TypeSummary>, ClientError> {
        self.endpoint.get(&["types"], page, READ).await
    }

    /// `all` means every type.
    pub async fn instances(
        &self,
        type_name: &str,
        page: &PageQuery,
    ) -> Result<Page<TypeInstance>, ClientError> {
        self.endpoint
            .get(&["types", type_name, "instances"], page, READ)
            .await
    }

    pub async fn describe(&self, type_name: &str) -> Result<TemplateDescription, ClientError> {
        self.read(&["types", type_name, "metadata"]).await
    }

    pub async fn registries(&self) -> Result<Page<RegistrySummary>, ClientError> {
        self.read(&["registries"]).await
    }

    /// The templates whose names the regular expression matches; all, if there is none.
    pub async fn templates(
        &self,
        registry: &str,
        regex: Option<&str>,
        page: &PageQuery,
    ) -> Result<Page<TemplateSummary>, ClientError> {
        #[derive(Serialize)]
        struct Query<'a> {
            #[serde(flatten)]
            page: &'a PageQuery,
            #[serde(skip_serializing_if = "Option::is_none")]
            regex: Option<&'a str>,
        }
        self.endpoint
            .get(
                &["registries", registry, "types"],
                &Query { page, regex },
                READ,
            )
            .await
    }

    pub async fn operations(
        &self,
        deployment: Option<&DeploymentName>,
        page: &PageQuery,
    ) -> Result<Page<Operation>, ClientError> {
        #[derive(Serialize)]
        struct Query<'a> {
            #[serde(flatten)]
            page: &'a PageQuery,
            #[serde(skip_serializing_if = "Option::is_none")]
            deployment: Option<&'a DeploymentName>,
        }
        self.endpoint
            .get(&["operations"], &Query { page, deployment }, READ)
            .await
    }

    pub async fn operation(&self, id: &OperationId) -> Result<Operation, ClientError> {
        self.read(&["operations", id.as_str()]).await
    }

    /// What the service says of itself, ready or not.
    pub async fn readiness(&self) -> Result<Readiness, ClientError> {
        self.endpoint.readiness(READ).await
    }

    async fn read<T: DeserializeOwned>(&self, segments: &[&str]) -> Result<T, ClientError> {
        self.endpoint.get(segments, &(), READ).await
    }

    /// Sent once: whether a write that got no answer was done, the deployment tells. The manager bounds the time.
    async fn write<T: DeserializeOwned>(
        &self,
        method: Method,
        segments: &[&str],
        query: &WriteQuery,
        body: Option<&impl Serialize>,
        answer: Answer,
    ) -> Result<T, ClientError> {
        let request = self.endpoint.with_query(method, segments, query);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        self.endpoint.fetch(prefer(request, answer), None).await
    }
}

fn prefer(request: RequestBuilder, answer: Answer) -> RequestBuilder {
    match answer {
        Answer::WhenDone => request,
        Answer::AtOnce => request.header("prefer", "respond-async"),
    }
}
