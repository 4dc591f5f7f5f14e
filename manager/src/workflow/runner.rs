//! One operation on its way through its plan: the only writer of its journal.

use std::time::Duration;

use common::api::error::ErrorBody;
use common::model::{Deployment, Identity, ManifestName, OperationStatus, Rollback};
use jiff::Timestamp;
use tokio::time::Instant;

use super::step::{Dependencies, Done, Failure, Goal, Run, Step, StepError};
use super::watch::{OperationWatch, Outcome};
use super::{authority, plans, recovery, steps, undo};
use crate::domain::operation::{Event, State};
use crate::store::operations::{OperationRecord, Undo};
use crate::store::{Changes, StoreError, deployments, fences, journal, operations};

/// Times that a step is run again because what it read was changed by another operation (the counts of types).
const CONFLICTS: usize = 10;

pub struct Runner<'a> {
    dependencies: &'a Dependencies,
    watch: &'a OperationWatch,
    record: OperationRecord,
    state: State,
    /// Entries of the journal.
    written: usize,
    /// When this run of it began: what an earlier process had begun was its last sign of life before.
    taken: Instant,
    /// The way there and the way back have the operation's time each.
    deadline: Instant,
    /// Whether an earlier process began the step that the journal ends with.
    resumed: bool,
    deployment: Option<Deployment>,
}

/// What a step came to: the events that say so, and what is written with them.
type StepOutcome = (Vec<Event>, Done);

impl<'a> Runner<'a> {
    /// From where the journal ends to the end of the operation.
    pub async fn run(
        dependencies: &'a Dependencies,
        record: OperationRecord,
        watch: &'a OperationWatch,
    ) -> Result<Outcome, StoreError> {
        let mut runner = Self::read(dependencies, record, watch).await?;
        while runner.state.status() != OperationStatus::Done {
            runner.advance().await?;
        }
        Ok(runner.outcome())
    }

    async fn read(
        dependencies: &'a Dependencies,
        record: OperationRecord,
        watch: &'a OperationWatch,
    ) -> Result<Self, StoreError> {
        let id = &record.operation.id;
        let events = journal::read_all(&dependencies.store, id).await?;
        if let Some(wish) = operations::stop_wish(&dependencies.store, id).await? {
            watch.stop(wish);
        }
        // What earlier commits changed of it: warnings, the way back, its end.
        let stored = operations::get(&dependencies.store, id).await?;
        let mut record = stored.unwrap_or(record);
        let state = recovery::state(&record.operation, &events)?;
        // Who goes on with it is later than who began it, and says so before anything else.
        let is_begun = !events.is_empty() && state.status() != OperationStatus::Done;
        if is_begun || record.take.is_none() {
            let mut changes = Changes::default();
            record.take = Some(fences::take(&dependencies.store, &mut changes).await?);
            operations::put(&mut changes, &record)?;
            dependencies.store.commit(changes).await?;
        }
        Ok(Self {
            dependencies,
            watch,
            taken: Instant::now(),
            deadline: deadline(&record),
            record,
            state,
            written: events.len(),
            resumed: true,
            deployment: None,
        })
    }

    async fn advance(&mut self) -> Result<(), StoreError> {
        match self.state.clone() {
            State::Pending | State::Ready { .. } | State::UndoReady { .. }
                if self.watch.stop_wish().is_some() && !self.is_through() =>
            {
                self.stop().await
            }
            State::Pending => {
                let steps = self.plan().len();
                let began = vec![Event::Began { steps }, Event::StepStarted { step: 0 }];
                self.write(began, Done::default()).await
            }
            State::Ready { next, steps } if next < steps => {
                self.note(Event::StepStarted { step: next }).await
            }
            State::UndoReady { next, steps, .. } if next < steps => {
                self.note(Event::UndoStarted { step: next }).await
            }
            State::Running { step, .. } | State::Undoing { step, .. } => self.step(step).await,
            State::Ready { .. }
            | State::UndoReady { .. }
            | State::Failing { .. }
            | State::Stuck { .. } => self.note(Event::Finished).await,
            State::Succeeded | State::Failed { .. } => Ok(()),
        }
    }

    async fn note(&mut self, event: Event) -> Result<(), StoreError> {
        self.write(vec![event], Done::default()).await
    }

    /// What the operation goes for now: what was asked of it, or the way back.
    fn goal(&self) -> Goal {
        match &self.record.undo {
            Some(back) => undo::goal(&self.record, back),
            None => Goal {
                intent: self.record.intent.clone(),
                manifest: self.record.manifest().cloned(),
            },
        }
    }

