//! Accepts operations and runs them.
//!
//! Each operation runs in a task of its own, so it continues when its caller disconnects. Suspending drops the tasks at
//! any point: their effects are journaled, or repeated at the next start.

pub mod metrics;
pub(super) mod plans;
pub(super) mod recovery;
pub(super) mod runner;
mod turns;
pub(super) mod undo;
pub mod watch;

use std::num::NonZeroUsize;
use std::sync::Arc;

use common::model::{DeploymentName, InputConfig, OperationId};
use common::request_id;
use common::telemetry::traces::{self, SPANS};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use self::metrics::Unfinished;
use self::runner::Runner;
use self::turns::{Turn, Turns};
use self::watch::{OperationRegistry, OperationWatch, Outcome};
use super::step::Dependencies;
use crate::domain::deployment;
use crate::store::deployments::{self, Found};
use crate::store::kv::KvError;
use crate::store::operations::fences;
use crate::store::operations::requests::{self, Request};
use crate::store::operations::{self, OperationRecord, StopWish};
use crate::store::{Changes, Store, StoreError};

/// Limits on the operations that are not done.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Capacity {
    /// The maximum number of operations that run at once. The others are PENDING, in the order of acceptance.
    #[arg(long = "operations-at-once", env = "DM_OPERATIONS_AT_ONCE", value_name = "NUMBER", default_value_t = Self::AT_ONCE)]
    pub at_once: NonZeroUsize,
    /// The maximum number of waiting operations. Further writes get 503 with Retry-After.
    #[arg(long = "operations-waiting", env = "DM_OPERATIONS_WAITING", value_name = "NUMBER", default_value_t = Self::WAITING)]
    pub waiting: usize,
}

impl Capacity {
    /// Operations mostly wait for the cluster.
    const AT_ONCE: NonZeroUsize = NonZeroUsize::new(64).unwrap();
    /// Each waiting operation takes a few kilobytes of memory, and locks its deployment.
    const WAITING: usize = 20_000;
}

impl Default for Capacity {
    fn default() -> Self {
        Self {
            at_once: Self::AT_ONCE,
            waiting: Self::WAITING,
        }
    }
}

#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    dependencies: Dependencies,
    operations: OperationRegistry,
    runtime: Handle,
    capacity: Capacity,
    places: Semaphore,
    turns: Turns,
    suspended: CancellationToken,
    tasks: TaskTracker,
}

/// An accepted operation, to wait for or to watch.
#[derive(Clone)]
pub struct OperationHandle {
    watch: Arc<OperationWatch>,
    suspended: CancellationToken,
    is_repeated: bool,
}

/// Why a wait ended without an outcome. The operation continues later.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Suspended {
    #[error("the manager is stopping; the operation goes on when it is started again")]
    Stopping,
    #[error("the operation is accepted, and goes on by itself once there is room for it: {0}")]
    Stuck(String),
}

impl OperationHandle {
    /// For an operation that ended before this process knew it.
    pub fn past(outcome: Outcome) -> Self {
        Self {
            watch: Arc::new(OperationWatch::past(outcome)),
            suspended: CancellationToken::new(),
            is_repeated: false,
        }
    }

    /// For a repeated request with the same idempotency key.
    pub fn repeated(self) -> Self {
        Self {
            is_repeated: true,
            ..self
        }
    }

    /// Whether the operation was started by an earlier request with the same idempotency key.
    pub fn is_repeated(&self) -> bool {
        self.is_repeated
    }

    pub fn watch(&self) -> &Arc<OperationWatch> {
        &self.watch
    }

    /// Waits for the end.
    pub async fn outcome(&self) -> Result<Arc<Outcome>, Suspended> {
        let mut changes = self.watch.changes();
        loop {
            if let Some(outcome) = self.watch.ended() {
                return Ok(outcome);
            }
            if let Some(reason) = self.watch.stuck() {
                return Err(Suspended::Stuck(reason));
            }
            tokio::select! {
                changed = changes.changed() => changed.map_err(|_| Suspended::Stopping)?,
                () = self.suspended.cancelled() => return Err(Suspended::Stopping),
            }
        }
    }

    /// Returns when the manager stops.
    pub async fn suspended(&self) {
        self.suspended.cancelled().await;
    }
}

