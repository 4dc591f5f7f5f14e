//! The state machine of an operation: its events, and the state after each.
//!
//! ```text
//! Pending ──Began──► Ready{0} ──StepStarted(0)──► Running{0} ──StepSucceeded(0)──► Ready{1} … ──Finished──► Succeeded
//!    │                 │                            ├──StepFailed(0, error)──┐
//!    └─────Stopped─────┴──────────Stopped───────────┴────────────────────────┴──► Failing ──Finished──► Failed
//!                                                                                    │                   ▲
//!      ┌─────────────────────────────────UndoBegan───────────────────────────────────┘                   │
//!      └──► UndoReady{0} ──UndoStarted(0)──► Undoing{0} ──UndoSucceeded(0)──► UndoReady{1} … ──Finished──┤
//!               └───────────Stopped────────────┴──UndoFailed(0), Stopped──► Stuck ─────────Finished──────┘
//! ```
//!
//! Failures need no undo: nothing before `store` has effects, and applies converge, so a failed apply is recorded and
//! the next update or delete continues from it. Only `rollbackOnFailure` runs steps that lead back. Recovery replays
//! the journal through [`State::after`]. A step that was running is run again.

pub mod correction;
pub mod intent;

use common::api::error::ErrorBody;
use common::model::OperationStatus;
use serde::{Deserialize, Serialize};

/// An entry of an operation's journal. The names are stored: renaming one changes the format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "camelCase")]
pub enum Event {
    /// The operation has left the queue. Its plan has this many steps.
    Began {
        steps: usize,
    },
    StepStarted {
        step: usize,
    },
    /// Committed together with everything that the step writes.
    StepSucceeded {
        step: usize,
    },
    StepFailed {
        step: usize,
        error: Box<ErrorBody>,
    },
    /// A stop was requested. Nothing further is done, whatever the state was.
    Stopped {
        error: Box<ErrorBody>,
    },
    /// The operation has failed and rolls back with a plan of this many steps.
    UndoBegan {
        steps: usize,
    },
    UndoStarted {
        step: usize,
    },
    UndoSucceeded {
        step: usize,
    },
    UndoFailed {
        step: usize,
        error: Box<ErrorBody>,
    },
    /// Committed together with the release of the deployment.
    Finished,
}

/// The state of an operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Pending,
    /// Between two steps. `next` is the number of steps after the last one.
    Ready {
        next: usize,
        steps: usize,
    },
    /// The step has started. After a crash any part of its effects may exist.
    Running {
        step: usize,
        steps: usize,
    },
    Failing {
        error: Box<ErrorBody>,
    },
    /// Between two steps of the rollback. `error` is the failure before it.
    UndoReady {
        next: usize,
        steps: usize,
        error: Box<ErrorBody>,
    },
    Undoing {
        step: usize,
        steps: usize,
        error: Box<ErrorBody>,
    },
    /// The rollback has failed too.
    Stuck {
        error: Box<ErrorBody>,
    },
    Succeeded,
    Failed {
        error: Box<ErrorBody>,
    },
}

/// An event that cannot follow the state: the journal is damaged, or has two writers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{event:?} cannot follow {state:?}")]
pub struct IllegalEvent {
    state: State,
    event: Event,
}

impl State {
    /// The state after an event. This is the whole state machine.
    pub fn after(self, event: &Event) -> Result<Self, IllegalEvent> {
        use {Event as E, State as S};
        match (self, event) {
            (S::Pending, &E::Began { steps }) => Ok(S::Ready { next: 0, steps }),
            (S::Ready { next, steps }, &E::StepStarted { step })
                if step == next && next < steps =>
            {
                Ok(S::Running { step, steps })
            }
            (S::Running { step, steps }, &E::StepSucceeded { step: done }) if step == done => {
                let next = step + 1;
                Ok(S::Ready { next, steps })
            }
            (
                S::Running { step, .. },
                E::StepFailed {
                    step: failed,
                    error,
                },
            ) if step == *failed => {
                let error = error.clone();
                Ok(S::Failing { error })
            }
            (S::Pending | S::Ready { .. } | S::Running { .. }, E::Stopped { error }) => {
                let error = error.clone();
                Ok(S::Failing { error })
            }
            (S::Failing { error }, &E::UndoBegan { steps }) => {
                let next = 0;
                Ok(S::UndoReady { next, steps, error })
            }
            (S::UndoReady { next, steps, error }, &E::UndoStarted { step })
                if step == next && next < steps =>
            {
                Ok(S::Undoing { step, steps, error })
            }
            (S::Undoing { step, steps, error }, &E::UndoSucceeded { step: done })
                if step == done =>
            {
                let next = step + 1;
                Ok(S::UndoReady { next, steps, error })
            }
            (S::Undoing { step, error, .. }, E::UndoFailed { step: failed, .. })
                if step == *failed =>
            {
                Ok(S::Stuck { error })
            }
            (S::UndoReady { error, .. } | S::Undoing { error, .. }, E::Stopped { .. }) => {
                Ok(S::Stuck { error })
            }
            (S::Ready { next, steps }, E::Finished) if next == steps => Ok(S::Succeeded),
            (S::UndoReady { next, steps, error }, E::Finished) if next == steps => {
                Ok(S::Failed { error })
            }
            (S::Failing { error } | S::Stuck { error }, E::Finished) => Ok(S::Failed { error }),
            (state, event) => Err(IllegalEvent {
                state,
                event: event.clone(),
            }),
        }
    }

    /// The state after a whole journal.
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<Self, IllegalEvent> {
        events.into_iter().try_fold(Self::default(), Self::after)
    }

    /// The status for callers.
    pub fn status(&self) -> OperationStatus {
        match self {
            State::Pending => OperationStatus::Pending,
            State::Ready { .. }
            | State::Running { .. }
            | State::Failing { .. }
            | State::UndoReady { .. }
            | State::Undoing { .. }
            | State::Stuck { .. } => OperationStatus::Running,
            State::Succeeded | State::Failed { .. } => OperationStatus::Done,
        }
    }

    /// Why it has failed.
    pub fn error(&self) -> Option<&ErrorBody> {
        match self {
            State::Failing { error }
            | State::UndoReady { error, .. }
            | State::Undoing { error, .. }
            | State::Stuck { error }
            | State::Failed { error } => Some(error),
            State::Pending | State::Ready { .. } | State::Running { .. } | State::Succeeded => None,
        }
    }
}

#[cfg(test)]
mod tests;
