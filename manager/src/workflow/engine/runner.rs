//! Runs one operation through its plan. Nothing else writes the operation's journal.

use std::time::Duration;

use common::api::error::ErrorBody;
use common::model::{Deployment, Identity, ManifestName, OperationStatus, Rollback};
use common::telemetry::traces::SPANS;
use jiff::Timestamp;
use tokio::time::Instant;
use tracing::Instrument;
use tracing::field::Empty;

use super::watch::{OperationWatch, Outcome};
use super::{plans, recovery, undo};
use crate::domain::operation::{Event, State};
use crate::store::operations::{OperationRecord, Undo, fences, journal};
use crate::store::{Changes, StoreError, deployments, operations};
use crate::workflow::job::follow;
use crate::workflow::step::{Dependencies, Done, Failure, Goal, Run, Step, StepError};
use crate::workflow::{authority, steps};

/// How often a step is repeated because another operation changed what the step had read (the counts of types).
const CONFLICTS: usize = 10;

pub struct Runner<'a> {
    dependencies: &'a Dependencies,
    watch: &'a OperationWatch,
    record: OperationRecord,
    state: State,
    /// The number of journal entries.
    written: usize,
    /// When this process took the operation over. An earlier process gave its last sign of life before.
    taken: Instant,
    /// The operation and its rollback have the full timeout each.
    deadline: Instant,
    /// Whether an earlier process began the step at the end of the journal.
    resumed: bool,
    deployment: Option<Deployment>,
}

/// The outcome of a step: its events, and what is written with them.
type StepOutcome = (Vec<Event>, Done);

impl<'a> Runner<'a> {
    /// Runs the operation from the end of its journal to its own end.
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
        let (id, store) = (&record.operation.id, &dependencies.store);
        let (events, wish, stored) = tokio::try_join!(
            journal::read_all(store, id),
            operations::stop_wish(store, id),
            // Earlier commits may have changed it: warnings, the rollback, its end.
            operations::get(store, id),
        )?;
        if let Some(wish) = wish {
            watch.stop(wish);
        }
        let mut record = stored.unwrap_or(record);
        let state = recovery::state(&record.operation, &events)?;
        // A process that resumes the operation takes a higher number than the one that began it, before anything else.
        let is_begun = !events.is_empty() && state.status() != OperationStatus::Done;
        if is_begun || record.take.is_none() {
            let mut changes = Changes::default();
            let take = fences::take(&dependencies.store, &mut changes).await?;
            if let Some(attempts) = &mut record.attempts {
                attempts.push(take.next(watch.attempts()));
            }
            record.take = Some(take);
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

    /// What the operation works towards now: the request, or the rollback.
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

    /// Runs a step and commits its outcome. Repeats it if another operation changed what the step had read.
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
                let run = self.run_of(&goal, None);
                if step.has_job() {
                    follow::end_earlier(&run).await;
                }
                let failure = run.broken_off(error).await?;
                return Ok(self.failed(number, step, failure));
            }
        };
        let span = tracing::debug_span!(target: SPANS, "step", otel.name = step.verb(), otel.status_code = Empty, error.code = Empty);
        let ran = tokio::select! {
            biased;
            _ = self.watch.stopped(), if step.may_be_dropped() => return self.stopped(&run).await,
            ran = steps::run(step, &run).instrument(span.clone()) => ran,
        };
        match ran {
            Ok(done) => Ok((self.after(number), done)),
            Err(StepError::Failed(mut failure)) => {
                span.record("error.code", failure.error.code.as_str());
                span.record("otel.status_code", "ERROR");
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

    /// The events of a success, and of the start of the next step.
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

    /// Stops without undoing anything. Applied objects stay, so a deployment in progress is marked as failed.
    async fn stopped(&self, run: &Run<'_>) -> Result<StepOutcome, StoreError> {
        let failure = run.broken_off(run.stop_error()).await?;
        let error = failure.error.clone();
        let mut done = failure.into_done();
        if self.record.undo.is_some() {
            done.undo_error = Some(error.clone());
        }
        Ok((vec![Event::Stopped { error }, Event::Finished], done))
    }

    /// Commits the events, the step's changes, the operation's record and, at its end, the release of the deployment,
    /// together.
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
        // Jobs of the step have ended, or their time to write is over.
        let take = record.take.as_ref();
        record.attempts = take.map(|take| vec![take.next(self.watch.attempts())]);
        note_manifest(&mut record, done.manifest, done.undo, done.undo_error);
        if state.status() == OperationStatus::Done {
            finish(&mut record, &state, deployment.as_ref(), now);
            let name = &record.operation.deployment;
            deployments::release(&mut changes, name);
            operations::expire(&dependencies.store, &mut changes, name, now).await?;
            operations::finish(&mut changes, &record)?;
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
                // The excerpt of an unreadable text may contain anything, so only the first line is logged.
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

/// Records the manifest that is stored now, and the progress of the rollback.
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

/// The end, as callers see it.
fn finish(
    record: &mut OperationRecord,
    state: &State,
    deployment: Option<&Deployment>,
    now: Timestamp,
) {
    let operation = &mut record.operation;
    operation.end_time = Some(now);
    record.attempts = None;
    operation.error = state.error().cloned().map(|mut error| {
        if let Some(rollback) = &operation.rollback {
            error.message = format!("{}; {}", error.message, undo::rendered(rollback));
        }
        error
    });
    if record.idempotency_key.is_some() {
        record.answer = deployment.cloned();
    }
}
