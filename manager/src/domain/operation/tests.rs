//! Journals, and the states that they lead to.

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