    fn plan(&self) -> &'static [Step] {
        match &self.record.undo {
            Some(back) => plans::undo(back),
            None => plans::steps(&self.record.intent),
        }
    }

    fn is_through(&self) -> bool {
        matches!(self.state, State::Ready { next, steps } | State::UndoReady { next, steps, .. } if next == steps)
    }

    /// Runs a step and writes what it came to; again if what it read was changed in between.
    async fn step(&mut self, step: usize) -> Result<(), StoreError> {
        let mut conflicts = 0;
        loop {
            let (events, done) = self.outcome_of(step).await?;
            match self.write(events, done).await {
                Err(error) if error.is_conflict() && conflicts < CONFLICTS => conflicts += 1,
                outcome => return outcome,
            }
        }
    }

    async fn outcome_of(&self, number: usize) -> Result<StepOutcome, StoreError> {
        let step = *self.plan().get(number).ok_or_else(|| {
            let id = &self.record.operation.id;
            StoreError::Missing(format!("step {number} of operation {id}"))
        })?;
        let id = &self.record.operation.id;
        self.watch.update(|operation| {
            operation.status = OperationStatus::Running;
            operation.progress.step = step.verb().to_owned();
        });
        tracing::info!(step = step.verb(), "operation {id}: {}", step.verb());
        let goal = self.goal();
        let authority = match step.concludes() {
            true => Ok(None),
            false => authority::of(self.dependencies, &self.record, &goal).await?,
        };
        let run = match authority {
            Ok(acting) => self.run_of(&goal, acting),
            Err(error) => {
                let failure = self.run_of(&goal, None).broken_off(error).await?;
                return Ok(self.failed(number, step, failure));
            }
        };
        let ran = tokio::select! {
            biased;
            _ = self.watch.stopped(), if step.may_be_dropped() => return self.stopped(&run).await,
            ran = steps::run(step, &run) => ran,
        };
        match ran {
            Ok(done) => Ok((self.after(number), done)),
            Err(StepError::Failed(mut failure)) => {
                run.redaction().await?.error(&mut failure.error);
                Ok(self.failed(number, step, *failure))
            }
            Err(StepError::Store(error @ StoreError::Kv(_))) => Err(error),
            Err(StepError::Store(error)) => {
                let failure = run.at_fault(&error).await;
                Ok(self.failed(number, step, failure))
            }
        }
    }

    fn run_of<'r>(&'r self, goal: &'r Goal, acting: Option<Identity>) -> Run<'r> {
        Run {
            dependencies: self.dependencies,
            record: &self.record,
            watch: self.watch,
            goal,
            acting,
            deadline: self.deadline,
            taken: self.taken,
            resumed: self.resumed,
        }
    }

    /// The events of a success, up to the next thing that takes time.
    fn after(&self, step: usize) -> Vec<Event> {
        let last = step + 1 == self.plan().len();
        let next = step + 1;
        match (self.record.undo.is_some(), last) {
            (false, false) => vec![
                Event::StepSucceeded { step },
                Event::StepStarted { step: next },
            ],
            (false, true) => vec![Event::StepSucceeded { step }, Event::Finished],
            (true, false) => vec![
                Event::UndoSucceeded { step },
                Event::UndoStarted { step: next },
            ],
            (true, true) => vec![Event::UndoSucceeded { step }, Event::Finished],
        }
    }

    fn failed(&self, number: usize, step: Step, failure: Failure) -> StepOutcome {
        let (error, step_number) = (failure.error.clone(), number);
        let mut done = failure.into_done();
        if self.record.undo.is_some() {
            done.undo_error = Some(error.clone());
            let failed = Event::UndoFailed {
                step: step_number,
                error,
            };
            return (vec![failed, Event::Finished], done);
        }
        done.undo = undo::of(&self.record, step, &error, done.deployment.as_ref());
        let failed = Event::StepFailed {
            step: step_number,
            error,
        };
        let events = match &done.undo {
            None => vec![failed, Event::Finished],
            Some(back) => vec![
                failed,
                Event::UndoBegan {
                    steps: plans::undo(back).len(),
                },
                Event::UndoStarted { step: 0 },
            ],
        };
        (events, done)
    }

    async fn stop(&mut self) -> Result<(), StoreError> {
        let goal = self.goal();
        let (events, done) = self.stopped(&self.run_of(&goal, None)).await?;
        self.write(events, done).await
    }

    /// Nothing further is done. What is applied stays, so a deployment that was on its way is marked as failed.
    async fn stopped(&self, run: &Run<'_>) -> Result<StepOutcome, StoreError> {
        let failure = run.broken_off(run.stop_error()).await?;
        let error = failure.error.clone();
        let mut done = failure.into_done();
        if self.record.undo.is_some() {
            done.undo_error = Some(error.clone());
        }
        Ok((vec![Event::Stopped { error }, Event::Finished], done))
    }

    /// Events, what a step changed, the operation's record and, at its end, the release: one commit.
    async fn write(&mut self, events: Vec<Event>, done: Done) -> Result<(), StoreError> {
        let now = Timestamp::now();
        let (dependencies, id) = (self.dependencies, self.record.operation.id.clone());
        let (mut state, mut changes) = (self.state.clone(), done.changes);
        for (offset, event) in events.iter().enumerate() {
            journal::append(&mut changes, &id, self.written + offset, event, now)?;
            state = state
                .after(event)
                .map_err(|error| recovery::illegal(&id, &error))?;
        }
        let deployment = done.deployment.or(self.deployment.clone());
        let mut record = self.record.clone();
        record.operation.warnings.extend(done.warnings);
        record.operation.status = state.status();
        record.operation.progress = self.watch.operation().progress.clone();
        note_manifest(&mut record, done.manifest, done.undo, done.undo_error);
        if state.status() == OperationStatus::Done {
            finish(&mut record, &state, deployment.as_ref(), now);
            let name = &record.operation.deployment;
            deployments::release(&mut changes, name);
            operations::expire(&dependencies.store, &mut changes, name, now).await?;
            operations::finish(&dependencies.store, &mut changes, &record).await?;
        } else {
            operations::put(&mut changes, &record)?;
        }
        dependencies.store.commit(changes).await?;
        self.committed(record, state, events.len(), deployment);
        Ok(())
    }

    fn committed(
        &mut self,
        record: OperationRecord,
        state: State,
        events: usize,
        deployment: Option<Deployment>,
    ) {
        if record.undo.is_some() && self.record.undo.is_none() {
            self.deadline = deadline(&record);
        }
        let shown = record.operation.clone();
        (self.record, self.state, self.deployment) = (record, state, deployment);
        self.written += events;
        self.resumed = false;
        if shown.status != OperationStatus::Done {
            self.watch.update(|operation| *operation = shown);
        }
    }

    fn outcome(self) -> Outcome {
        let operation = self.record.operation;
        let (id, kind) = (&operation.id, operation.operation_type);
        match &operation.error {
            None => tracing::info!("operation {id} ({kind:?}) succeeded"),
            Some(error) => {
                // An excerpt of a text that could not be read may hold anything.
                let message = error.message.lines().next().unwrap_or_default();
                tracing::info!(
                    error = message,
                    "operation {id} ({kind:?}) failed: {message}"
                )
            }
        }
        Outcome {
            operation,
            deployment: self.deployment,
        }
    }
}

