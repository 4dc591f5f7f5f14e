//! The jobs of resourcifier: each runs in one instance, which alone knows it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use futures::{Stream, TryStreamExt};
use reqwest::Method;

use super::{DeployerClient, stream};
use crate::api::deployer::{ApplyRequest, DeleteRequest, Event};
use crate::api::job::{Fence, JobsStopped, Renewal, Renewed, StopJobs};
use crate::client::error::ClientError;
use crate::client::instances::{Chosen, unreached};
use crate::model::DeploymentName;

/// How long an instance that is left out may take to end jobs: probably, it is not there.
const LEFT_OUT: Duration = Duration::from_secs(2);

/// Deployment, store, take and attempt.
type Key = (DeploymentName, String, u64, u32);

/// Which instance runs a job, as long as its stream is read.
#[derive(Debug, Clone, Default)]
pub(super) struct Jobs(Arc<Mutex<HashMap<Key, Chosen>>>);

/// A job in [`Jobs`].
struct Running {
    jobs: Jobs,
    key: Option<Key>,
}

impl Jobs {
    fn begin(&self, key: Option<Key>, chosen: Chosen) -> Running {
        if let Some(key) = key.clone() {
            self.known().insert(key, chosen);
        }
        Running {
            jobs: self.clone(),
            key,
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Key, Chosen>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(key) = &self.key {
            self.jobs.known().remove(key);
        }
    }
}

fn key(deployment: &DeploymentName, fence: &Fence) -> Key {
    let store = fence.store.clone();
    (deployment.clone(), store, fence.number, fence.attempt)
}

impl DeployerClient {
    pub async fn create(
        &self,
        request: Arc<ApplyRequest>,
    ) -> Result<impl Stream<Item = Result<Event, ClientError>> + use<>, ClientError> {
        self.apply(Method::POST, request).await
    }

    pub async fn update(
        &self,
        request: Arc<ApplyRequest>,
    ) -> Result<impl Stream<Item = Result<Event, ClientError>> + use<>, ClientError> {
        self.apply(Method::PUT, request).await
    }

    async fn apply(
        &self,
        method: Method,
        request: Arc<ApplyRequest>,
    ) -> Result<impl Stream<Item = Result<Event, ClientError>> + use<>, ClientError> {
        let fence = request.fence.as_ref();
        let key = fence.map(|fence| key(&request.deployment, fence));
        let body = self.instances.body(request).await?;
        self.job(method, key, body).await
    }

    pub async fn delete(
        &self,
        request: Arc<DeleteRequest>,
    ) -> Result<impl Stream<Item = Result<Event, ClientError>> + use<>, ClientError> {
        let fence = request.fence.as_ref();
        let key = fence.map(|fence| key(&request.deployment, fence));
        let body = self.instances.body(request).await?;
        self.job(Method::DELETE, key, body).await
    }

    /// An instance that was not reached has begun nothing, so the next one gets the job.
    async fn job(
        &self,
        method: Method,
        key: Option<Key>,
        body: Bytes,
    ) -> Result<impl Stream<Item = Result<Event, ClientError>> + use<>, ClientError> {
        let open = |chosen: Chosen| {
            let (method, body, key) = (method.clone(), body.clone(), key.clone());
            async move {
                let running = self.jobs.begin(key, chosen.clone());
                let events = stream(chosen, method, &["configurations"], body).await?;
                Ok(events.inspect_ok(move |_: &Event| {
                    let _ = &running;
                }))
            }
        };
        self.instances.spread(open, unreached).await
    }

    /// Whether jobs may run in instances that do not know of each other.
    pub fn is_several(&self) -> bool {
        self.instances.are_several()
    }

    /// A sign of life for a job. It is not repeated: the next beat asks again.
    pub async fn renew(
        &self,
        renewal: &Renewal,
        deadline: Duration,
    ) -> Result<Renewed, ClientError> {
        let key = key(&renewal.deployment, &renewal.fence);
        let running = self.jobs.known().get(&key).cloned();
        let asked: Vec<_> = match running {
            Some(running) => vec![running],
            None => self.instances.each().map(|(chosen, _)| chosen).collect(),
        };
        let send = async |chosen: Chosen| -> Result<Renewed, ClientError> {
            let request = chosen.request(Method::POST, &["jobs", "renew"]);
            chosen.fetch(request.json(renewal), Some(deadline)).await
        };
        let answers = join_all(asked.into_iter().map(send)).await;
        let known = answers.iter().flatten().any(|renewed| renewed.known);
        match answers.into_iter().find_map(Result::err) {
            Some(error) if !known => Err(error),
            _ => Ok(Renewed { known }),
        }
    }

    /// Ends jobs in every instance. The answer comes when they write nothing to the cluster any more. It misses what ran
    /// in an instance that is left out and does not answer.
    pub async fn stop(
        &self,
        stop: &StopJobs,
        deadline: Duration,
    ) -> Result<JobsStopped, ClientError> {
        let asked = self.instances.each().map(|(chosen, is_ready)| async move {
            let is_needed = is_ready || !self.is_several();
            let deadline = match is_needed {
                true => deadline,
                false => deadline.min(LEFT_OUT),
            };
            let request = chosen.request(Method::POST, &["jobs", "stop"]);
            let answer = chosen.fetch(request.json(stop), Some(deadline)).await;
            (answer.inspect_err(|error| chosen.note(error)), is_needed)
        });
        let answers = join_all(asked).await;
        let mut stopped = Vec::new();
        let mut failed = None;
        for (answer, is_needed) in answers {
            match answer {
                Ok(answer) => stopped.push(answer),
                Err(error) if is_needed => return Err(error),
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) if stopped.is_empty() => Err(error),
            _ => Ok(together(stopped)),
        }
    }
}

/// What ended in all instances.
fn together(stopped: Vec<JobsStopped>) -> JobsStopped {
    let mut all = JobsStopped::default();
    for stopped in stopped {
        all.ended.extend(stopped.ended);
        for take in stopped.earlier {
            let known = all.earlier.iter_mut();
            match known.into_iter().find(|known| known.number == take.number) {
                Some(known) => known.attempts.extend(take.attempts),
                None => all.earlier.push(take),
            }
        }
    }
    all
}
