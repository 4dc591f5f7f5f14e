//! Operations that are stopped: wherever they are, and through a crash.

use common::model::OperationId;

use futures::poll;
use tokio::time::{Duration, Instant};

use super::*;
use crate::deployer::fake::Slow;
use crate::service::operations::Watch;
use crate::store::Store;
use crate::store::operations::{StopWish, wish_stop};
use crate::workflow::Capacity;

/// A lease whose end is waited for. All that comes before takes moments, also on a busy machine.
const SHORT: Duration = Duration::from_secs(2);

async fn applying(app: &App, id: &OperationId) {
    loop {
        if let Ok(Watch::Live(handle)) = app.services.operations.watch(id).await
            && handle.watch().operation().progress.step == "applying"
        {
            return;
        }
        tokio::task::yield_now().await;
    }
}

fn error_of(outcome: &crate::workflow::engine::watch::Outcome) -> Option<ErrorCode> {
    outcome.operation.error.as_ref().map(|error| error.code)
}

#[tokio::test]
async fn a_stop_that_was_answered_holds_though_the_manager_dies_at_once() {
    let bed = bed_for(Write::Update).await;
    let gate = bed.deployer.hold();
    let first = bed.manager().await;
    let handle = Write::Update.start(&first).await.unwrap();
    let id = handle.watch().operation().id.clone();
    applying(&first, &id).await;
    let store = Store::open(bed.kv.clone()).await.unwrap();
    let wish = StopWish {
        user: "somebody".to_owned(),
    };
    assert!(wish_stop(&store, &id, &wish).await.unwrap());
    first.engine.suspend().await;

    gate.add_permits(8);
    let jobs = bed.deployer.jobs().len();
    let second = bed.manager().await;
    second.engine.recover().await.unwrap();
    let outcome = second.engine.handle(&id).unwrap().outcome().await.unwrap();
    assert_eq!(error_of(&outcome), Some(ErrorCode::OperationStopped));
    assert_eq!(bed.deployer.jobs().len(), jobs);
    let deployment = second.services.deployments.get(&web()).await.unwrap();
    assert_eq!(deployment.state.status, DeploymentStatus::Failed);
    assert!(!bed.keys().await.iter().any(|key| key.starts_with("stop·")));
    assert!(!wish_stop(&store, &id, &wish).await.unwrap());
}

#[tokio::test]
async fn what_a_stopped_apply_was_seen_to_do_is_recorded_and_gone_on_from() {
    let bed = TestBed::new();
    let app = bed.manager().await;
    bed.deployer.interrupt([Interruption::Stalls]);
    let handle = Write::Create.start(&app).await.unwrap();
    let id = handle.watch().operation().id.clone();
    while handle.watch().operation().progress.done < 2 {
        tokio::task::yield_now().await;
    }
    app.services
        .operations
        .cancel(&id, &Default::default())
        .await
        .unwrap();
    let outcome = handle.outcome().await.unwrap();
    assert_eq!(error_of(&outcome), Some(ErrorCode::OperationStopped));
    let update = Write::Update.finish(&app).await;
    assert_eq!(update.operation.error, None);
    let jobs = bed.deployer.jobs();
    let updates = jobs.iter().filter_map(|job| match job {
        Job::Update(request) => Some(request.recorded.len()),
        Job::Create(_) | Job::Delete(_) => None,
    });
    assert_eq!(updates.collect::<Vec<_>>(), [2]);
    assert_eq!(bed.deployer.objects(), ["b", "c"]);
}

#[tokio::test]
async fn an_operation_that_waits_for_its_turn_is_cancelled_without_ever_beginning() {
    let bed = TestBed::new();
    let app = bed.manager().await;
    let _gate = bed.deployer.hold();
    let mut handles = Vec::new();
    for number in 0..=Capacity::default().at_once.get() {
        let mut request = create(content(&["a"]));
        request.name = DeploymentName::parse(format!("web-{number}")).unwrap();
        let query = WriteQuery::default();
        handles.push(app.services.writes.create(request, &query).await.unwrap());
    }
    let last = handles.pop().unwrap();
    for handle in &handles {
        applying(&app, &handle.watch().operation().id).await;
    }
    let id = last.watch().operation().id.clone();
    assert_eq!(last.watch().operation().status, OperationStatus::Pending);
    app.services
        .operations
        .cancel(&id, &Default::default())
        .await
        .unwrap();
    let outcome = last.outcome().await.unwrap();
    assert_eq!(error_of(&outcome), Some(ErrorCode::OperationStopped));
    assert_eq!(bed.expander.requests().len(), handles.len());
    let name = &outcome.operation.deployment;
    assert!(app.services.deployments.get(name).await.is_err());
}

