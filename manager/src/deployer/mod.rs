//! The port to the service that applies resources to the cluster.
//!
//! Promises: an apply converges on the request and a delete on absence, so both may be repeated. A stream ends with a
//! report or an error. A stream without either was interrupted.
//!
//! A job may write only until the lease ends that the manager's last sign of life began ([`common::api::job`]). After
//! its report or error it writes nothing.

#[cfg(test)]
pub mod fake;
mod http;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::activity::{ClusterEvents, EventsRequest, LogItem, LogsRequest};
use common::api::cluster::{Capabilities, LookupAnswer, LookupRequest};
use common::api::deployer::{
    ApplyRequest, CheckResponse, DeleteRequest, Event, ObjectStatus, StatusRequest,
};
use common::api::export::{ExportRequest, Exported};
use common::api::job::{Fence, JobsStopped, Renewal, StopJobs};
use common::api::plan::{EditRequest, Edited, LookedUp, SourcesRequest};
use common::api::review::{AccessReview, AccessVerdict, TokenReview, TokenVerdict};
use common::model::ClusterName;
use common::server::observe::health::Check;
use futures::stream::BoxStream;

use crate::dependency::CallError;

pub use http::HttpDeployer;

/// The logs of containers, until they end. An error is the last item.
pub type Logs = BoxStream<'static, Result<LogItem, CallError>>;

/// The events of a job or of a diff. The last one is a report, a diff or an error.
pub type Events = BoxStream<'static, Result<Event, CallError>>;

/// A request to change the cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    Create(Arc<ApplyRequest>),
    Update(Arc<ApplyRequest>),
    Delete(Arc<DeleteRequest>),
}

impl Job {
    pub fn fence(&self) -> Option<&Fence> {
        match self {
            Job::Create(request) | Job::Update(request) => request.fence.as_ref(),
            Job::Delete(request) => request.fence.as_ref(),
        }
    }

    /// The fence that it writes under, and its time.
    pub fn bound_by(&mut self, fence: Fence, timeout_ms: u64) {
        let (of_job, time) = match self {
            Job::Create(request) | Job::Update(request) => {
                let request = Arc::make_mut(request);
                (&mut request.fence, &mut request.timeout_ms)
            }
            Job::Delete(request) => {
                let request = Arc::make_mut(request);
                (&mut request.fence, &mut request.timeout_ms)
            }
        };
        (*of_job, *time) = (Some(fence), timeout_ms);
    }
}

/// The deployers of all clusters.
pub trait Deployers: Send + Sync {
    /// The deployer of a cluster. If the cluster cannot be used, every call fails and says why.
    fn of(&self, cluster: &ClusterName) -> Arc<dyn Deployer>;
}

/// # Errors
/// - [`CallError::Refused`]: resourcifier answered with this error. Only a transient code, such as `CLUSTER_UNAVAILABLE`,
///   makes a repeated call useful.
/// - [`CallError::Deployer`]: there is no answer within the deadline, or none that can be read.
///
/// A stream has these errors as its last item, too. The job may go on then: only [`Deployer::stop`] ends it for certain.
#[async_trait]
pub trait Deployer: Send + Sync {
    /// Refuses resources that cannot be planned, with every fault. Changes nothing.
    async fn check(
        &self,
        request: Arc<ApplyRequest>,
        deadline: Duration,
    ) -> Result<CheckResponse, CallError>;

    /// What an update would do. The stream ends with the differences or an error.
    async fn diff(&self, request: Arc<ApplyRequest>) -> Result<Events, CallError>;

    /// Starts a job, and returns its events. Earlier jobs of the deployment end first. A fence that is lower than one that
    /// resourcifier has seen, or that was stopped, is refused.
    async fn start(&self, job: &Job) -> Result<Events, CallError>;

    /// Whether jobs run in several processes that do not know of each other. Then a job that begins does not end earlier
    /// ones first.
    async fn is_several(&self) -> bool;

    /// Renews a job's lease, in answer to its beat. Without a renewal the job may not write.
    async fn renew(&self, renewal: &Renewal, deadline: Duration) -> Result<(), CallError>;

    /// Ends jobs up to a fence. The answer comes when they can write nothing more to the cluster, and names the
    /// attempts of which this is known.
    async fn stop(&self, stop: &StopJobs, deadline: Duration) -> Result<JobsStopped, CallError>;

    /// The live state of recorded objects, in the order of the request.
    async fn status(
        &self,
        request: Arc<StatusRequest>,
        deadline: Duration,
    ) -> Result<Vec<ObjectStatus>, CallError>;

    /// Live objects, in the order of the request. The values of Secrets are masked. A named object that does not exist, a kind
    /// that is not served, and a missing permission are refused.
    async fn export(
        &self,
        request: Arc<ExportRequest>,
        deadline: Duration,
    ) -> Result<Exported, CallError>;

    /// The cluster's events about recorded objects, and about what the cluster made of them.
    async fn events(
        &self,
        request: Arc<EventsRequest>,
        deadline: Duration,
    ) -> Result<ClusterEvents, CallError>;

    /// The logs of the containers of recorded objects. Dropping the stream ends the work.
    async fn logs(&self, request: Arc<LogsRequest>) -> Result<Logs, CallError>;

    /// What the cluster can do.
    async fn capabilities(&self, deadline: Duration) -> Result<Capabilities, CallError>;

    /// Live objects as they are, with the values of Secrets: an answer for each lookup, in the order of the request. An object
    /// that does not exist or may not be read is an answer, not an error.
    async fn look_up(
        &self,
        request: Arc<LookupRequest>,
        deadline: Duration,
    ) -> Result<Vec<LookupAnswer>, CallError>;

    /// Live objects for plans, with all their values, in the order of the request.
    async fn lookup(
        &self,
        request: Arc<SourcesRequest>,
        deadline: Duration,
    ) -> Result<LookedUp, CallError>;

    /// Changes live objects that others made, one after the other. It may be repeated. An object that does not exist is refused:
    /// those before it are changed.
    async fn edit(
        &self,
        request: Arc<EditRequest>,
        deadline: Duration,
    ) -> Result<Edited, CallError>;

    /// The user of a token, from the cluster. An unknown token is a verdict, not an error.
    async fn review_token(
        &self,
        review: &TokenReview,
        deadline: Duration,
    ) -> Result<TokenVerdict, CallError>;

    /// What the cluster permits a user: a verdict for each question, in their order. There may be at most
    /// [`common::model::limits::ACCESS_QUESTIONS`].
    async fn review_access(
        &self,
        review: &AccessReview,
        deadline: Duration,
    ) -> Result<Vec<AccessVerdict>, CallError>;

    /// Whether it is ready.
    async fn health(&self) -> Check;
}
