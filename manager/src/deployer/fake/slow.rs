//! A job whose writes happen one by one, when the test lets them: one is on its way while a stop arrives, and a deployer
//! that cannot be reached goes on for as long as real ones do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use common::api::deployer::{Action, Event, Report, ResourceReport, ResourceState};
use common::api::job::{EndedTake, Fence, JobsStopped, StopJobs};
use common::model::{AppliedObject, Resource};
use futures::StreamExt;
use tokio::sync::{Notify, Semaphore, mpsc, watch};
use tokio::time::{Duration, Instant};

use super::{Events, Job, away, object_of};
use crate::dependency::CallError;

#[derive(Debug)]
pub struct Slow {
    /// A permit answers the write that is on its way.
    pub answers: Semaphore,
    is_away: AtomicBool,
    cut: Notify,
    state: Mutex<State>,
    progress: watch::Sender<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    /// Writes that were sent.
    sent: usize,
    /// Attempts that have not ended.
    running: usize,
}

#[derive(Debug, Default)]
struct State {
    /// Of each attempt, in their order.
    begun: Vec<Fence>,
    /// Nothing is written after this, nor before there is one.
    until: Option<Instant>,
    is_halted: bool,
    written: Vec<String>,
}

impl Slow {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            answers: Semaphore::new(0),
            is_away: AtomicBool::new(false),
            cut: Notify::new(),
            state: Mutex::default(),
            progress: watch::Sender::default(),
        })
    }

    /// From now on nobody reaches it, and it does not notice that nobody reads its answers.
    pub fn go_away(&self) {
        self.is_away.store(true, Ordering::SeqCst);
        self.cut.notify_one();
    }

    /// The answer to the last attempt breaks off. The attempt itself goes on.
    pub fn break_off(&self) {
        self.cut.notify_one();
    }

    pub fn written(&self) -> Vec<String> {
        self.state().written.clone()
    }

    /// Until when it may write, for all that it knows.
    pub fn until(&self) -> Option<Instant> {
        self.state().until
    }

    /// Returns when so many writes were sent.
    pub async fn sent(&self, count: usize) {
        let mut progress = self.progress.subscribe();
        progress.wait_for(|now| now.sent >= count).await.unwrap();
    }

    /// Returns when no attempt runs any more.
    pub async fn ended(&self) {
        let mut progress = self.progress.subscribe();
        progress.wait_for(|now| now.running == 0).await.unwrap();
    }

    pub fn renewed(&self, fence: &Fence) {
        if !self.is_away.load(Ordering::SeqCst) {
            self.state().until = Some(Instant::now() + Duration::from_millis(fence.lease_ms));
        }
    }

    pub async fn stop(&self, stop: &StopJobs) -> Result<JobsStopped, CallError> {
        if self.is_away.load(Ordering::SeqCst) {
            return Err(away());
        }
        self.state().is_halted = true;
        self.ended().await;
        let mut stopped = JobsStopped::default();
        for begun in self.state().begun.chunk_by(|a, b| a.number == b.number) {
            let number = begun[0].number;
            let attempts = begun.iter().map(|fence| fence.attempt).collect();
            match number == stop.fence.number {
                true => stopped.ended = attempts,
                false => stopped.earlier.push(EndedTake { number, attempts }),
            }
        }
        Ok(stopped)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a job of a test reports a few resources"
    )]
    pub fn begin(self: Arc<Self>, job: &Job) -> Events {
        self.state().begun.extend(job.fence().cloned());
        self.progress.send_modify(|now| now.running += 1);
        let (sender, receiver) = mpsc::unbounded_channel();
        sender.send(Event::Beat { beat: 0 }).unwrap();
        let resources = match job {
            Job::Create(request) | Job::Update(request) => request.resources.clone(),
            Job::Delete(_) => Vec::new(),
        };
        tokio::spawn(self.clone().work(resources, sender));
        let events = futures::stream::unfold(receiver, |mut receiver| async move {
            let event = receiver.recv().await?;
            Some((Ok(event), receiver))
        });
        let cut = async move { self.cut.notified().await };
        events.take_until(Box::pin(cut)).boxed()
    }

    async fn work(self: Arc<Self>, resources: Vec<Resource>, events: mpsc::UnboundedSender<Event>) {
        let mut report = Report::default();
        for resource in &resources {
            while self.until().is_none() && !self.state().is_halted {
                tokio::task::yield_now().await;
            }
            if !self.may_write() {
                break;
            }
            self.progress.send_modify(|now| now.sent += 1);
            let answered = self.answers.acquire();
            let until = self.until().unwrap();
            // The API server gives it up when the time is over.
            let Ok(permit) = tokio::time::timeout_at(until, answered).await else {
                break;
            };
            permit.unwrap().forget();
            let object = object_of(resource);
            self.state().written.push(object.object.name.clone());
            let applied = applied(resource, &object);
            // Nobody may be reading.
            let _ = events.send(Event::Resource(applied.clone()));
            report.resources.push(applied);
            report.objects.push(object);
        }
        report.stopped = report.objects.len() < resources.len();
        let _ = events.send(Event::Report(report));
        self.progress.send_modify(|now| now.running -= 1);
    }

    fn may_write(&self) -> bool {
        let state = self.state();
        !state.is_halted && state.until.is_some_and(|until| Instant::now() < until)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

fn applied(resource: &Resource, object: &AppliedObject) -> ResourceReport {
    ResourceReport {
        name: resource.name.clone(),
        type_name: resource.type_name.clone(),
        object: Some(object.object.clone()),
        uid: Some(object.uid.clone()),
        action: Some(Action::Created),
        state: ResourceState::Ready,
        reason: None,
        error: None,
        final_properties: None,
        hook: None,
    }
}