#[tokio::test]
async fn operations_run_in_their_order_and_of_too_many_that_wait_further_ones_are_refused() {
    let mut bed = TestBed::new();
    bed.capacity = Capacity {
        at_once: std::num::NonZeroUsize::MIN,
        waiting: 2,
    };
    let app = bed.manager().await;
    let gate = bed.deployer.hold();
    let query = WriteQuery::default();
    let request = |name: &str| {
        let mut request = create(content(&["a"]));
        request.name = DeploymentName::parse(name).unwrap();
        request
    };
    let mut handles = Vec::new();
    for name in ["one", "two", "three"] {
        let handle = app.services.writes.create(request(name), &query).await;
        handles.push(handle.unwrap());
    }
    let refused = app.services.writes.create(request("four"), &query).await;
    let Err(Error::Refused(refused)) = refused else {
        panic!("it is accepted")
    };
    assert_eq!(refused.code, ErrorCode::Unavailable);
    applying(&app, &handles[0].watch().operation().id).await;
    let pending =
        |handle: &OperationHandle| handle.watch().operation().status == OperationStatus::Pending;
    assert!(handles[1..].iter().all(pending));
    gate.add_permits(8);
    let mut ends = Vec::new();
    for handle in &handles {
        let outcome = handle.outcome().await.unwrap();
        assert_eq!(error_of(&outcome), None);
        ends.push(outcome.operation.end_time);
    }
    assert!(ends.is_sorted(), "{ends:?}");
    let accepted = app.services.writes.create(request("four"), &query).await;
    assert_eq!(error_of(&accepted.unwrap().outcome().await.unwrap()), None);
}

#[tokio::test]
async fn a_stop_undoes_nothing_though_a_failure_would_have() {
    let bed = bed_for(Write::UpdateBack).await;
    let app = bed.manager().await;
    let _gate = bed.deployer.hold();
    let handle = Write::UpdateBack.start(&app).await.unwrap();
    let id = handle.watch().operation().id.clone();
    applying(&app, &id).await;
    app.services
        .operations
        .cancel(&id, &Default::default())
        .await
        .unwrap();
    let outcome = handle.outcome().await.unwrap();
    assert_eq!(error_of(&outcome), Some(ErrorCode::OperationStopped));
    assert_eq!(outcome.operation.rollback, None);
}

#[tokio::test]
async fn the_way_back_can_be_stopped_too_and_both_are_told() {
    let bed = bed_for(Write::UpdateBack).await;
    let app = bed.manager().await;
    let gate = bed.deployer.hold();
    let handle = Write::UpdateBack.start(&app).await.unwrap();
    let id = handle.watch().operation().id.clone();
    applying(&app, &id).await;
    gate.add_permits(1);
    while handle.watch().operation().rollback.is_none() {
        tokio::task::yield_now().await;
    }
    applying(&app, &id).await;
    app.services
        .operations
        .cancel(&id, &Default::default())
        .await
        .unwrap();
    let outcome = handle.outcome().await.unwrap();
    assert_eq!(error_of(&outcome), Some(ErrorCode::ResourcesFailed));
    let rollback = outcome.operation.rollback.clone().unwrap();
    let stopped = rollback.error.map(|error| error.code);
    assert_eq!(stopped, Some(ErrorCode::OperationStopped));
    let deployment = app.services.deployments.get(&web()).await.unwrap();
    assert_eq!(deployment.state.status, DeploymentStatus::Failed);
}

