//! resourcifier over HTTP.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::deployer::{ApplyRequest, CheckResponse, ObjectStatus, StatusRequest};
use common::api::error::{ErrorBody, ErrorCode};
use common::api::job::{JobsStopped, Renewal, StopJobs};
use common::api::review::{AccessReview, AccessVerdict, TokenReview, TokenVerdict};
use common::client::{ClientAccess, ClientError, DeployerClient};
use common::server::health::Check;
use futures::{StreamExt, TryStreamExt};

use super::{Deployer, Events, Job};
use crate::dependency;

#[derive(Debug, Clone)]
pub struct HttpDeployer {
    client: DeployerClient,
}

impl HttpDeployer {
    pub fn new(url: &str, access: &ClientAccess) -> Result<Self, ClientError> {
        Ok(Self {
            client: DeployerClient::new(url, access)?,
        })
    }
}

#[async_trait]
impl Deployer for HttpDeployer {
    async fn check(
        &self,
        request: Arc<ApplyRequest>,
        deadline: Duration,
    ) -> Result<CheckResponse, Box<ErrorBody>> {
        self.client
            .check(request, deadline)
            .await
            .map_err(into_error)
    }

    async fn diff(&self, request: Arc<ApplyRequest>) -> Result<Events, Box<ErrorBody>> {
        let events = self.client.diff(request).await.map_err(into_error)?;
        Ok(events.map_err(into_error).boxed())
    }

    async fn start(&self, job: &Job) -> Result<Events, Box<ErrorBody>> {
        let client = &self.client;
        let events = match job.clone() {
            Job::Create(request) => client.create(request).await.map(StreamExt::boxed),
            Job::Update(request) => client.update(request).await.map(StreamExt::boxed),
            Job::Delete(request) => client.delete(request).await.map(StreamExt::boxed),
        };
        Ok(events.map_err(into_error)?.map_err(into_error).boxed())
    }

    async fn renew(&self, renewal: &Renewal, deadline: Duration) -> Result<(), Box<ErrorBody>> {
        let renewed = self
            .client
            .renew(renewal, deadline)
            .await
            .map_err(into_error)?;
        if !renewed.known {
            let deployment = &renewal.deployment;
            tracing::warn!(%deployment, "the job for {deployment} has ended, or runs in another process of resourcifier: let all connections of this manager reach one process (a Service with sessionAffinity: ClientIP)");
        }
        Ok(())
    }

    async fn stop(
        &self,
        stop: &StopJobs,
        deadline: Duration,
    ) -> Result<JobsStopped, Box<ErrorBody>> {
        self.client.stop(stop, deadline).await.map_err(into_error)
    }

    async fn status(
        &self,
        request: Arc<StatusRequest>,
        deadline: Duration,
    ) -> Result<Vec<ObjectStatus>, Box<ErrorBody>> {
        self.client
            .status(request, deadline)
            .await
            .map_err(into_error)
    }

    async fn review_token(
        &self,
        review: &TokenReview,
        deadline: Duration,
    ) -> Result<TokenVerdict, Box<ErrorBody>> {
        let verdict = self.client.review_token(review, deadline).await;
        verdict.map_err(into_error)
    }

    async fn review_access(
        &self,
        review: &AccessReview,
        deadline: Duration,
    ) -> Result<Vec<AccessVerdict>, Box<ErrorBody>> {
        let verdicts = self.client.review_access(review, deadline).await;
        let items = verdicts.map_err(into_error)?.items;
        if items.len() == review.attributes.len() {
            return Ok(items);
        }
        let message = "resourcifier did not answer every question of an access review";
        Err(Box::new(ErrorBody::new(
            ErrorCode::DeployerUnavailable,
            message,
        )))
    }

    async fn health(&self) -> Check {
        dependency::check(
            "resourcifier",
            self.client.readiness(dependency::PATIENCE).await,
        )
    }
}

fn into_error(error: ClientError) -> Box<ErrorBody> {
    Box::new(error.into_body(ErrorCode::DeployerUnavailable))
}
