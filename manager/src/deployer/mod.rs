//! The port to what brings resources into the cluster.
//!
//! Promises: an apply converges on what is asked, and a delete on absence, so both may be repeated. A stream ends with a
//! report or an error; one that ends without either was broken off. An error with a 503 says that it is away.
//!
//! A job writes only between the manager's signs of life and the end of the lease that each of them begins
//! ([`common::api::job`]). After its report or error it writes nothing.

#[cfg(test)]
pub mod fake;
mod http;
#[cfg(test)]
pub mod slow;

use std::time::Duration;

use async_trait::async_trait;
use common::api::deployer::{
    ApplyRequest, CheckResponse, DeleteRequest, Event, ObjectStatus, StatusRequest,
};
use common::api::error::ErrorBody;
use common::api::job::{Fence, JobsStopped, Renewal, StopJobs};
use common::api::review::{AccessReview, AccessVerdict, TokenReview, TokenVerdict};
use common::server::health::Check;
use futures::stream::BoxStream;

pub use http::HttpDeployer;

pub type Events = BoxStream<'static, Result<Event, Box<ErrorBody>>>;

/// What is asked of the cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    Create(ApplyRequest),
    Update(ApplyRequest),
    Delete(DeleteRequest),
}

impl Job {
    pub fn fence(&self) -> Option<&Fence> {
        match self {
            Job::Create(request) | Job::Update(request) => request.fence.as_ref(),
            Job::Delete(request) => request.fence.as_ref(),
        }
    }

    /// Under which take of the operation it writes, and how much time it has.
    pub fn bound_by(&mut self, fence: Fence, timeout_ms: u64) {
        let (of_job, time) = match self {
            Job::Create(request) | Job::Update(request) => {
                (&mut request.fence, &mut request.timeout_ms)
            }
            Job::Delete(request) => (&mut request.fence, &mut request.timeout_ms),
        };
        (*of_job, *time) = (Some(fence), timeout_ms);
    }
}

#[async_trait]
pub trait Deployer: Send + Sync {
    /// Refuses what cannot be planned, with every fault of it; changes nothing.
    async fn check(
        &self,
        request: &ApplyRequest,
        deadline: Duration,
    ) -> Result<CheckResponse, Box<ErrorBody>>;

    /// What an update would do; the stream ends with the differences or an error.
    async fn diff(&self, request: &ApplyRequest) -> Result<Events, Box<ErrorBody>>;

    async fn start(&self, job: &Job) -> Result<Events, Box<ErrorBody>>;

    /// A sign of life for a job, in answer to its beat: without one it may not write, or not any longer.
    async fn renew(&self, renewal: &Renewal, deadline: Duration) -> Result<(), Box<ErrorBody>>;

    /// Ends jobs up to a fence. The answer comes when nothing of them reaches the cluster any more, and names the attempts
    /// of which that is known.
    async fn stop(
        &self,
        stop: &StopJobs,
        deadline: Duration,
    ) -> Result<JobsStopped, Box<ErrorBody>>;

    /// The live state of recorded objects, in the order of the request.
    async fn status(
        &self,
        request: &StatusRequest,
        deadline: Duration,
    ) -> Result<Vec<ObjectStatus>, Box<ErrorBody>>;

    /// Whose the token is, as the cluster says. A token that it does not know is a verdict, not an error.
    async fn review_token(
        &self,
        review: &TokenReview,
        deadline: Duration,
    ) -> Result<TokenVerdict, Box<ErrorBody>>;

    /// What the cluster lets somebody do: a verdict for each question, in their order; at most
    /// [`common::model::limits::ACCESS_QUESTIONS`] of them.
    async fn review_access(
        &self,
        review: &AccessReview,
        deadline: Duration,
    ) -> Result<Vec<AccessVerdict>, Box<ErrorBody>>;

    /// Whether it can work now.
    async fn health(&self) -> Check;
}
