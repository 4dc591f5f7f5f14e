//! Follows a job of the deployer to its end: reports progress, and reconnects when the stream breaks.
//!
//! The end is always a known one. resourcifier's README lists the cases ("The end of a job").

use std::collections::{HashMap, HashSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use common::api::deployer::{Event, Report, ResourceReport, ResourceState};
use common::api::error::{ErrorBody, ErrorCode};
use common::api::job::{EndedTake, Fence, JobsStopped, Renewal, StopJobs};
use common::model::{AppliedObject, ObjectRef, Output, ResourceName, TypeName};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::time::Instant;

use super::tries::{Attempt, Tries};
use crate::dependency::CallError;
use crate::deployer::{Events, Job};
use crate::domain::redaction::Redaction;
use crate::store::StoreError;
use crate::workflow::expansion::redacting;
use crate::workflow::retry::is_transient;
use crate::workflow::step::{Failure, Run};

/// What an operation waits for while its job may still write.
const CONFIRMATION: &str = "resourcifier to confirm that nothing more of the operation is written";
/// The answer to a stop may arrive a little later than the last write.
const ASK: Duration = Duration::from_secs(2);
/// The pause between two attempts to send a stop to the deployer.
const AGAIN: Duration = Duration::from_millis(250);

/// How a job ended.
pub struct Followed {
    /// Objects that events reported. The final report overrides them.
    pub seen: Vec<AppliedObject>,
    pub ended: Result<Report, Box<ErrorBody>>,
    /// The outputs of the report as they are: those of `ended` are redacted.
    pub outputs: Vec<Output>,
    /// What the job had done when it was stopped. `ended` is then the error of the stop.
    pub stopped: Option<Report>,
    /// It was sent more than once. The end does not report what earlier attempts did.
    pub again: bool,
}

impl Followed {
    /// Whether it was refused for missing permissions, before anything was changed.
    pub fn touched_nothing(&self) -> bool {
        let is_refused = |error: &ErrorBody| error.code == ErrorCode::PermissionsMissing;
        !self.again && self.ended.as_ref().is_err_and(|error| is_refused(error))
    }

    /// The existing objects after a job without a complete report: those it reported when it was stopped, or else the
    /// record with what events reported since.
    pub fn objects(&self, recorded: Vec<AppliedObject>) -> Vec<AppliedObject> {
        match &self.stopped {
            Some(report) => report.objects.clone(),
            None => merged(recorded, self.seen.clone()),
        }
    }
}

/// The time until the deadline, but never zero: a deployer without any time could not even report.
pub fn left_ms(deadline: Instant) -> u64 {
    let left = deadline
        .saturating_duration_since(Instant::now())
        .as_millis();
    u64::try_from(left).unwrap_or(u64::MAX).max(1_000)
}

/// The record, with the reported objects in place of those that they replace.
fn merged(recorded: Vec<AppliedObject>, seen: Vec<AppliedObject>) -> Vec<AppliedObject> {
    let new: HashSet<_> = seen.iter().map(|new| new.object.identity()).collect();
    let is_old = |old: &AppliedObject| !new.contains(&old.object.identity());
    let mut objects: Vec<_> = recorded.into_iter().filter(is_old).collect();
    objects.extend(seen);
    objects
}

/// Runs the job, and repeats it if the deployer was unavailable or broke off: jobs converge. It ends by the run's
/// deadline, or soon after the operation is stopped.
///
/// When this returns, the job can write nothing more to the cluster: it has reported, the deployer has confirmed its
/// end, or the time is over for which it may write without a sign of life.
///
/// The result holds no secrets, except in the final properties.
///
/// # Errors
/// The store could not record a further attempt. The step is run again, as after a restart.
pub async fn job(
    run: &Run<'_>,
    mut job: Job,
    total: usize,
    redaction: &Redaction,
) -> Result<Followed, StoreError> {
    let mut follower = Follower {
        run,
        redaction,
        total,
        states: HashMap::new(),
        seen: HashMap::new(),
        moved: false,
        again: false,
        tries: Tries::new(run),
        fault: None,
    };
    follower.show();
    let persist = tokio::time::timeout_at(
        run.deadline + run.dependencies.retry.grace,
        follower.persist(&mut job),
    );
    let ended = persist.await.unwrap_or_else(|_| Err(unreported(run)));
    if let Some(fault) = follower.fault {
        return Err(fault);
    }
    // A complete report covers every object that earlier attempts may have touched. Its process has ended those that it
    // knew before it began. Other processes may still write.
    let is_whole = ended.as_ref().is_ok_and(|report| !report.stopped);
    if !is_whole || follower.tries.end().is_some() && run.deployer().is_several().await {
        settle(run, &mut follower.tries, job.fence()).await;
    }
    run.watch.waits_for(None);
    let outputs = match &ended {
        Ok(report) => report.outputs.clone(),
        Err(_) => Vec::new(),
    };
    let ended = redacting::redacted(redaction, ended, hide).await;
    let (ended, stopped) = match ended {
        Ok(report) if report.stopped => (Err(run.stop_error()), Some(report)),
        ended => (ended, None),
    };
    Ok(Followed {
        seen: follower.seen.into_values().collect(),
        ended,
        outputs,
        stopped,
        again: follower.again,
    })
}

fn unreported(run: &Run<'_>) -> Box<ErrorBody> {
    let message = format!(
        "resourcifier did not report on {} within its time; what it did so far is recorded",
        run.deployment()
    );
    Box::new(ErrorBody::new(ErrorCode::Timeout, message))
}

fn hide(redaction: &Redaction, ended: &mut Result<Report, Box<ErrorBody>>) {
    let report = match ended {
        Ok(report) => report,
        Err(error) => return redaction.error(error),
    };
    let errors = report.output_errors.iter_mut();
    errors.for_each(|error| redaction.error(error));
    let resources = report.resources.iter_mut();
    resources.for_each(|resource| redaction.report(resource));
    redaction.outputs(&mut report.outputs);
}

struct Follower<'a> {
    run: &'a Run<'a>,
    redaction: &'a Redaction,
    total: usize,
    states: HashMap<(ResourceName, TypeName), ResourceState>,
    seen: HashMap<ObjectRef, AppliedObject>,
    /// Whether the last attempt made progress. Then the next failure starts a new series.
    moved: bool,
    again: bool,
    tries: Tries,
    /// Why the store could not record the next attempt.
    fault: Option<StoreError>,
}