/// A create of a and b whose write of a is on its way; then the operation is to be stopped.
async fn stopped_while_writing(bed: &TestBed, app: &App) -> (Arc<Slow>, OperationHandle) {
    let slow = Slow::new();
    bed.deployer.interrupt([Interruption::Slow(slow.clone())]);
    let handle = Write::Create.start(app).await.unwrap();
    slow.sent(1).await;
    let id = handle.watch().operation().id.clone();
    let operations = &app.services.operations;
    operations.cancel(&id, &Default::default()).await.unwrap();
    (slow, handle)
}

async fn recorded(bed: &TestBed) -> Vec<String> {
    let store = Store::open(bed.kv.clone()).await.unwrap();
    let objects = crate::store::deployments::objects(&store, &web()).await;
    let recorded = objects.unwrap().recorded.into_iter();
    recorded.map(|object| object.object.name).collect()
}

#[tokio::test]
async fn a_stop_ends_when_the_write_that_is_on_its_way_is_answered_and_records_it() {
    let mut bed = TestBed::new();
    (bed.lease, bed.grace) = (Duration::from_secs(60), Duration::from_secs(60));
    let app = bed.manager().await;
    let (slow, handle) = stopped_while_writing(&bed, &app).await;
    while handle.watch().operation().progress.step != "stopping" {
        tokio::task::yield_now().await;
    }
    let mut outcome = Box::pin(handle.outcome());
    for _ in 0..100 {
        assert!(poll!(outcome.as_mut()).is_pending());
        tokio::task::yield_now().await;
    }
    slow.answers.add_permits(10);
    let outcome = outcome.await.unwrap();
    assert_eq!(error_of(&outcome), Some(ErrorCode::OperationStopped));
    slow.ended().await;
    assert_eq!(slow.written(), ["a"]);
    assert_eq!(recorded(&bed).await, ["a"]);
}

#[tokio::test]
async fn the_deployment_of_a_job_that_nobody_can_stop_is_free_when_its_time_to_write_is_over() {
    let mut bed = TestBed::new();
    bed.lease = SHORT;
    let app = bed.manager().await;
    let (slow, handle) = stopped_while_writing(&bed, &app).await;
    slow.go_away();
    let outcome = handle.outcome().await.unwrap();
    assert_eq!(error_of(&outcome), Some(ErrorCode::OperationStopped));
    assert!(slow.until().unwrap() <= Instant::now());
    let written = slow.written();
    slow.answers.add_permits(10);
    slow.ended().await;
    assert_eq!(slow.written(), written);
}

#[tokio::test]
async fn an_operation_that_fails_since_the_deployer_is_away_ends_when_its_job_can_write_no_more() {
    let mut bed = TestBed::new();
    bed.lease = SHORT;
    let app = bed.manager().await;
    let slow = Slow::new();
    bed.deployer.interrupt([Interruption::Slow(slow.clone())]);
    bed.deployer.interrupt([const { Interruption::Away }; 4]);
    let handle = Write::Create.start(&app).await.unwrap();
    slow.sent(1).await;
    slow.go_away();
    let outcome = handle.outcome().await.unwrap();
    assert_eq!(error_of(&outcome), Some(ErrorCode::DeployerUnavailable));
    assert!(slow.until().unwrap() <= Instant::now());
    slow.answers.add_permits(10);
    slow.ended().await;
    assert_eq!(slow.written(), [""; 0]);
}

/// The instance that goes on does not know of the attempt at the other one, and cannot end it.
#[tokio::test]
async fn an_operation_that_another_instance_completes_ends_when_the_first_can_write_no_more() {
    let mut bed = TestBed::new();
    bed.lease = SHORT;
    bed.deployer.multiply();
    let app = bed.manager().await;
    let slow = Slow::new();
    bed.deployer.interrupt([Interruption::Slow(slow.clone())]);
    let handle = Write::Create.start(&app).await.unwrap();
    slow.sent(1).await;
    slow.go_away();
    let outcome = handle.outcome().await.unwrap();
    assert_eq!(error_of(&outcome), None);
    assert!(slow.until().unwrap() <= Instant::now());
    slow.answers.add_permits(10);
    slow.ended().await;
    assert_eq!(slow.written(), [""; 0]);
}

