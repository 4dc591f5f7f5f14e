//! The state machine under any sequence of events.

use std::time::Duration;

use common::api::error::ErrorCode;
use proptest::prelude::*;
use serde_json::json;
use tokio::time::Instant;

use super::*;
use crate::apply::object::claim::Claim;

/// A custom object is ready by its own conditions.
fn live(uid: u8, version: u8, ready: &str) -> Value {
    json!({
        "apiVersion": "example.org/v1", "kind": "Thing",
        "metadata": {"name": "x", "uid": format!("u{uid}"), "resourceVersion": version.to_string()},
        "status": {"conditions": [{"type": "Ready", "status": ready, "reason": "Because"}]},
    })
}

fn a_live() -> impl Strategy<Value = Value> {
    let ready = prop::sample::select(vec!["True", "False", "Unknown"]);
    (0u8..3, 0u8..9, ready).prop_map(|(uid, version, ready)| live(uid, version, ready))
}

fn a_verdict() -> impl Strategy<Value = Readiness> {
    prop_oneof![
        Just(Readiness::Ready),
        Just(Readiness::Waiting("it waits".to_owned())),
        Just(Readiness::Failed("it cannot start".to_owned())),
    ]
}

fn a_reading() -> impl Strategy<Value = Reading> {
    let claim = prop::sample::select(vec![Claim::Create, Claim::Update, Claim::Acquire]);
    let unchanged = prop::option::of(a_verdict());
    (prop::option::of(a_live()), claim, any::<bool>(), unchanged).prop_map(
        |(before, claim, was_there, unchanged)| Reading {
            unchanged: unchanged.filter(|_| before.is_some()),
            before,
            claim,
            was_there,
            way: Way::Apply,
            at: Instant::now(),
        },
    )
}

fn an_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => a_reading().prop_map(Event::Read),
        1 => Just(Event::Outdated),
        1 => Just(Event::LostRace),
        1 => Just(Event::Deleted),
        1 => prop::option::of(0usize..3).prop_map(|on| Event::Waits { reason: "it waits".to_owned(), on }),
        2 => Just(Event::Unchanged),
        2 => a_live().prop_map(Event::Written),
        2 => a_live().prop_map(Event::Observed),
        1 => a_verdict().prop_map(Event::Judged),
        1 => Just(Event::Failed(Failure::new(ErrorCode::Timeout, "it is late"))),
        1 => Just(Event::Skipped("it depends on another".to_owned())),
    ]
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(an_event(), 0..24)
}

fn is_end(phase: &Phase) -> bool {
    matches!(phase, Phase::Failed { .. } | Phase::Skipped { .. })
}

/// How far a phase is on the way, which leads one way only.
fn distance(phase: &Phase) -> usize {
    match phase {
        Phase::Pending(_) => 0,
        Phase::Applied { .. } => 1,
        Phase::Ready { .. } => 2,
        Phase::Failed { .. } | Phase::Skipped { .. } => 3,
    }
}

/// The last phase without anything written.
fn unwritten_after(events: Vec<Event>) -> Phase {
    let mut phase = Phase::default();
    for event in events {
        let next = phase.clone().after(event);
        if next.action().is_some() {
            break;
        }
        phase = next;
    }
    phase
}

