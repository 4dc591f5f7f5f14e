//! The deployer of a registered cluster.

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
use common::model::ClusterName;
use common::server::observe::health::Check;

use super::Registered;
use crate::dependency::CallError;
use crate::deployer::{Deployer, Events, HttpDeployer, Job, Logs};

pub struct Remote {
    pub(super) cluster: ClusterName,
    pub(super) registered: Arc<Registered>,
}

impl Remote {
    async fn open(&self) -> Result<Arc<HttpDeployer>, CallError> {
        self.registered.deployer(&self.cluster).await
    }
}

#[async_trait]
impl Deployer for Remote {
    async fn check(
        &self,
        request: Arc<ApplyRequest>,
        deadline: Duration,
    ) -> Result<CheckResponse, CallError> {
        self.open().await?.check(request, deadline).await
    }

    async fn diff(&self, request: Arc<ApplyRequest>) -> Result<Events, CallError> {
        self.open().await?.diff(request).await
    }

    async fn start(&self, job: &Job) -> Result<Events, CallError> {
        self.open().await?.start(job).await
    }

    async fn is_several(&self) -> bool {
        match self.open().await {
            Ok(deployer) => deployer.is_several().await,
            // Nothing is known.
            Err(_) => true,
        }
    }

    async fn renew(&self, renewal: &Renewal, deadline: Duration) -> Result<(), CallError> {
        self.open().await?.renew(renewal, deadline).await
    }

    async fn stop(&self, stop: &StopJobs, deadline: Duration) -> Result<JobsStopped, CallError> {
        self.open().await?.stop(stop, deadline).await
    }

    async fn status(
        &self,
        request: Arc<StatusRequest>,
        deadline: Duration,
    ) -> Result<Vec<ObjectStatus>, CallError> {
        self.open().await?.status(request, deadline).await
    }

    async fn export(
        &self,
        request: Arc<ExportRequest>,
        deadline: Duration,
    ) -> Result<Exported, CallError> {
        self.open().await?.export(request, deadline).await
    }

    async fn events(
        &self,
        request: Arc<EventsRequest>,
        deadline: Duration,
    ) -> Result<ClusterEvents, CallError> {
        self.open().await?.events(request, deadline).await
    }

    async fn logs(&self, request: Arc<LogsRequest>) -> Result<Logs, CallError> {
        self.open().await?.logs(request).await
    }

    async fn capabilities(&self, deadline: Duration) -> Result<Capabilities, CallError> {
        self.open().await?.capabilities(deadline).await
    }

    async fn look_up(
        &self,
        request: Arc<LookupRequest>,
        deadline: Duration,
    ) -> Result<Vec<LookupAnswer>, CallError> {
        self.open().await?.look_up(request, deadline).await
    }

    async fn lookup(
        &self,
        request: Arc<SourcesRequest>,
        deadline: Duration,
    ) -> Result<LookedUp, CallError> {
        self.open().await?.lookup(request, deadline).await
    }

    async fn edit(
        &self,
        request: Arc<EditRequest>,
        deadline: Duration,
    ) -> Result<Edited, CallError> {
        self.open().await?.edit(request, deadline).await
    }

    async fn review_token(
        &self,
        review: &TokenReview,
        deadline: Duration,
    ) -> Result<TokenVerdict, CallError> {
        self.open().await?.review_token(review, deadline).await
    }

    async fn review_access(
        &self,
        review: &AccessReview,
        deadline: Duration,
    ) -> Result<Vec<AccessVerdict>, CallError> {
        self.open().await?.review_access(review, deadline).await
    }

    async fn health(&self) -> Check {
        match self.open().await {
            Ok(deployer) => deployer.health().await,
            Err(error) => Check::down("resourcifier", error.to_string()),
        }
    }
}
