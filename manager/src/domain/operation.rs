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
mod tests {
    use common::api::error::ErrorCode;
    use proptest::prelude::*;

    use super::*;

    fn failure() -> Box<ErrorBody> {
        Box::new(ErrorBody::new(ErrorCode::ResourcesFailed, "it failed"))
    }

    fn began_again() -> Event {
        Event::Began { steps: 1 }
    }

    fn steps_of(count: usize) -> impl Iterator<Item = Event> {
        (0..count).flat_map(|step| [Event::StepStarted { step }, Event::StepSucceeded { step }])
    }

    /// A journal of `steps` steps that fails in step `fails`.
    fn journal(steps: usize, fails: Option<usize>) -> Vec<Event> {
        let mut events = vec![Event::Began { steps }];
        for step in 0..steps {
            events.push(Event::StepStarted { step });
            if fails == Some(step) {
                events.push(Event::StepFailed {
                    step,
                    error: failure(),
                });
                break;
            }
            events.push(Event::StepSucceeded { step });
        }
        events.push(Event::Finished);
        events
    }

    #[test]
    fn an_operation_whose_steps_succeed_succeeds() {
        let events: Vec<_> = [Event::Began { steps: 2 }]
            .into_iter()
            .chain(steps_of(2))
            .chain([Event::Finished])
            .collect();
        assert_eq!(State::replay(&events), Ok(State::Succeeded));
    }

    #[test]
    fn a_failed_step_fails_the_operation_with_its_error() {
        let state = State::replay(&journal(3, Some(1))).unwrap();
        assert_eq!(state.error(), Some(&*failure()));
        assert_eq!(state.status(), OperationStatus::Done);
    }

    /// A journal that fails and rolls back in `steps` steps, one of which may fail.
    fn undone(steps: usize, fails: Option<usize>) -> Vec<Event> {
        let mut events = journal(2, Some(1));
        events.pop();
        events.push(Event::UndoBegan { steps });
        for step in 0..steps {
            events.push(Event::UndoStarted { step });
            if fails == Some(step) {
                events.push(Event::UndoFailed {
                    step,
                    error: failure(),
                });
                break;
            }
            events.push(Event::UndoSucceeded { step });
        }
        events.push(Event::Finished);
        events
    }

    #[test]
    fn an_operation_that_goes_back_ends_with_what_failed_before() {
        for fails in [None, Some(0), Some(2)] {
            let state = State::replay(&undone(3, fails)).unwrap();
            assert_eq!(state, State::Failed { error: failure() });
        }
    }

    #[test]
    fn an_operation_can_be_stopped_anywhere_before_its_end_and_only_there() {
        let stopped = Event::Stopped { error: failure() };
        for events in [journal(2, None), undone(2, None)] {
            let mut state = State::default();
            for event in &events {
                if !matches!(state, State::Failing { .. }) {
                    let ended = state.clone().after(&stopped).unwrap();
                    let ended = ended.after(&Event::Finished).unwrap();
                    assert_eq!(ended, State::Failed { error: failure() });
                }
                state = state.after(event).unwrap();
            }
            assert!(state.after(&stopped).is_err());
        }
    }

    #[test]
    fn what_cannot_follow_is_refused() {
        let began = Event::Began { steps: 2 };
        let start = |step| Event::StepStarted { step };
        let done = |step| Event::StepSucceeded { step };
        let cases: &[&[Event]] = &[
            &[Event::Finished],
            &[start(0)],
            &[began.clone(), began.clone()],
            &[began.clone(), Event::Finished],
            &[began.clone(), start(1)],
            &[began.clone(), done(0)],
            &[began.clone(), start(0), done(1)],
            &[began.clone(), start(0), start(0)],
            &[began.clone(), start(0), start(1)],
            &[began.clone(), start(0), Event::Finished],
            &[began.clone(), start(0), done(0), start(0)],
            &[
                began.clone(),
                start(0),
                done(0),
                start(1),
                done(1),
                start(2),
            ],
            &[
                began.clone(),
                start(0),
                Event::StepFailed {
                    step: 1,
                    error: failure(),
                },
            ],
            &[
                began,
                start(0),
                Event::StepFailed {
                    step: 0,
                    error: failure(),
                },
                start(0),
            ],
            &[Event::UndoBegan { steps: 1 }],
            &[began_again(), start(0), Event::UndoBegan { steps: 1 }],
        ];
        for events in cases {
            assert!(State::replay(*events).is_err(), "{events:?}");
        }
    }

    proptest! {
        #[test]
        fn every_prefix_of_a_journal_replays_to_the_state_it_had(steps in 0usize..6, fails in proptest::option::of(0usize..6)) {
            let events = journal(steps, fails.filter(|&step| step < steps));
            let mut state = State::default();
            for (length, event) in events.iter().enumerate() {
                prop_assert_eq!(State::replay(&events[..length]).unwrap(), state.clone());
                prop_assert_ne!(state.status(), OperationStatus::Done);
                state = state.after(event).unwrap();
            }
            prop_assert_eq!(state.status(), OperationStatus::Done);
            prop_assert!(state.after(&Event::Finished).is_err());
        }

        #[test]
        fn an_event_survives_the_journal(steps in 0usize..6, fails in proptest::option::of(0usize..6)) {
            for event in journal(steps, fails).into_iter().chain(undone(steps, fails)) {
                let written = serde_json::to_string(&event).unwrap();
                prop_assert_eq!(serde_json::from_str::<Event>(&written).unwrap(), event);
            }
        }
    }
}