fn deadline(record: &OperationRecord) -> Instant {
    Instant::now() + Duration::from_millis(record.timeout_ms)
}

/// Which manifest is stored now, and where the way back has come.
fn note_manifest(
    record: &mut OperationRecord,
    stored: Option<ManifestName>,
    begun: Option<Undo>,
    failed: Option<Box<ErrorBody>>,
) {
    let operation = &mut record.operation;
    if let Some(rollback) = &mut operation.rollback {
        rollback.manifest = stored.or(rollback.manifest.take());
        rollback.error = failed.map(|error| *error);
    } else if stored.is_some() {
        operation.manifest = stored;
    }
    if let Some(begun) = begun {
        operation.rollback = Some(Rollback {
            to: begun.to.clone(),
            manifest: None,
            error: None,
        });
        record.undo = Some(begun);
    }
}

/// The end, as callers are told it.
fn finish(
    record: &mut OperationRecord,
    state: &State,
    deployment: Option<&Deployment>,
    now: Timestamp,
) {
    let operation = &mut record.operation;
    operation.end_time = Some(now);
    operation.error = state.error().cloned().map(|mut error| {
        if let Some(rollback) = &operation.rollback {
            error.message = format!("{}; {}", error.message, undo::told(rollback));
        }
        error
    });
    if record.idempotency_key.is_some() {
        record.answer = deployment.cloned();
    }
}
