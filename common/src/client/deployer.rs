//! The client of resourcifier.

use std::sync::Arc;
use std::time::Duration;

use futures::Stream;
use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::access::ClientAccess;
use super::error::ClientError;
use super::http::{Endpoint, with_body};
use super::lines::documents;
use crate::api::activity::{ClusterEvents, EventsRequest, LogItem, LogsRequest};
use crate::api::cluster::{Capabilities, LookupAnswers, LookupRequest};
use crate::api::deployer::{
    ApplyRequest, CheckResponse, DeleteRequest, Event, ObjectStatus, StatusRequest,
};
use crate::api::export::{ExportRequest, Exported};
use crate::api::job::{JobsStopped, Renewal, Renewed, StopJobs};
use crate::api::plan::{EditRequest, Edited, LookedUp, SourcesRequest};
use crate::api::review::{AccessReview, AccessVerdicts, TokenReview, TokenVerdict};
use crate::json::Limits;
use crate::server::observe::health::Readiness;

/// Heartbeats come every few seconds. No event for this long means that nothing works on the job any more.
const IDLE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub struct DeployerClient {
    endpoint: Endpoint,
}

impl DeployerClient {
    pub fn new(url: &str, access: &ClientAccess) -> Result<Self, ClientError> {
        Ok(Self {
            endpoint: Endpoint::new("resourcifier", url, Limits::ANSWER, access)?,
        })
    }

    pub async fn create(
        &self,
        request: Arc<ApplyRequest>,
    ) -> Result<impl Stream<Item = Result<Event, ClientError>> + use<>, ClientError> {
        self.stream(Method::POST, &["configurations"], request)
            .await
    }

    pub async fn update(
        &self,
        request: Arc<ApplyRequest>,
    ) -> Result<impl Stream<Item = Result<Event, ClientError>> + use<>, ClientError> {
        self.stream(Method::PUT, &["configurations"], request).await
    }

    pub async fn delete(
        &self,
        request: Arc<DeleteRequest>,
    ) -> Result<impl Stream<Item = Result<Event, ClientError>> + use<>, ClientError> {
        self.stream(Method::DELETE, &["configurations"], request)
            .await
    }

    /// What an update would do. Nothing is changed.
    pub async fn diff(
        &self,
        request: Arc<ApplyRequest>,
    ) -> Result<impl Stream<Item = Result<Event, ClientError>> + use<>, ClientError> {
        self.stream(Method::POST, &["configurations", "diff"], request)
            .await
    }

    /// Whether the request can be planned. It fails for unknown kinds, objects that are named twice, and references
    /// that are unknown or circular.
    pub async fn check(
        &self,
        request: Arc<ApplyRequest>,
        deadline: Duration,
    ) -> Result<CheckResponse, ClientError> {
        let body = self.endpoint.body(request).await?;
        let request = self
            .endpoint
            .request(Method::POST, &["configurations", "check"]);
        self.endpoint
            .fetch(with_body(request, body), Some(deadline))
            .await
    }

    /// The live state of recorded objects, in the order of the request.
    pub async fn status(
        &self,
        request: Arc<StatusRequest>,
        deadline: Duration,
    ) -> Result<Vec<ObjectStatus>, ClientError> {
        let body = self.endpoint.body(request).await?;
        let path = ["configurations", "status"];
        let send = || with_body(self.endpoint.request(Method::POST, &path), body.clone());
        self.endpoint.fetch_repeatedly(send, deadline).await
    }

    /// Live objects, without the values of Secrets.
    pub async fn export(
        &self,
        request: Arc<ExportRequest>,
        deadline: Duration,
    ) -> Result<Exported, ClientError> {
        let body = self.endpoint.body(request).await?;
        let path = ["configurations", "export"];
        let send = || with_body(self.endpoint.request(Method::POST, &path), body.clone());
        self.endpoint.fetch_repeatedly(send, deadline).await
    }

    /// What the cluster can do.
    pub async fn capabilities(&self, deadline: Duration) -> Result<Capabilities, ClientError> {
        let send = || self.endpoint.request(Method::GET, &["capabilities"]);
        self.endpoint.fetch_repeatedly(send, deadline).await
    }

