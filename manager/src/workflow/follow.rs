//! Following a job of the deployer to its end: progress is passed on, and a broken stream is begun again.

use std::collections::HashMap;
use std::time::Duration;

use common::api::deployer::{Event, Report, ResourceReport, ResourceState};
use common::api::error::{ErrorBody, ErrorCode};
use common::model::{AppliedObject, ObjectRef, ResourceName, TypeName};
use futures::StreamExt;
use tokio::time::Instant;

use super::retry::is_transient;
use super::step::Run;
use crate::deployer::Job;
use crate::domain::redaction::Redaction;

/// How a job ended.
pub struct Followed {
    /// Objects that events told of; what the report tells counts more.
    pub seen: Vec<AppliedObject>,
    pub ended: Result<Report, Box<ErrorBody>>,
    /// It was asked for more than once: what the tries before the last one did is not told by the end.
    pub again: bool,
}

impl Followed {
    /// Whether it was refused for what the caller lacks, which is before anything is touched.
    pub fn touched_nothing(&self) -> bool {
        let is_refused = |error: &ErrorBody| error.code == ErrorCode::PermissionsMissing;
        !self.again && self.ended.as_ref().is_err_and(|error| is_refused(error))
    }
}

/// What is left until the deadline; a deployer that is given nothing could not even report.
pub fn left_ms(deadline: Instant) -> u64 {
    let left = deadline
        .saturating_duration_since(Instant::now())
        .as_millis();
    u64::try_from(left).unwrap_or(u64::MAX).max(1_000)
}

/// The record, with what was seen in the place of what it replaces.
pub fn merged(recorded: Vec<AppliedObject>, seen: Vec<AppliedObject>) -> Vec<AppliedObject> {
    let replaced = |old: &AppliedObject| {
        seen.iter()
            .any(|new| new.object.is_same_object(&old.object))
    };
    let mut objects: Vec<_> = recorded.into_iter().filter(|old| !replaced(old)).collect();
    objects.extend(seen);
    objects
}

/// Runs the job, again where the deployer was away or broke off: it converges. Ends by the run's deadline.
///
/// What comes of it has nothing in it that callers are not told, but for the final properties.
pub async fn job(run: &Run<'_>, mut job: Job, total: usize, redaction: &Redaction) -> Followed {
    let mut follower = Follower {
        run,
        redaction,
        total,
        states: HashMap::new(),
        seen: HashMap::new(),
        moved: false,
        again: false,
    };
    follower.show();
    let persist = tokio::time::timeout_at(
        run.deadline + run.tools.retry.grace,
        follower.persist(&mut job),
    );
    let ended = tokio::select! {
        biased;
        // Nobody reads the deployer's answer any more, and it ends its work.
        _ = run.live.stopped() => Ok(Err(run.stop_error())),
        ended = persist => ended,
    };
    let ended = match ended {
        Ok(ended) => ended,
        Err(_) => Err(Box::new(ErrorBody::new(
            ErrorCode::Timeout,
            format!(
                "resourcifier did not report on {} within its time; what it did so far is recorded",
                run.deployment()
            ),
        ))),
    };
    run.live.waits_for(None);
    Followed {
        seen: follower.seen.into_values().collect(),
        ended: redacted(ended, redaction),
        again: follower.again,
    }
}

fn redacted(
    ended: Result<Report, Box<ErrorBody>>,
    redaction: &Redaction,
) -> Result<Report, Box<ErrorBody>> {
    let mut report = ended.map_err(|mut error| {
        redaction.error(&mut error);
        error
    })?;
    let errors = report.output_errors.iter_mut();
    errors.for_each(|error| redaction.error(error));
    let resources = report.resources.iter_mut();
    resources.for_each(|resource| redaction.report(resource));
    redaction.outputs(&mut report.outputs);
    Ok(report)
}

