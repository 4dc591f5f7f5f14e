//! resourcifier over HTTP.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::activity::{ClusterEvents, EventsRequest, LogsRequest};
use common::api::cluster::{Capabilities, LookupAnswer, LookupRequest};
use common::api::deployer::{ApplyRequest, CheckResponse, ObjectStatus, StatusRequest};
use common::api::export::{ExportRequest, Exported};
use common::api::job::{JobsStopped, Renewal, StopJobs};
use common::api::plan::{EditRequest, Edited, LookedUp, SourcesRequest};
use common::api::review::{AccessReview, AccessVerdict, TokenReview, TokenVerdict};
use common::client::{ClientAccess, ClientError, DeployerClient};
use common::server::observe::health::Check;
use futures::{StreamExt, TryStreamExt};

use super::{Deployer, Events, Job, Logs};
use crate::dependency::{self, CallError};

#[derive(Debug, Clone)]
pub struct HttpDeployer {
    client: DeployerClient,
}

impl HttpDeployer {
    /// `urls` is one URL, or several with commas between them.
    pub fn new(urls: &str, access: &ClientAccess) -> Result<Self, ClientError> {
        Ok(Self {
            client: DeployerClient::new(urls, access)?,
        })
    }
}

#[async_trait]
impl Deployer for HttpDeployer {
    async fn check(
        &self,
        request: Arc<ApplyRequest>,
        deadline: Duration,
    ) -> Result<CheckResponse, CallError> {
        self.client
            .check(request, deadline)
            .await
            .map_err(CallError::of_deployer)
    }

    async fn diff(&self, request: Arc<ApplyRequest>) -> Result<Events, CallError> {
        let events = self
            .client
            .diff(request)
            .await
            .map_err(CallError::of_deployer)?;
        Ok(events.map_err(CallError::of_deployer).boxed())
    }

    async fn start(&self, job: &Job) -> Result<Events, CallError> {
        let client = &self.client;
        let events = match job.clone() {
            Job::Create(request) => client.create(request).await.map(StreamExt::boxed),
            Job::Update(request) => client.update(request).await.map(StreamExt::boxed),
            Job::Delete(request) => client.delete(request).await.map(StreamExt::boxed),
        };
        Ok(events
            .map_err(CallError::of_deployer)?
            .map_err(CallError::of_deployer)
            .boxed())
    }

    async fn is_several(&self) -> bool {
        self.client.is_several()
    }

    async fn renew(&self, renewal: &Renewal, deadline: Duration) -> Result<(), CallError> {
        let renewed = self
            .client
            .renew(renewal, deadline)
            .await
            .map_err(CallError::of_deployer)?;
        if !renewed.known {
            let deployment = &renewal.deployment;
            tracing::warn!(%deployment, "the job for {deployment} has ended, or runs in another process of resourcifier: let all connections of this manager to one address reach one process (a Service with sessionAffinity: ClientIP)");
        }
        Ok(())
    }

    async fn stop(&self, stop: &StopJobs, deadline: Duration) -> Result<JobsStopped, CallError> {
        self.client
            .stop(stop, deadline)
            .await
            .map_err(CallError::of_deployer)
    }

    async fn status(
        &self,
        request: Arc<StatusRequest>,
        deadline: Duration,
    ) -> Result<Vec<ObjectStatus>, CallError> {
        self.client
            .status(request, deadline)
            .await
            .map_err(CallError::of_deployer)
    }

    async fn export(
        &self,
        request: Arc<ExportRequest>,
        deadline: Duration,
    ) -> Result<Exported, CallError> {
        let exported = self.client.export(request, deadline).await;
        exported.map_err(CallError::of_deployer)
    }

    async fn events(
        &self,
        request: Arc<EventsRequest>,
        deadline: Duration,
    ) -> Result<ClusterEvents, CallError> {
        let events = self.client.events(request, deadline).await;
        events.map_err(CallError::of_deployer)
    }

    async fn logs(&self, request: Arc<LogsRequest>) -> Result<Logs, CallError> {
        let logs = self.client.logs(request).await;
        let logs = logs.map_err(CallError::of_deployer)?;
        Ok(logs.map_err(CallError::of_deployer).boxed())
    }

    async fn capabilities(&self, deadline: Duration) -> Result<Capabilities, CallError> {
        let known = self.client.capabilities(deadline).await;
        known.map_err(CallError::of_deployer)
    }

    async fn look_up(
        &self,
        request: Arc<LookupRequest>,
        deadline: Duration,
    ) -> Result<Vec<LookupAnswer>, CallError> {
        let answers = self.client.look_up(request, deadline).await;
        Ok(answers.map_err(CallError::of_deployer)?.items)
    }

    async fn lookup(
        &self,
        request: Arc<SourcesRequest>,
        deadline: Duration,
    ) -> Result<LookedUp, CallError> {
        let asked = request.objects.len();
        let found = self.client.lookup(request, deadline).await;
        let found = found.map_err(CallError::of_deployer)?;
        match found.objects.len() == asked {
            true => Ok(found),
            false => Err(CallError::Unanswered),
        }
    }

    async fn edit(
        &self,
        request: Arc<EditRequest>,
        deadline: Duration,
    ) -> Result<Edited, CallError> {
        let edited = self.client.edit(request, deadline).await;
        edited.map_err(CallError::of_deployer)
    }

    async fn review_token(
        &self,
        review: &TokenReview,
        deadline: Duration,
    ) -> Result<TokenVerdict, CallError> {
        let verdict = self.client.review_token(review, deadline).await;
        verdict.map_err(CallError::of_deployer)
    }

    async fn review_access(
        &self,
        review: &AccessReview,
        deadline: Duration,
    ) -> Result<Vec<AccessVerdict>, CallError> {
        let verdicts = self.client.review_access(review, deadline).await;
        let items = verdicts.map_err(CallError::of_deployer)?.items;
        match items.len() == review.attributes.len() {
            true => Ok(items),
            false => Err(CallError::Unanswered),
        }
    }

    async fn health(&self) -> Check {
        dependency::check(
            "resourcifier",
            self.client.readiness(dependency::PATIENCE).await,
        )
    }
}
