//! The client of resourcifier.

mod jobs;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{Stream, TryStreamExt};
use reqwest::{Method, RequestBuilder};
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::jobs::Jobs;
use crate::api::activity::{ClusterEvents, EventsRequest, LogItem, LogsRequest};
use crate::api::cluster::{Capabilities, LookupAnswers, LookupRequest};
use crate::api::deployer::{ApplyRequest, CheckResponse, Event, ObjectStatus, StatusRequest};
use crate::api::export::{ExportRequest, Exported};
use crate::api::plan::{EditRequest, Edited, LookedUp, SourcesRequest};
use crate::api::review::{AccessReview, AccessVerdicts, TokenReview, TokenVerdict};
use crate::client::access::ClientAccess;
use crate::client::error::ClientError;
use crate::client::http::{Endpoint, with_body};
use crate::client::instances::{Chosen, Instances, unreached};
use crate::client::lines::documents;
use crate::json::Limits;
use crate::server::observe::health::Readiness;

/// Heartbeats come every few seconds. No event for this long means that nothing works on the job any more.
const IDLE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub struct DeployerClient {
    instances: Instances,
    jobs: Jobs,
}

impl DeployerClient {
    /// `urls` as in [`Instances::new`].
    pub fn new(urls: &str, access: &ClientAccess) -> Result<Self, ClientError> {
        Ok(Self {
            instances: Instances::new("resourcifier", urls, Limits::ANSWER, access)?,
            jobs: Jobs::default(),
        })
    }

    /// What an update would do. Nothing is changed.
    pub async fn diff(
        &self,
        request: Arc<ApplyRequest>,
    ) -> Result<impl Stream<Item = Result<Event, ClientError>> + use<>, ClientError> {
        let path = ["configurations", "diff"];
        self.read(&path, request).await
    }

    /// Whether the request can be planned. It fails for unknown kinds, objects that are named twice, and references
    /// that are unknown or circular.
    pub async fn check(
        &self,
        request: Arc<ApplyRequest>,
        deadline: Duration,
    ) -> Result<CheckResponse, ClientError> {
        let body = self.instances.body(request).await?;
        let path = ["configurations", "check"];
        let send = |endpoint: &Endpoint| posted(endpoint, &path, &body);
        let again = ClientError::is_transient;
        self.instances.fetch(send, deadline, again).await
    }

    /// The live state of recorded objects, in the order of the request.
    pub async fn status(
        &self,
        request: Arc<StatusRequest>,
        deadline: Duration,
    ) -> Result<Vec<ObjectStatus>, ClientError> {
        let body = self.instances.body(request).await?;
        let path = ["configurations", "status"];
        let send = |endpoint: &Endpoint| posted(endpoint, &path, &body);
        self.instances.fetch_repeatedly(send, deadline).await
    }

    /// Live objects, without the values of Secrets.
    pub async fn export(
        &self,
        request: Arc<ExportRequest>,
        deadline: Duration,
    ) -> Result<Exported, ClientError> {
        let body = self.instances.body(request).await?;
        let path = ["configurations", "export"];
        let send = |endpoint: &Endpoint| posted(endpoint, &path, &body);
        self.instances.fetch_repeatedly(send, deadline).await
    }

    /// What the cluster can do.
    pub async fn capabilities(&self, deadline: Duration) -> Result<Capabilities, ClientError> {
        let send = |endpoint: &Endpoint| endpoint.request(Method::GET, &["capabilities"]);
        self.instances.fetch_repeatedly(send, deadline).await
    }

    /// Live objects, with the values of Secrets.
    pub async fn look_up(
        &self,
        request: Arc<LookupRequest>,
        deadline: Duration,
    ) -> Result<LookupAnswers, ClientError> {
        let body = self.instances.body(request).await?;
        let path = ["lookups"];
        let send = |endpoint: &Endpoint| posted(endpoint, &path, &body);
        self.instances.fetch_repeatedly(send, deadline).await
    }

