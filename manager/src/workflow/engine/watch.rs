//! Running operations: their progress and their events, for callers that watch them.
//!
//! All of it is in memory. The journal is the record. The last [`REMEMBERED`] operations that have ended can still be
//! watched from the start.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use common::api::deployer::ResourceReport;
use common::model::{Deployment, DeploymentName, Operation, OperationId, OperationStatus};
use tokio::sync::watch;

use crate::store::operations::StopWish;

/// The number of ended operations whose events are kept.
const REMEMBERED: usize = 32;
/// The number of events that are kept of one operation. Older ones are dropped.
const EVENTS: usize = 16_384;

#[derive(Debug, Clone)]
pub enum WatchEvent {
    Operation(Arc<Operation>),
    Resource(Arc<ResourceReport>),
}

/// How an operation ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub operation: Operation,
    /// The deployment as the operation left it, or the last state of a removed one.
    pub deployment: Option<Deployment>,
}

/// An operation that is running or has ended recently.
#[derive(Debug)]
pub struct OperationWatch {
    log: Mutex<Log>,
    /// The number of changes so far.
    changed: watch::Sender<u64>,
    stop: watch::Sender<Option<StopWish>>,
    /// The number of jobs that it has sent to the deployer.
    attempts: AtomicU32,
}

#[derive(Debug)]
struct Log {
    operation: Arc<Operation>,
    events: VecDeque<WatchEvent>,
    /// The number of the first event that is kept.
    first: u64,
    outcome: Option<Arc<Outcome>>,
    /// Why the operation cannot continue at the moment. Waiting for it may take long.
    stuck: Option<String>,
}

impl OperationWatch {
    fn new(operation: Operation) -> Self {
        let operation = Arc::new(operation);
        let events = VecDeque::from([WatchEvent::Operation(operation.clone())]);
        let log = Log {
            operation,
            events,
            first: 0,
            outcome: None,
            stuck: None,
        };
        Self {
            log: Mutex::new(log),
            changed: watch::Sender::new(0),
            stop: watch::Sender::new(None),
            attempts: AtomicU32::new(0),
        }
    }

    /// An operation that ended in an earlier process.
    pub fn past(outcome: Outcome) -> Self {
        let watch = Self::new(outcome.operation.clone());
        watch.end(outcome);
        watch
    }

    /// The number of its next job for the deployer.
    pub fn next_attempt(&self) -> u32 {
        self.attempts.fetch_add(1, Ordering::Relaxed)
    }

    /// How many jobs it has begun.
    pub fn attempts(&self) -> u32 {
        self.attempts.load(Ordering::Relaxed)
    }

    /// Requests a stop. The first request counts.
    pub fn stop(&self, wish: StopWish) {
        self.stop.send_if_modified(|first| {
            let is_first = first.is_none();
            first.get_or_insert(wish);
            is_first
        });
    }

    pub fn stop_wish(&self) -> Option<StopWish> {
        self.stop.borrow().clone()
    }

