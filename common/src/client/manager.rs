//! The client of the manager.

use std::time::Duration;

use bytes::Bytes;
use futures::{Stream, TryStreamExt};
use reqwest::{Body, Method, RequestBuilder};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::ClientError;
use super::http::Endpoint;
use super::server_sent;
use crate::api::admin::{ARCHIVE, Restored, Verification};
use crate::api::manager::*;
use crate::api::page::{Page, PageQuery};
use crate::model::{
    Credential, CredentialName, Deployment, DeploymentName, Layout, LayoutNode, Manifest,
    ManifestName, Operation, OperationId, RegistryDefinition, RegistryName,
};
use crate::server::health::Readiness;

/// Reads answer at once; listing a registry over a slow network is the slowest of them.
const READ: Duration = Duration::from_secs(60);

/// The manager sends a comment every 10 s where there is nothing to tell; after so long the connection is dead.
const IDLE: Duration = Duration::from_secs(30);

/// What a write answers: the result, or with `Prefer: respond-async` the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    WhenDone,
    AtOnce,
}

/// What goes with a write beside its body.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Write {
    pub query: WriteQuery,
    /// The deployment's fingerprint: the write is refused if it has another one by then.
    pub if_match: Option<String>,
    /// The same key again gets the answer of the first time: with one, a write is repeated until it is answered.
    pub idempotency_key: Option<String>,
}

impl From<&WriteQuery> for Write {
    fn from(query: &WriteQuery) -> Self {
        Self {
            query: query.clone(),
            ..Self::default()
        }
    }
}

impl Write {
    fn headers(&self, mut request: RequestBuilder) -> RequestBuilder {
        if let Some(fingerprint) = &self.if_match {
            request = request.header("if-match", format!("\"{fingerprint}\""));
        }
        if let Some(key) = &self.idempotency_key {
            request = request.header(IDEMPOTENCY_KEY, key);
        }
        request
    }
}