impl Engine {
    /// Operations run on the runtime of the caller.
    pub fn new(dependencies: Dependencies, capacity: Capacity) -> Self {
        let shared = Shared {
            dependencies,
            operations: OperationRegistry::default(),
            runtime: Handle::current(),
            capacity,
            places: Semaphore::new(capacity.at_once.get()),
            turns: Turns::of_this_machine(),
            suspended: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Resumes all unfinished operations. Returns their number.
    pub async fn recover(&self) -> Result<usize, StoreError> {
        let records = recovery::unfinished(&self.shared.dependencies.store).await?;
        let count = records.len();
        for record in records {
            self.start(record);
        }
        Ok(count)
    }

    /// Whether another operation may be accepted.
    pub fn has_room(&self) -> bool {
        let Capacity { at_once, waiting } = self.shared.capacity;
        self.shared.tasks.len() < waiting.saturating_add(at_once.get())
    }

    /// Accepts an operation. When this returns, it is durable and holds the deployment. A conflict means that the
    /// deployment has changed since it was read, or is held by another operation.
    ///
    /// `changes` are committed together with the acceptance. A task of its own commits and starts the operation, so a disconnected caller cannot separate the two: an
    /// operation that is committed but not started would hold its deployment until the next start of the manager.
    pub async fn accept(
        &self,
        mut record: OperationRecord,
        input: &InputConfig,
        found: Option<&Found>,
        request: Option<&Request>,
        mut changes: Changes,
    ) -> Result<OperationHandle, StoreError> {
        let store = &self.shared.dependencies.store;
        let _goes_first = self.shared.turns.accept();
        let take = fences::take(store, &mut changes).await?;
        record.attempts = Some(vec![take.next(0)]);
        record.take = Some(take);
        acceptance(store, &mut changes, &record, input, found, request).await?;
        changes.hurry();
        let engine = self.clone();
        let begin = async move {
            engine.shared.dependencies.store.commit(changes).await?;
            Ok(engine.start(record))
        };
        let begun = self.shared.runtime.spawn(begin.in_current_span()).await;
        begun.unwrap_or_else(|error| Err(StoreError::Broken(error.to_string())))
    }

    /// A receiver that is notified when an operation begins.
    pub fn began(&self) -> tokio::sync::watch::Receiver<u64> {
        self.shared.operations.began()
    }

    /// The operations of a deployment that are running or have ended recently, the first one first.
    pub fn operations_of(&self, deployment: &DeploymentName) -> Vec<OperationId> {
        self.shared.operations.of(deployment)
    }

    /// An operation that is running or has ended recently.
    pub fn handle(&self, id: &OperationId) -> Option<OperationHandle> {
        let watch = self.shared.operations.get(id)?;
        Some(OperationHandle {
            watch,
            suspended: self.shared.suspended.clone(),
            is_repeated: false,
        })
    }

    /// Stops an operation for good. The request is durable when this returns. `None`: it has ended, or never existed.
    pub async fn stop(
        &self,
        id: &OperationId,
        wish: StopWish,
    ) -> Result<Option<OperationHandle>, StoreError> {
        if !operations::wish_stop(&self.shared.dependencies.store, id, &wish).await? {
            return Ok(None);
        }
        let handle = self.handle(id);
        if let Some(handle) = &handle {
            handle.watch.stop(wish);
        }
        Ok(handle)
    }

    /// Suspends all running operations. The next start resumes them.
    pub async fn suspend(&self) {
        self.shared.suspended.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }

    fn start(&self, record: OperationRecord) -> OperationHandle {
        let watch = self.shared.operations.begin(record.operation.clone());
        let handle = OperationHandle {
            watch: watch.clone(),
            suspended: self.shared.suspended.clone(),
            is_repeated: false,
        };
        let shared = self.shared.clone();
        let operation = &record.operation;
        let span = tracing::info_span!("operation", operation.id = %operation.id, deployment = %operation.deployment);
        let traced = tracing::debug_span!(target: SPANS, "operation", operation.id = %operation.id, operation.type = operation.operation_type.name(), deployment = %operation.deployment);
        if let Some(trace) = &record.trace {
            traces::go_on(&traced, trace);
        }
        let id = record.request_id.clone();
        let unfinished = Unfinished::new(operation);
        let task = async move {
            tokio::select! {
                () = shared.suspended.cancelled() => {}
                () = shared.run(record, &watch, unfinished) => {}
            }
        };
        self.shared.tasks.spawn_on(
            request_id::scope(id, task)
                .instrument(traced)
                .instrument(span),
            &self.shared.runtime,
        );
        handle
    }
}

impl Shared {
    /// Runs until the end, however often the store fails: nothing else could release the deployment.
    async fn run(
        &self,
        record: OperationRecord,
        watch: &OperationWatch,
        mut unfinished: Unfinished,
    ) {
        let _place = self.place(watch).await;
        unfinished.runs();
        let (mut wait, longest) = self.dependencies.retry.store_waits;
        loop {
            // Boxed: many accepted operations may wait here, and they need no memory for it yet.
            match Box::pin(Runner::run(&self.dependencies, record.clone(), watch)).await {
                Ok(outcome) => {
                    self.dependencies.audit.ended(&outcome.operation);
                    unfinished.ended(&outcome.operation);
                    return self.operations.end(watch, outcome);
                }
                Err(error) => {
                    if matches!(
                        error,
                        StoreError::Kv(KvError::Full { .. } | KvError::NoSpace)
                    ) {
                        watch.stick(Some(error.to_string()));
                    }
                    let id = &record.operation.id;
                    let error = common::server::answer::error::chain(&error);
                    tracing::error!(operation.id = %id, error, "operation {id} cannot be journaled; trying again in {} s", wait.as_secs_f32());
                }
            }
            tokio::time::sleep(wait).await;
            watch.stick(None);
            wait = longest.min(wait * 2);
        }
    }

    /// Waits for a free slot. A stopped operation needs none.
    async fn place(&self, watch: &OperationWatch) -> Option<(SemaphorePermit<'_>, Turn<'_>)> {
        let place = async {
            let place = self.places.acquire().await;
            Some((place.ok()?, self.turns.begin().await))
        };
        tokio::select! {
            place = place => place,
            _ = watch.stopped() => None,
        }
    }
}

/// The records of a new operation, and its hold on the deployment.
async fn acceptance(
    store: &Store,
    changes: &mut Changes,
    record: &OperationRecord,
    input: &InputConfig,
    found: Option<&Found>,
    request: Option<&Request>,
) -> Result<(), StoreError> {
    let operation = &record.operation;
    deployments::hold(changes, &operation.deployment, &operation.id)?;
    deployments::expect(changes, &operation.deployment, found);
    if let Some(found) = found {
        let taken = deployment::taken(found.deployment.clone(), operation.id.clone());
        deployments::put(changes, &taken)?;
    }
    operations::add(changes, record, input)?;
    if let Some(request) = request {
        requests::add(store, changes, request).await?;
    }
    Ok(())
}