proptest! {
    #[test]
    fn a_resource_never_goes_back(events in events()) {
        let mut phase = Phase::default();
        for event in events {
            let before = distance(&phase);
            phase = phase.after(event);
            prop_assert!(before <= distance(&phase), "{phase:?}");
        }
    }

    #[test]
    fn an_end_is_final(events in events()) {
        let mut end: Option<(ResourceState, Option<Failure>)> = None;
        let mut phase = Phase::default();
        for event in events {
            phase = phase.after(event);
            let now = (phase.state(), phase.failure().cloned());
            if let Some(end) = &end {
                prop_assert_eq!(end, &now);
            }
            end = end.or_else(|| is_end(&phase).then_some(now));
        }
    }

    #[test]
    fn what_was_written_is_on_record_whatever_comes_before_and_after(
        before in events(), written in a_live(), after in events()
    ) {
        let uid = change::uid(&written).map(str::to_owned);
        let mut phase = unwritten_after(before).after(Event::Written(written));
        for event in after.into_iter().filter(|event| !matches!(event, Event::Written(_))) {
            prop_assert_eq!(phase.uid_on_record(), uid.clone());
            phase = phase.after(event);
        }
        prop_assert_eq!(phase.uid_on_record(), uid.clone());
    }

    #[test]
    fn a_report_has_an_error_if_and_only_if_it_failed(events in events()) {
        let phase = events.into_iter().fold(Phase::default(), Phase::after);
        prop_assert_eq!(phase.failure().is_some(), phase.state() == ResourceState::Failed);
        let in_cluster = matches!(phase.state(), ResourceState::Applied | ResourceState::Ready);
        prop_assert!(!in_cluster || phase.action().is_some());
    }

    #[test]
    fn an_object_that_was_there_or_was_deleted_stays_so_over_every_reading(events in events()) {
        let mut phase = Phase::default();
        for event in events {
            let before = phase.pending().map(|one| (one.was_there(), one.was_deleted()));
            phase = phase.after(event);
            if let (Some(before), Some(now)) = (before, phase.pending()) {
                prop_assert!(now.was_there() >= before.0 && now.was_deleted() >= before.1);
            }
        }
    }
}

fn read(unchanged: Option<Readiness>) -> Phase {
    Phase::default().after(Event::Read(Reading {
        before: Some(live(1, 1, "False")),
        claim: Claim::Update,
        was_there: false,
        way: Way::Apply,
        unchanged,
        at: Instant::now(),
    }))
}

#[test]
fn an_object_that_is_as_it_should_be_counts_as_applied_unchanged() {
    let phase = read(Some(Readiness::Ready)).after(Event::Unchanged);
    assert_eq!(phase.state(), ResourceState::Ready);
    assert_eq!(phase.action(), Some(Action::Unchanged));
}

#[test]
fn an_object_that_was_written_is_created_configured_or_unchanged_by_its_uid_and_version() {
    let action = |uid, version| {
        read(None)
            .after(Event::Written(live(uid, version, "False")))
            .action()
    };
    assert_eq!(action(1, 1), Some(Action::Unchanged));
    assert_eq!(action(1, 2), Some(Action::Unchanged));
    assert_eq!(action(2, 2), Some(Action::Created));
    let changed = |mut live: Value| {
        live["spec"] = json!(1);
        live
    };
    let configured = read(None).after(Event::Written(changed(live(1, 2, "False"))));
    assert_eq!(configured.action(), Some(Action::Configured));
}

#[test]
fn only_an_object_that_cannot_become_ready_is_unwell() {
    let applied = || read(None).after(Event::Written(live(1, 2, "False")));
    let judged = applied().after(Event::Judged(Readiness::Failed("no image".to_owned())));
    assert!(judged.is_unwell());
    let late = applied().after(Event::Failed(Failure::new(ErrorCode::Timeout, "late")));
    assert!(!late.is_unwell());
}

#[test]
fn a_cause_is_added_once() {
    let cause = || Causes {
        summary: Some("pod x: no image".to_owned()),
        details: Vec::new(),
    };
    let failed = read(None).after(Event::Failed(Failure::of_resource("it is not ready")));
    let explained = failed
        .after(Event::Explained(cause()))
        .after(Event::Explained(cause()));
    let failure = explained.failure().unwrap();
    assert_eq!(failure.reason, "it is not ready; pod x: no image");
}

#[test]
fn a_reading_that_is_old_is_read_again_before_it_counts() {
    let phase = read(Some(Readiness::Ready));
    let pending = phase.pending().unwrap();
    let read_at = pending.reading().unwrap().at;
    let after = |seconds| pending.next(read_at + Duration::from_secs(seconds));
    assert_eq!(after(5), Next::Nothing);
    assert_eq!(after(6), Next::Read);
}