/// The body of a write that has none.
const NOTHING: Option<&()> = None;

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

    /// To the configuration of an earlier manifest, as a new manifest.
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

    /// Stops the running operation; nothing is undone. Gives it as it ended.
    pub async fn stop(
        &self,
        name: &DeploymentName,
        write: impl Into<Write>,
    ) -> Result<Operation, ClientError> {
        let path = ["deployments", name.as_str(), "stop"];
        self.write(Method::POST, &path, write, NOTHING, Answer::WhenDone)
            .await
    }

    /// As [`Self::stop`], by the operation.
    pub async fn cancel(&self, id: &OperationId) -> Result<Operation, ClientError> {
        let path = ["operations", id.as_str(), "cancel"];
        let write = Write::default();
        self.write(Method::POST, &path, write, NOTHING, Answer::WhenDone)
            .await
    }

    /// What an update to the configuration, or to a stored manifest, would do now; nothing is stored. The deployment
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

    /// Drops the preview; the deployment stays as it is.
    pub async fn drop_preview(
        &self,
        name: &DeploymentName,
        write: impl Into<Write>,
    ) -> Result<Deployment, ClientError> {
        let path = ["deployments", name.as_str(), "preview"];
        self.write(Method::DELETE, &path, write, NOTHING, Answer::WhenDone)
            .await
    }

    pub async fn deployments(&self, page: &PageQuery) -> Result<Page<Deployment>, ClientError> {
        self.endpoint.get(&["deployments"], page, READ).await
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

    pub async fn registry(&self, name: &str) -> Result<RegistrySummary, ClientError> {
        self.read(&["registries", name]).await
    }

    pub async fn create_registry(
        &self,
        name: &RegistryName,
        definition: &RegistryDefinition,
    ) -> Result<RegistrySummary, ClientError> {
        let path = ["registries", name.as_str()];
        let request = self.endpoint.request(Method::POST, &path);
        self.endpoint
            .fetch(request.json(definition), READ.into())
            .await
    }

    pub async fn delete_registry(
        &self,
        name: &RegistryName,
    ) -> Result<RegistrySummary, ClientError> {
        let path = ["registries", name.as_str()];
        let request = self.endpoint.request(Method::DELETE, &path);
        self.endpoint.fetch(request, READ.into()).await
    }

    pub async fn credentials(&self) -> Result<Page<CredentialSummary>, ClientError> {
        self.read(&["credentials"]).await
    }

    pub async fn credential(
        &self,
        name: &CredentialName,
    ) -> Result<CredentialSummary, ClientError> {
        self.read(&["credentials", name.as_str()]).await
    }

    /// Makes it, or gives it a new secret.
    pub async fn set_credential(
        &self,
        name: &CredentialName,
        credential: &Credential,
    ) -> Result<CredentialSummary, ClientError> {
        let path = ["credentials", name.as_str()];
        let request = self.endpoint.request(Method::POST, &path);
        self.endpoint
            .fetch(request.json(credential), READ.into())
            .await
    }

    pub async fn delete_credential(
        &self,
        name: &CredentialName,
    ) -> Result<CredentialSummary, ClientError> {
        let path = ["credentials", name.as_str()];
        let request = self.endpoint.request(Method::DELETE, &path);
        self.endpoint.fetch(request, READ.into()).await
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

    /// The events of an operation until it is done, each with its id; those after `last`, if that is given. The stream ends
    /// early where the manager stops.
    pub async fn events(
        &self,
        id: &OperationId,
        last: Option<&str>,
    ) -> Result<
        impl Stream<Item = Result<(String, OperationEvent), ClientError>> + use<>,
        ClientError,
    > {
        let path = ["operations", id.as_str(), "events"];
        let mut request = self.endpoint.request(Method::GET, &path);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let answer = tokio::time::timeout(IDLE, self.endpoint.send(request, None))
            .await
            .map_err(|_| {
                self.endpoint
                    .broken_off(format!("no answer for {} s", IDLE.as_secs()))
            })?;
        let endpoint = self.endpoint.clone();
        let events = server_sent::events(self.endpoint.clone(), answer?, IDLE);
        Ok(events.try_filter_map(move |sent| {
            let read = OperationEvent::read(&sent.event, &sent.data)
                .map(|event| event.map(|event| (sent.id, event)))
                .map_err(|error| endpoint.malformed(&error.to_string()));
            futures::future::ready(read)
        }))
    }

    /// All of the store, as it is now, while the manager goes on: an archive for [`Self::restore`]. It is whole if the
    /// stream ends without an error.
    pub async fn backup(
        &self,
    ) -> Result<impl Stream<Item = Result<Bytes, ClientError>> + use<>, ClientError> {
        let request = self.endpoint.request(Method::GET, &["admin", "backup"]);
        let answer = self.endpoint.send(request, None).await?;
        let endpoint = self.endpoint.clone();
        Ok(answer
            .bytes_stream()
            .map_err(move |error| endpoint.failed(&error, None)))
    }

    /// Fills an empty store with an archive.
    pub async fn restore<S>(&self, archive: S) -> Result<Restored, ClientError>
    where
        S: Stream<Item = std::io::Result<Bytes>> + Send + 'static,
    {
        let request = self.endpoint.request(Method::POST, &["admin", "restore"]);
        let request = request
            .header("content-type", ARCHIVE)
            .body(Body::wrap_stream(archive));
        self.endpoint.fetch(request, None).await
    }

    /// Reads all of the store, and tells what is not as it must be.
    pub async fn verify(&self) -> Result<Verification, ClientError> {
        let request = self.endpoint.request(Method::GET, &["admin", "verify"]);
        self.endpoint.fetch(request, None).await
    }

    /// What the service says of itself, ready or not.
    pub async fn readiness(&self) -> Result<Readiness, ClientError> {
        self.endpoint.readiness(READ).await
    }

    async fn read<T: DeserializeOwned>(&self, segments: &[&str]) -> Result<T, ClientError> {
        self.endpoint.get(segments, &(), READ).await
    }

    async fn post<T: DeserializeOwned>(
        &self,
        segments: &[&str],
        write: impl Into<Write>,
        body: &impl Serialize,
        answer: Answer,
    ) -> Result<T, ClientError> {
        self.write(Method::POST, segments, write, Some(body), answer)
            .await
    }

    /// Sent once, as whether a write that got no answer was done, only the deployment tells; with an idempotency key
    /// repeatedly. The manager bounds the time.
    async fn write<T: DeserializeOwned>(
        &self,
        method: Method,
        segments: &[&str],
        write: impl Into<Write>,
        body: Option<&impl Serialize>,
        answer: Answer,
    ) -> Result<T, ClientError> {
        let write = write.into();
        let send = || {
            let request = self
                .endpoint
                .with_query(method.clone(), segments, &write.query);
            let request = match body {
                Some(body) => request.json(body),
                None => request,
            };
            prefer(write.headers(request), answer)
        };
        match &write.idempotency_key {
            Some(_) => self.endpoint.fetch_repeatedly(send, None).await,
            None => self.endpoint.fetch(send(), None).await,
        }
    }
}

fn prefer(request: RequestBuilder, answer: Answer) -> RequestBuilder {
    match answer {
        Answer::WhenDone => request,
        Answer::AtOnce => request.header("prefer", "respond-async"),
    }
}