    /// The cluster's events about objects.
    pub async fn events(
        &self,
        request: Arc<EventsRequest>,
        deadline: Duration,
    ) -> Result<ClusterEvents, ClientError> {
        let body = self.instances.body(request).await?;
        let path = ["configurations", "events"];
        let send = |endpoint: &Endpoint| posted(endpoint, &path, &body);
        self.instances.fetch_repeatedly(send, deadline).await
    }

    /// The logs of the containers that objects made.
    pub async fn logs(
        &self,
        request: Arc<LogsRequest>,
    ) -> Result<impl Stream<Item = Result<LogItem, ClientError>> + use<>, ClientError> {
        let path = ["configurations", "logs"];
        self.read(&path, request).await
    }

    /// Live objects with all their values, in the rights of a user.
    pub async fn lookup(
        &self,
        request: Arc<SourcesRequest>,
        deadline: Duration,
    ) -> Result<LookedUp, ClientError> {
        let body = self.instances.body(request).await?;
        let path = ["configurations", "lookup"];
        let send = |endpoint: &Endpoint| posted(endpoint, &path, &body);
        self.instances.fetch_repeatedly(send, deadline).await
    }

    /// Changes live objects that others made.
    pub async fn edit(
        &self,
        request: Arc<EditRequest>,
        deadline: Duration,
    ) -> Result<Edited, ClientError> {
        let body = self.instances.body(request).await?;
        let path = ["configurations", "edit"];
        let send = |endpoint: &Endpoint| posted(endpoint, &path, &body);
        self.instances.fetch(send, deadline, unreached).await
    }

    /// The user of a token, from the cluster.
    pub async fn review_token(
        &self,
        review: &TokenReview,
        deadline: Duration,
    ) -> Result<TokenVerdict, ClientError> {
        self.review("token", review, deadline).await
    }

    /// Which actions the cluster allows a user.
    pub async fn review_access(
        &self,
        review: &AccessReview,
        deadline: Duration,
    ) -> Result<AccessVerdicts, ClientError> {
        self.review("access", review, deadline).await
    }

    async fn review<R: DeserializeOwned + Send + 'static>(
        &self,
        subject: &str,
        review: &impl Serialize,
        deadline: Duration,
    ) -> Result<R, ClientError> {
        let path = ["reviews", subject];
        let send = |endpoint: &Endpoint| endpoint.request(Method::POST, &path).json(review);
        self.instances.fetch_repeatedly(send, deadline).await
    }

    /// The readiness report of each instance, ready or not, with its URL.
    pub async fn readiness(
        &self,
        deadline: Duration,
    ) -> Vec<(String, Result<Readiness, ClientError>)> {
        self.instances.readiness(deadline).await
    }

    /// The stream of a request that changes nothing.
    async fn read<R, T>(
        &self,
        path: &[&str],
        request: Arc<R>,
    ) -> Result<impl Stream<Item = Result<T, ClientError>> + use<R, T>, ClientError>
    where
        R: Serialize + Send + Sync + 'static,
        T: DeserializeOwned + Send + 'static,
    {
        let body = self.instances.body(request).await?;
        let open = |chosen| stream(chosen, Method::POST, path, body.clone());
        self.instances.spread(open, ClientError::is_transient).await
    }
}

/// The stream that an instance answers with. The head of the answer must also come within [`IDLE`]. The timeout of the
/// request limits the work itself.
async fn stream<T>(
    chosen: Chosen,
    method: Method,
    path: &[&str],
    body: Bytes,
) -> Result<impl Stream<Item = Result<T, ClientError>> + use<T>, ClientError>
where
    T: DeserializeOwned + Send + 'static,
{
    let request = with_body(chosen.request(method, path), body);
    let answer = tokio::time::timeout(IDLE, chosen.send(request, None))
        .await
        .map_err(|_| chosen.broken_off(format!("no answer for {} s", IDLE.as_secs())))?;
    let documents = documents((*chosen).clone(), answer?, IDLE);
    Ok(documents.inspect_err(move |error| chosen.note(error)))
}

fn posted(endpoint: &Endpoint, path: &[&str], body: &Bytes) -> RequestBuilder {
    with_body(endpoint.request(Method::POST, path), body.clone())
}
