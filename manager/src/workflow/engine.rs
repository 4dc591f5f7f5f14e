//! Carrying operations out: the only writer of their journals.
//!
//! Each operation runs in a task of its own, so that it goes on when the caller that asked for it goes away. Parking
//! drops the tasks wherever they are: what they did is journaled or done again at the next start.

use std::sync::Arc;
use std::time::Duration;

use common::model::{InputConfig, OperationId, OperationStatus};
use common::request_id;
use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use super::live::{Hub, Live, Outcome};
use super::plans;
use super::recovery;
use super::step::{Done, Failure, Run, Step, StepError, Tools};
use super::steps;
use crate::domain::deployment;
use crate::domain::operation::{Event, State};
use crate::store::deployments::{self, Found};
use crate::store::operations::OperationRecord;
use crate::store::{Changes, StoreError, journal, operations};

/// Operations that run at once; further ones wait, accepted. Most of their time they wait for the cluster.
const AT_ONCE: usize = 64;
/// First and longest wait after the store failed.
const STORE_WAITS: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));
/// Times that a step is run again because what it read was changed by another operation (the counts of types).
const CONFLICTS: usize = 10;

#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    tools: Tools,
    hub: Hub,
    runtime: Handle,
    places: Semaphore,
    parked: CancellationToken,
    tasks: TaskTracker,
}

/// An accepted operation, to be waited for or watched.
#[derive(Clone)]
pub struct Ticket {
    live: Arc<Live>,
    parked: CancellationToken,
}

/// The manager stops; the operation goes on at its next start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the manager is stopping; the operation goes on when it is started again")]
pub struct Parked;

impl Ticket {
    pub fn live(&self) -> &Arc<Live> {
        &self.live
    }

    /// Waits for the end.
    pub async fn outcome(&self) -> Result<Arc<Outcome>, Parked> {
        let mut changes = self.live.changes();
        loop {
            if let Some(outcome) = self.live.ended() {
                return Ok(outcome);
            }
            tokio::select! {
                changed = changes.changed() => changed.map_err(|_| Parked)?,
                () = self.parked.cancelled() => return Err(Parked),
            }
        }
    }

    /// Whether the manager stops.
    pub async fn parked(&self) {
        self.parked.cancelled().await;
    }
}