/// What the manager that died had begun may go on until its last sign of life is old enough.
#[tokio::test]
async fn a_manager_that_is_started_again_waits_for_the_job_of_the_one_before_when_it_stops() {
    let mut bed = TestBed::new();
    bed.lease = SHORT;
    let first = bed.manager().await;
    let (slow, handle) = stopped_while_writing(&bed, &first).await;
    let id = handle.watch().operation().id.clone();
    slow.go_away();
    first.engine.suspend().await;
    let second = bed.manager().await;
    second.engine.recover().await.unwrap();
    let outcome = second.engine.handle(&id).unwrap().outcome().await.unwrap();
    assert_eq!(error_of(&outcome), Some(ErrorCode::OperationStopped));
    assert!(slow.until().unwrap() <= Instant::now());
    slow.answers.add_permits(10);
    slow.ended().await;
    assert_eq!(slow.written(), [""; 0]);
}

/// The lease is longer than any test waits.
#[tokio::test]
async fn a_stop_after_a_restart_ends_when_the_deployer_confirms_the_end_of_the_earlier_job() {
    let mut bed = TestBed::new();
    bed.lease = Duration::from_secs(3_600);
    let first = bed.manager().await;
    let (slow, handle) = stopped_while_writing(&bed, &first).await;
    let id = handle.watch().operation().id.clone();
    first.engine.suspend().await;
    slow.answers.add_permits(10);
    let second = bed.manager().await;
    second.engine.recover().await.unwrap();
    let outcome = second.engine.handle(&id).unwrap().outcome().await.unwrap();
    assert_eq!(error_of(&outcome), Some(ErrorCode::OperationStopped));
    let written = slow.written();
    slow.ended().await;
    assert_eq!(slow.written(), written);
}

/// The answer to the first attempt broke off while its write was on its way, so the step has two attempts.
#[tokio::test]
async fn a_stop_after_a_restart_ends_when_every_attempt_of_the_earlier_job_is_confirmed() {
    let mut bed = TestBed::new();
    bed.lease = Duration::from_secs(3_600);
    let first = bed.manager().await;
    let slow = Slow::new();
    let attempts = [(); 2].map(|()| Interruption::Slow(slow.clone()));
    bed.deployer.interrupt(attempts);
    let handle = Write::Create.start(&first).await.unwrap();
    slow.sent(1).await;
    slow.break_off();
    slow.sent(2).await;
    let id = handle.watch().operation().id.clone();
    let operations = &first.services.operations;
    operations.cancel(&id, &Default::default()).await.unwrap();
    first.engine.suspend().await;
    slow.answers.add_permits(10);
    let second = bed.manager().await;
    second.engine.recover().await.unwrap();
    let outcome = second.engine.handle(&id).unwrap().outcome().await.unwrap();
    assert_eq!(error_of(&outcome), Some(ErrorCode::OperationStopped));
    let jobs = bed.deployer.jobs();
    let attempts: Vec<_> = jobs
        .iter()
        .map(|job| job.fence().unwrap().attempt)
        .collect();
    assert_eq!(attempts, [0, 1]);
    let written = slow.written();
    slow.ended().await;
    assert_eq!(slow.written(), written);
}

#[tokio::test]
async fn each_job_of_an_operation_has_a_fence_and_who_goes_on_with_it_a_higher_one() {
    let bed = TestBed::new();
    let first = bed.manager().await;
    bed.deployer
        .interrupt([Interruption::Away, Interruption::Stalls]);
    let handle = Write::Create.start(&first).await.unwrap();
    while bed.deployer.jobs().len() < 2 {
        tokio::task::yield_now().await;
    }
    let id = handle.watch().operation().id.clone();
    first.engine.suspend().await;
    let second = bed.manager().await;
    second.engine.recover().await.unwrap();
    second.engine.handle(&id).unwrap().outcome().await.unwrap();
    Write::Update.finish(&second).await;
    let jobs = bed.deployer.jobs();
    let fences: Vec<_> = jobs
        .iter()
        .map(|job| job.fence().cloned().unwrap())
        .collect();
    let attempts: Vec<_> = fences.iter().map(|fence| fence.attempt).collect();
    assert_eq!(attempts, [0, 1, 0, 0]);
    assert_eq!(fences[0].number, fences[1].number);
    assert!(fences[1].number < fences[2].number && fences[2].number < fences[3].number);
    assert!(fences.iter().all(|fence| fence.store == fences[0].store));
}