impl Follower<'_> {
    async fn persist(&mut self, job: &mut Job) -> Result<Report, Box<ErrorBody>> {
        let (mut tries, mut since) = (0, Instant::now());
        loop {
            if self.is_stopping() {
                return Err(self.run.stop_error());
            }
            let fence = self.fence().await?;
            job.bound_by(fence.clone(), left_ms(self.run.deadline));
            self.moved = false;
            let error = match self.once(job, &fence).await {
                Err(error) if is_transient(&error) => error,
                ended => return ended,
            };
            if self.moved {
                (tries, since) = (0, Instant::now());
            }
            let Some(wait) = self.run.dependencies.retry.wait(&error, tries, since) else {
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

    fn is_stopping(&self) -> bool {
        self.run.watch.stop_wish().is_some()
    }

    async fn fence(&mut self) -> Result<Fence, Box<ErrorBody>> {
        let fence = self.run.fence().await;
        fence.map_err(|error| {
            let failure = Failure::internal(self.run.id(), &error);
            self.fault = Some(error);
            failure.error
        })
    }

    /// Waits before the next attempt, and reports the reason to watchers. A stop ends the wait.
    async fn wait(&self, mut error: Box<ErrorBody>, wait: Duration) {
        self.redaction.error(&mut error);
        self.run.watch.waits_for(Some(&error.message));
        tokio::select! {
            _ = self.run.watch.stopped() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }

    async fn once(&mut self, job: &Job, fence: &Fence) -> Result<Report, Box<ErrorBody>> {
        if self.again {
            self.run.authorized().await?;
        }
        let (watch, deployer) = (self.run.watch, self.run.deployer());
        self.tries.begin((fence.number, fence.attempt));
        let mut events = tokio::select! {
            biased;
            // A job without a sign of life has written nothing, and never will.
            _ = watch.stopped() => return Err(self.run.stop_error()),
            events = deployer.start(job) => events?,
        };
        let mut renewals = FuturesUnordered::new();
        let report = loop {
            tokio::select! {
                biased;
                _ = watch.stopped() => break self.stop(fence, &mut events).await,
                Some(()) = renewals.next() => {}
                event = events.next() => match event {
                    Some(Ok(Event::Beat { beat })) => {
                        self.tries.renewed(self.run.dependencies.retry.lease);
                        renewals.push(renew(self.run, fence, beat));
                    }
                    Some(event) => if let Some(report) = self.event(event)? {
                        break Ok(report);
                    },
                    None => break Err(broken_off()),
                },
            }
        };
        if report.is_ok() {
            self.tries.ended(&[(fence.number, fence.attempt)]);
        }
        report
    }

    /// Handles an event. Returns the report, which is the last event.
    fn event(&mut self, event: Result<Event, CallError>) -> Result<Option<Report>, Box<ErrorBody>> {
        match event? {
            Event::Resource(report) => self.note(report),
            Event::Heartbeat | Event::Beat { .. } => {}
            Event::Report(report) => {
                report
                    .resources
                    .iter()
                    .for_each(|resource| self.count(resource));
                // Objects that were looked for and do not exist do not count towards the total.
                self.total = self.states.len();
                self.show();
                return Ok(Some(report));
            }
            Event::Error { error } => {
                self.tries.last_ended();
                return Err(Box::new(error));
            }
            Event::Diff(_) => return Err(broken_off()),
        }
        Ok(None)
    }

    /// Ends the job, and reads what it did until then. It gets no further sign of life.
    async fn stop(&mut self, fence: &Fence, events: &mut Events) -> Result<Report, Box<ErrorBody>> {
        show_stopping(self.run);
        let run = self.run;
        let end = self.tries.end();
        let mut confirmed = pin!(async move {
            let ended = confirmed(run, fence, end).await;
            // The report may still arrive.
            (ended, Instant::now() + run.dependencies.retry.grace)
        });
        let mut patience = None;
        loop {
            let silence = async {
                match patience {
                    Some(end) => tokio::time::sleep_until(end).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                event = events.next() => match event {
                    Some(event) => if let Some(report) = self.event(event)? {
                        return Ok(report);
                    },
                    None => return Err(run.stop_error()),
                },
                (ended, end) = &mut confirmed, if patience.is_none() => {
                    self.tries.ended(&ended);
                    patience = Some(end);
                }
                () = silence => return Err(run.stop_error()),
            }
        }
    }

    fn note(&mut self, mut report: ResourceReport) {
        self.moved = true;
        self.run.watch.waits_for(None);
        self.redaction.report(&mut report);
        self.count(&report);
        self.show();
        self.run.watch.resource(report);
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
            .watch
            .progress(done, self.total.max(self.states.len()));
    }
}

/// Ends the jobs that an earlier process of the manager began in this step. When this returns, they can write nothing more
/// to the cluster. For a step that is not run again.
pub async fn end_earlier(run: &Run<'_>) {
    settle(run, &mut Tries::new(run), None).await;
    run.watch.waits_for(None);
}

/// Waits until the attempts that broke off can write nothing more to the cluster. `fence` is that of the last attempt of
/// this process, if it has begun one.
async fn settle(run: &Run<'_>, tries: &mut Tries, fence: Option<&Fence>) {
    while let Some(end) = tries.end().filter(|end| *end > Instant::now()) {
        show_stopping(run);
        let fence = match fence {
            Some(fence) => Ok(fence.clone()),
            None => run.fence().await,
        };
        match fence {
            Ok(fence) => tries.ended(&confirmed(run, &fence, Some(end)).await),
            Err(error) => {
                let id = run.id();
                tracing::error!(operation.id = %id, error = common::server::answer::error::chain(&error), "no job of operation {id} can be ended before its lease");
            }
        }
        if tries.end().is_some() {
            tokio::time::sleep_until(end).await;
        }
    }
}

fn show_stopping(run: &Run<'_>) {
    run.watch.update(|operation| {
        if run.watch.stop_wish().is_some() {
            operation.progress.step = "stopping".to_owned();
        }
        operation.progress.waiting_for = Some(CONFIRMATION.into());
    });
}

/// The attempt may have changed what was expected.
fn expect_nothing(job: &mut Job) {
    match job {
        Job::Create(request) | Job::Update(request) => Arc::make_mut(request).expected.clear(),
        Job::Delete(_) => {}
    }
}

/// Sends a sign of life. If it does not arrive, the next beat asks again.
///
/// Only a manager that has the store after the beat came may do so. One that was stopped, and has lost the store, would
/// keep a job alive that a deployer without memory of later ones has begun. The beat is older than the take of the
/// next manager then, so the job ends when that one expects it.
async fn renew(run: &Run<'_>, fence: &Fence, beat: u64) {
    if let Err(error) = run.store().owned().await {
        let deployment = run.deployment();
        tracing::warn!(%deployment, %error, "the job of {deployment} gets no sign of life: {error}");
        return;
    }
    let renewal = Renewal {
        deployment: run.deployment().clone(),
        fence: fence.clone(),
        beat,
    };
    let (deployer, lease) = (run.deployer(), run.dependencies.retry.lease);
    if let Err(error) = deployer.renew(&renewal, lease).await {
        let (deployment, error) = (run.deployment(), Box::<ErrorBody>::from(error));
        tracing::warn!(%deployment, error = %error.message, "resourcifier did not take the sign of life for the job of {deployment}: {}", error.message);
    }
}

/// Asks the deployer to end the jobs up to a fence, until it does or they may not write any more. Returns the attempts
/// that are known to have ended.
async fn confirmed(run: &Run<'_>, fence: &Fence, end: Option<Instant>) -> Vec<Attempt> {
    let stop = StopJobs {
        deployment: run.deployment().clone(),
        fence: fence.clone(),
    };
    let deployer = run.deployer();
    // The deployer is asked once even if nothing was written: nobody needs what the job still reads.
    let end = end.unwrap_or_else(Instant::now) + ASK;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let asked = deployer.stop(&stop, left);
        match tokio::time::timeout(left, asked).await {
            Ok(Ok(stopped)) => return attempts(fence.number, stopped),
            Ok(Err(_)) if Instant::now() + AGAIN < end => tokio::time::sleep(AGAIN).await,
            Ok(Err(_)) | Err(_) => return Vec::new(),
        }
    }
}

fn attempts(number: u64, stopped: JobsStopped) -> Vec<Attempt> {
    let this = EndedTake {
        number,
        attempts: stopped.ended,
    };
    let takes = stopped.earlier.into_iter().chain([this]);
    let each = |take: EndedTake| {
        let attempts = take.attempts.into_iter();
        attempts.map(move |attempt| (take.number, attempt))
    };
    takes.flat_map(each).collect()
}

fn broken_off() -> Box<ErrorBody> {
    Box::new(ErrorBody::new(
        ErrorCode::DeployerUnavailable,
        "resourcifier ended its answer without a report",
    ))
}