impl Engine {
    /// Operations run on the runtime that this is called in.
    pub fn new(tools: Tools) -> Self {
        let shared = Shared {
            tools,
            hub: Hub::default(),
            runtime: Handle::current(),
            places: Semaphore::new(AT_ONCE),
            parked: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Goes on with all that is unfinished; gives how many there are.
    pub async fn recover(&self) -> Result<usize, StoreError> {
        let records = recovery::unfinished(&self.shared.tools.store).await?;
        let count = records.len();
        for record in records {
            self.start(record);
        }
        Ok(count)
    }

    /// Accepts an operation: durable, and holder of its deployment, when this returns. A conflict means that the
    /// deployment was not as it was found, or is held.
    ///
    /// Committing and starting are one, in a task of their own: the caller may go away in between, and an operation that
    /// is committed and not started would hold its deployment until the next start of the manager.
    pub async fn accept(
        &self,
        record: OperationRecord,
        input: &InputConfig,
        found: Option<&Found>,
    ) -> Result<Ticket, StoreError> {
        let changes = acceptance(&record, input, found)?;
        let engine = self.clone();
        let begin = async move {
            engine.shared.tools.store.commit(changes).await?;
            Ok(engine.start(record))
        };
        let begun = self.shared.runtime.spawn(begin.in_current_span()).await;
        begun.unwrap_or_else(|error| Err(StoreError::Broken(error.to_string())))
    }

    /// An operation that runs or ended lately.
    pub fn ticket(&self, id: &OperationId) -> Option<Ticket> {
        let live = self.shared.hub.get(id)?;
        Some(Ticket {
            live,
            parked: self.shared.parked.clone(),
        })
    }

    /// Stops all that runs, to be gone on with at the next start.
    pub async fn park(&self) {
        self.shared.parked.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }

    fn start(&self, record: OperationRecord) -> Ticket {
        let live = self.shared.hub.begin(record.operation.clone());
        let ticket = Ticket {
            live: live.clone(),
            parked: self.shared.parked.clone(),
        };
        let shared = self.shared.clone();
        let operation = &record.operation;
        let span = tracing::info_span!("operation", operation.id = %operation.id, deployment = %operation.deployment);
        let id = record.request_id.clone();
        let task = async move {
            tokio::select! {
                () = shared.parked.cancelled() => {}
                () = shared.run(record, &live) => {}
            }
        };
        self.shared.tasks.spawn_on(
            request_id::scope(id, task).instrument(span),
            &self.shared.runtime,
        );
        ticket
    }
}

impl Shared {
    /// Until the end, however often the store fails: nothing else could release the deployment.
    async fn run(&self, record: OperationRecord, live: &Live) {
        let Ok(_place) = self.places.acquire().await else {
            return;
        };
        let (mut wait, longest) = STORE_WAITS;
        loop {
            match self.drive(record.clone(), live).await {
                Ok(outcome) => return self.hub.end(live, outcome),
                Err(error) => {
                    let id = &record.operation.id;
                    let error = common::server::error::chain(&error);
                    tracing::error!(operation.id = %id, error, "operation {id} cannot be journaled; trying again in {} s", wait.as_secs_f32());
                }
            }
            tokio::time::sleep(wait).await;
            wait = longest.min(wait * 2);
        }
    }

    /// From where the journal ends to the end of the operation.
    async fn drive(&self, record: OperationRecord, live: &Live) -> Result<Outcome, StoreError> {
        let deadline = Instant::now() + Duration::from_millis(record.timeout_ms);
        let mut course = Course::read(&self.tools, record, live).await?;
        loop {
            match course.state.clone() {
                State::Pending => course.begin().await?,
                State::Ready { next, steps } if next < steps => {
                    course
                        .write(vec![Event::StepStarted { step: next }], Done::default())
                        .await?
                }
                State::Running { step, .. } => course.step(step, deadline).await?,
                State::Ready { .. } | State::Failing { .. } => {
                    course.write(vec![Event::Finished], Done::default()).await?
                }
                State::Succeeded | State::Failed { .. } => return Ok(course.outcome()),
            }
        }
    }
}

/// One operation on its way through its plan.
struct Course<'a> {
    tools: &'a Tools,
    live: &'a Live,
    record: OperationRecord,
    plan: &'static [Step],
    state: State,
    /// Entries of the journal.
    written: usize,
    deployment: Option<common::model::Deployment>,
}

impl<'a> Course<'a> {
    async fn read(
        tools: &'a Tools,
        record: OperationRecord,
        live: &'a Live,
    ) -> Result<Self, StoreError> {
        let events = journal::read_all(&tools.store, &record.operation.id).await?;
        // What earlier commits changed of it: warnings, and its end.
        let stored = operations::get(&tools.store, &record.operation.id).await?;
        let record = stored.unwrap_or(record);
        let state = recovery::state(&record.operation, &events)?;
        let plan = plans::steps(&record.intent);
        Ok(Self {
            tools,
            live,
            record,
            plan,
            state,
            written: events.len(),
            deployment: None,
        })
    }

    async fn begin(&mut self) -> Result<(), StoreError> {
        let events = vec![
            Event::Began {
                steps: self.plan.len(),
            },
            Event::StepStarted { step: 0 },
        ];
        self.write(events, Done::default()).await
    }

    /// Runs a step and writes what it came to; again if what it read was changed in between.
    async fn step(&mut self, step: usize, deadline: Instant) -> Result<(), StoreError> {
        let mut conflicts = 0;
        loop {
            let (events, done) = self.run(step, deadline).await?;
            match self.write(events, done).await {
                Err(error) if error.is_conflict() && conflicts < CONFLICTS => conflicts += 1,
                outcome => return outcome,
            }
        }
    }