struct Follower<'a> {
    run: &'a Run<'a>,
    redaction: &'a Redaction,
    total: usize,
    states: HashMap<(ResourceName, TypeName), ResourceState>,
    seen: HashMap<ObjectRef, AppliedObject>,
    /// Whether the last try got anywhere: then the next failure is a new one.
    moved: bool,
    again: bool,
}

impl Follower<'_> {
    async fn persist(&mut self, job: &mut Job) -> Result<Report, Box<ErrorBody>> {
        let (mut tries, mut since) = (0, Instant::now());
        loop {
            retimed(job, self.run.deadline);
            self.moved = false;
            let error = match self.once(job).await {
                Err(error) if is_transient(&error) => error,
                ended => return ended,
            };
            if self.moved {
                (tries, since) = (0, Instant::now());
            }
            let Some(wait) = self.run.tools.retry.wait(&error, tries, since) else {
                return Err(error);
            };
            let deployment = self.run.deployment();
            tracing::warn!(%deployment, error = %error.message, "trying again to change the cluster for {deployment}: {}", error.message);
            tries += 1;
            self.again = true;
            expect_nothing(job);
            self.wait(error, wait).await;
        }
    }

    /// Who watches is told what for.
    async fn wait(&self, mut error: Box<ErrorBody>, wait: Duration) {
        self.redaction.error(&mut error);
        self.run.live.waits_for(Some(&error.message));
        tokio::time::sleep(wait).await;
    }

    async fn once(&mut self, job: &Job) -> Result<Report, Box<ErrorBody>> {
        if self.again {
            self.run.authorized().await?;
        }
        let mut events = self.run.tools.deployer.start(job).await?;
        while let Some(event) = events.next().await {
            match event? {
                Event::Resource(report) => self.note(report),
                Event::Heartbeat => {}
                Event::Report(report) => {
                    report
                        .resources
                        .iter()
                        .for_each(|resource| self.count(resource));
                    // What was asked for and turned out not to be there is no part of the whole.
                    self.total = self.states.len();
                    self.show();
                    return Ok(report);
                }
                Event::Error { error } => return Err(Box::new(error)),
                Event::Diff(_) => break,
            }
        }
        Err(Box::new(ErrorBody::new(
            ErrorCode::DeployerUnavailable,
            "resourcifier ended its answer without a report",
        )))
    }

    fn note(&mut self, mut report: ResourceReport) {
        self.moved = true;
        self.run.live.waits_for(None);
        self.redaction.report(&mut report);
        self.count(&report);
        self.show();
        self.run.live.resource(report);
    }

    fn count(&mut self, report: &ResourceReport) {
        let key = (report.name.clone(), report.type_name.clone());
        self.states.insert(key, report.state);
        match (&report.object, &report.uid) {
            (Some(object), Some(_)) if report.state == ResourceState::Gone => {
                self.seen.remove(object);
            }
            (Some(object), Some(uid)) => {
                let applied = AppliedObject {
                    resource: report.name.clone(),
                    object: object.clone(),
                    uid: uid.clone(),
                };
                self.seen.insert(object.clone(), applied);
            }
            _ => {}
        }
    }

    fn show(&self) {
        let reached =
            |state: &&ResourceState| matches!(state, ResourceState::Ready | ResourceState::Gone);
        let done = self.states.values().filter(reached).count();
        self.run
            .live
            .progress(done, self.total.max(self.states.len()));
    }
}

/// What was tried may have changed what was expected.
fn expect_nothing(job: &mut Job) {
    match job {
        Job::Create(request) | Job::Update(request) => request.expected.clear(),
        Job::Delete(_) => {}
    }
}

/// Each try is given the time that is left then.
fn retimed(job: &mut Job, deadline: Instant) {
    let timeout_ms = match job {
        Job::Create(request) | Job::Update(request) => &mut request.timeout_ms,
        Job::Delete(request) => &mut request.timeout_ms,
    };
    *timeout_ms = left_ms(deadline);
}