    /// Live objects, with the values of Secrets.
    pub async fn look_up(
        &self,
        request: Arc<LookupRequest>,
        deadline: Duration,
    ) -> Result<LookupAnswers, ClientError> {
        let body = self.endpoint.body(request).await?;
        let path = ["lookups"];
        let send = || with_body(self.endpoint.request(Method::POST, &path), body.clone());
        self.endpoint.fetch_repeatedly(send, deadline).await
    }

    /// The cluster's events about objects.
    pub async fn events(
        &self,
        request: Arc<EventsRequest>,
        deadline: Duration,
    ) -> Result<ClusterEvents, ClientError> {
        let body = self.endpoint.body(request).await?;
        let path = ["configurations", "events"];
        let send = || with_body(self.endpoint.request(Method::POST, &path), body.clone());
        self.endpoint.fetch_repeatedly(send, deadline).await
    }

    /// The logs of the containers that objects made.
    pub async fn logs(
        &self,
        request: Arc<LogsRequest>,
    ) -> Result<impl Stream<Item = Result<LogItem, ClientError>> + use<>, ClientError> {
        self.stream(Method::POST, &["configurations", "logs"], request)
            .await
    }

    /// Live objects with all their values, in the rights of a user.
    pub async fn lookup(
        &self,
        request: Arc<SourcesRequest>,
        deadline: Duration,
    ) -> Result<LookedUp, ClientError> {
        let body = self.endpoint.body(request).await?;
        let path = ["configurations", "lookup"];
        let send = || with_body(self.endpoint.request(Method::POST, &path), body.clone());
        self.endpoint.fetch_repeatedly(send, deadline).await
    }

    /// Changes live objects that others made.
    pub async fn edit(
        &self,
        request: Arc<EditRequest>,
        deadline: Duration,
    ) -> Result<Edited, ClientError> {
        let body = self.endpoint.body(request).await?;
        let path = ["configurations", "edit"];
        let request = self.endpoint.request(Method::POST, &path);
        self.endpoint
            .fetch(with_body(request, body), Some(deadline))
            .await
    }

    /// A sign of life for a job. It is not repeated: the next beat asks again.
    pub async fn renew(
        &self,
        renewal: &Renewal,
        deadline: Duration,
    ) -> Result<Renewed, ClientError> {
        let request = self.endpoint.request(Method::POST, &["jobs", "renew"]);
        self.endpoint
            .fetch(request.json(renewal), Some(deadline))
            .await
    }

    /// Ends jobs. The answer comes when they write nothing to the cluster any more.
    pub async fn stop(
        &self,
        stop: &StopJobs,
        deadline: Duration,
    ) -> Result<JobsStopped, ClientError> {
        let request = self.endpoint.request(Method::POST, &["jobs", "stop"]);
        self.endpoint
            .fetch(request.json(stop), Some(deadline))
            .await
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
        let send = || {
            self.endpoint
                .request(Method::POST, &["reviews", subject])
                .json(review)
        };
        self.endpoint.fetch_repeatedly(send, deadline).await
    }

    /// The service's readiness report, ready or not.
    pub async fn readiness(&self, deadline: Duration) -> Result<Readiness, ClientError> {
        self.endpoint.readiness(deadline).await
    }

    /// The head of the answer must also come within [`IDLE`]. The timeout of the request limits the work itself.
    async fn stream<R, T>(
        &self,
        method: Method,
        path: &[&str],
        request: Arc<R>,
    ) -> Result<impl Stream<Item = Result<T, ClientError>> + use<R, T>, ClientError>
    where
        R: Serialize + Send + Sync + 'static,
        T: DeserializeOwned + Send + 'static,
    {
        let body = self.endpoint.body(request).await?;
        let request = with_body(self.endpoint.request(method, path), body);
        let answer = tokio::time::timeout(IDLE, self.endpoint.send(request, None))
            .await
            .map_err(|_| {
                self.endpoint
                    .broken_off(format!("no answer for {} s", IDLE.as_secs()))
            })?;
        Ok(documents(self.endpoint.clone(), answer?, IDLE))
    }
}