    async fn run(
        &self,
        number: usize,
        deadline: Instant,
    ) -> Result<(Vec<Event>, Done), StoreError> {
        let id = &self.record.operation.id;
        let step = *self
            .plan
            .get(number)
            .ok_or_else(|| StoreError::Missing(format!("step {number} of operation {id}")))?;
        self.live.update(|operation| {
            operation.status = OperationStatus::Running;
            operation.progress.step = step.verb().to_owned();
        });
        tracing::info!(step = step.verb(), "operation {id}: {}", step.verb());
        let run = Run {
            tools: self.tools,
            record: &self.record,
            live: self.live,
            deadline,
        };
        match steps::run(step, &run).await {
            Ok(done) => Ok((self.after(number), done)),
            Err(StepError::Failed(failure)) => Ok(failed(number, *failure)),
            Err(StepError::Store(error @ StoreError::Kv(_))) => Err(error),
            Err(StepError::Store(error)) => Ok(failed(number, Failure::internal(id, &error))),
        }
    }

    /// The events of a success, up to the next thing that takes time.
    fn after(&self, step: usize) -> Vec<Event> {
        let next = if step + 1 < self.plan.len() {
            Event::StepStarted { step: step + 1 }
        } else {
            Event::Finished
        };
        vec![Event::StepSucceeded { step }, next]
    }

    /// Events, what a step changed, the operation's record and, at its end, the release: one commit.
    async fn write(&mut self, events: Vec<Event>, done: Done) -> Result<(), StoreError> {
        let now = Timestamp::now();
        let (tools, id) = (self.tools, self.record.operation.id.clone());
        let (mut state, mut changes) = (self.state.clone(), done.changes);
        for (offset, event) in events.iter().enumerate() {
            journal::append(&mut changes, &id, self.written + offset, event, now)?;
            state = state
                .after(event)
                .map_err(|error| recovery::illegal(&id, &error))?;
        }
        let mut record = self.record.clone();
        record.operation.warnings.extend(done.warnings);
        record.operation.status = state.status();
        record.operation.progress = self.live.operation().progress.clone();
        if state.status() == OperationStatus::Done {
            record.operation.end_time = Some(now);
            record.operation.error = state.error().cloned();
            deployments::release(&mut changes, &record.operation.deployment);
            operations::expire(
                &tools.store,
                &mut changes,
                &record.operation.deployment,
                now,
            )
            .await?;
            operations::finish(&tools.store, &mut changes, &record).await?;
        } else {
            operations::put(&mut changes, &record)?;
        }
        tools.store.commit(changes).await?;
        (self.record, self.state, self.written) = (record, state, self.written + events.len());
        self.deployment = done.deployment.or(self.deployment.take());
        Ok(())
    }

    fn outcome(self) -> Outcome {
        let operation = self.record.operation;
        let (id, kind) = (&operation.id, operation.operation_type);
        match &operation.error {
            None => tracing::info!("operation {id} ({kind:?}) succeeded"),
            Some(error) => {
                tracing::info!(error = %error.message, "operation {id} ({kind:?}) failed: {}", error.message)
            }
        }
        Outcome {
            operation,
            deployment: self.deployment,
        }
    }
}

/// The records of a new operation and its hold on the deployment.
fn acceptance(
    record: &OperationRecord,
    input: &InputConfig,
    found: Option<&Found>,
) -> Result<Changes, StoreError> {
    let operation = &record.operation;
    let mut changes = Changes::default();
    deployments::hold(&mut changes, &operation.deployment, &operation.id)?;
    deployments::expect(&mut changes, &operation.deployment, found);
    if let Some(found) = found {
        let taken = deployment::taken(found.deployment.clone(), operation.id.clone());
        deployments::put(&mut changes, &taken)?;
    }
    operations::add(&mut changes, record, input)?;
    Ok(changes)
}

fn failed(step: usize, failure: Failure) -> (Vec<Event>, Done) {
    let events = vec![
        Event::StepFailed {
            step,
            error: failure.error,
        },
        Event::Finished,
    ];
    (
        events,
        Done {
            changes: failure.changes,
            warnings: Vec::new(),
            deployment: failure.deployment,
        },
    )
}