    /// Returns when a stop is requested.
    pub async fn stopped(&self) -> StopWish {
        let mut wishes = self.stop.subscribe();
        loop {
            if let Some(wish) = wishes.borrow_and_update().clone() {
                return wish;
            }
            if wishes.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Sets or clears the reason why it cannot continue.
    pub fn stick(&self, reason: Option<String>) {
        self.waits_for(reason.as_deref());
        self.log().stuck = reason;
        self.changed.send_modify(|changes| *changes += 1);
    }

    pub fn stuck(&self) -> Option<String> {
        self.log().stuck.clone()
    }

    pub fn operation(&self) -> Arc<Operation> {
        self.log().operation.clone()
    }

    /// Changes the operation and wakes the watchers.
    pub fn update(&self, change: impl FnOnce(&mut Operation)) {
        let mut log = self.log();
        let mut operation = (*log.operation).clone();
        change(&mut operation);
        log.operation = Arc::new(operation);
        let event = WatchEvent::Operation(log.operation.clone());
        self.push(log, event);
    }

    pub fn progress(&self, done: usize, total: usize) {
        let clipped = |n| u32::try_from(n).unwrap_or(u32::MAX);
        let (done, total) = (clipped(done), clipped(total));
        let progress = self.operation().progress.clone();
        if (progress.done, progress.total) != (done, total) {
            self.update(|operation| {
                (operation.progress.done, operation.progress.total) = (done, total)
            });
        }
    }

    /// Sets or clears what the operation waits for.
    pub fn waits_for(&self, what: Option<&str>) {
        let what = what.map(Box::from);
        if self.operation().progress.waiting_for != what {
            self.update(|operation| operation.progress.waiting_for = what);
        }
    }

    pub fn resource(&self, mut report: ResourceReport) {
        // They are for watching only, and may be large.
        report.final_properties = None;
        self.push(self.log(), WatchEvent::Resource(Arc::new(report)));
    }

    fn end(&self, outcome: Outcome) {
        let mut log = self.log();
        log.operation = Arc::new(outcome.operation.clone());
        log.outcome = Some(Arc::new(outcome));
        let event = WatchEvent::Operation(log.operation.clone());
        self.push(log, event);
    }

    fn push(&self, mut log: MutexGuard<'_, Log>, event: WatchEvent) {
        if log.events.len() == EVENTS {
            log.events.pop_front();
            log.first += 1;
        }
        log.events.push_back(event);
        drop(log);
        self.changed.send_modify(|changes| *changes += 1);
    }

    /// The event with this number, or the first kept one if it was dropped, with its number.
    pub fn event(&self, number: u64) -> Option<(u64, WatchEvent)> {
        let log = self.log();
        let number = number.max(log.first);
        let index = usize::try_from(number - log.first).ok()?;
        log.events.get(index).map(|event| (number, event.clone()))
    }

    pub fn ended(&self) -> Option<Arc<Outcome>> {
        self.log().outcome.clone()
    }

    /// A receiver that is notified of every later change.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        // Nothing panics while it holds the lock.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All operations that are running or have ended recently.
#[derive(Debug, Default)]
pub struct OperationRegistry {
    operations: Mutex<Operations>,
    /// The number of operations that began in this process.
    began: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Operations {
    by_id: HashMap<OperationId, Arc<OperationWatch>>,
    ended: VecDeque<OperationId>,
}

impl OperationRegistry {
    pub fn begin(&self, operation: Operation) -> Arc<OperationWatch> {
        let id = operation.id.clone();
        let watch = Arc::new(OperationWatch::new(operation));
        self.operations().by_id.insert(id, watch.clone());
        self.began.send_modify(|began| *began += 1);
        watch
    }

    /// A receiver that is notified of every later operation.
    pub fn began(&self) -> watch::Receiver<u64> {
        self.began.subscribe()
    }

    /// The operations of a deployment that can be watched, the first one first.
    pub fn of(&self, deployment: &DeploymentName) -> Vec<OperationId> {
        let all = self.operations();
        let found = all.by_id.values().map(|watch| watch.operation());
        let mut found: Vec<_> = found
            .filter(|operation| operation.deployment == *deployment)
            .map(|operation| operation.id.clone())
            .collect();
        found.sort();
        found
    }

    pub fn end(&self, watch: &OperationWatch, outcome: Outcome) {
        debug_assert_eq!(outcome.operation.status, OperationStatus::Done);
        let id = outcome.operation.id.clone();
        watch.end(outcome);
        let mut operations = self.operations();
        operations.ended.push_back(id);
        if operations.ended.len() > REMEMBERED
            && let Some(oldest) = operations.ended.pop_front()
        {
            operations.by_id.remove(&oldest);
        }
    }

    pub fn get(&self, id: &OperationId) -> Option<Arc<OperationWatch>> {
        self.operations().by_id.get(id).cloned()
    }

    fn operations(&self) -> MutexGuard<'_, Operations> {
        self.operations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
