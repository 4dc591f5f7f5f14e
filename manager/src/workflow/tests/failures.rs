//! What an operation leaves that fails.

use super::*;
use crate::workflow::engine::Suspended;
use crate::workflow::engine::watch::Outcome;

/// A create that is given hardly any time.
async fn in_no_time(app: &App) -> Arc<Outcome> {
    let query: WriteQuery = serde_json::from_value(json!({"timeoutMs": 100})).unwrap();
    let request = create(content(&["a", "b"]));
    let handle = app.services.writes.create(request, &query).await.unwrap();
    handle.outcome().await.unwrap()
}

#[tokio::test]
async fn primitives_that_cannot_be_planned_are_told_by_their_place_and_leave_nothing() {
    let bed = bed_for(Write::CreateUnknown).await;
    let app = bed.manager().await;
    let outcome = Write::CreateUnknown
        .start(&app)
        .await
        .unwrap()
        .outcome()
        .await
        .unwrap();
    let error = outcome.operation.error.clone().unwrap();
    assert_eq!(error.code, ErrorCode::UnknownType);
    let place = error.location.unwrap();
    assert_eq!(place.path.as_deref(), Some("$.resources[1]"));
    assert!(place.line.is_some(), "{place:?}");
    assert!(app.services.deployments.get(&web()).await.is_err());
    assert_eq!(bed.deployer.jobs(), []);
}

#[tokio::test]
async fn an_expansion_that_fails_changes_nothing() {
    let bed = bed_for(Write::UpdateBroken).await;
    let app = bed.manager().await;
    let before = app.services.deployments.get(&web()).await.unwrap();
    let outcome = Write::UpdateBroken
        .start(&app)
        .await
        .unwrap()
        .outcome()
        .await
        .unwrap();
    assert_eq!(
        outcome.operation.error.as_ref().map(|error| error.code),
        Some(ErrorCode::TemplateFailed)
    );
    let after = app.services.deployments.get(&web()).await.unwrap();
    assert_eq!(
        (after.fingerprint, after.state, after.latest_manifest),
        (before.fingerprint, before.state, before.latest_manifest)
    );

    let bed = bed_for(Write::CreateBroken).await;
    let app = bed.manager().await;
    let outcome = Write::CreateBroken
        .start(&app)
        .await
        .unwrap()
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.operation.status, OperationStatus::Done);
    assert!(app.services.deployments.get(&web()).await.is_err());
    Write::Create
        .start(&app)
        .await
        .unwrap()
        .outcome()
        .await
        .unwrap();
}

#[tokio::test]
async fn what_an_unreported_apply_may_have_left_is_deleted_with_the_deployment() {
    let bed = TestBed::new();
    let app = bed.manager().await;
    // Away before anything happened, so nothing is recorded; as if the objects had been made all the same.
    bed.deployer.interrupt([const { Interruption::Away }; 4]);
    let outcome = Write::Create
        .start(&app)
        .await
        .unwrap()
        .outcome()
        .await
        .unwrap();
    assert_eq!(
        outcome.operation.error.as_ref().map(|error| error.code),
        Some(ErrorCode::DeployerUnavailable)
    );
    Write::Delete
        .start(&app)
        .await
        .unwrap()
        .outcome()
        .await
        .unwrap();
    let Some(Job::Delete(request)) = bed.deployer.jobs().pop() else {
        panic!("no delete")
    };
    let names: Vec<_> = request
        .unconfirmed
        .iter()
        .map(|resource| resource.name.as_str())
        .collect();
    assert_eq!(names, ["a", "b"]);
}

/// A user without the permissions could not even list what would be left.
#[tokio::test]
async fn of_an_apply_that_was_refused_before_it_touched_anything_nothing_is_looked_for() {
    for (tries, looked_for) in [
        (vec![Interruption::Denied], false),
        // The try before the last one may have got anywhere.
        (vec![Interruption::Away, Interruption::Denied], true),
    ] {
        let bed = TestBed::new();
        let app = bed.manager().await;
        bed.deployer.interrupt(tries);
        let created = Write::Create.finish(&app).await;
        let code = created.operation.error.as_ref().map(|error| error.code);
        assert_eq!(code, Some(ErrorCode::PermissionsMissing));
        let deleted = Write::Delete.finish(&app).await;
        assert_eq!(deleted.operation.error, None);
        let last = bed.deployer.jobs().pop();
        assert_eq!(matches!(last, Some(Job::Delete(_))), looked_for);
    }
}

#[tokio::test]
async fn what_was_seen_before_the_stream_broke_for_good_is_recorded() {
    let bed = TestBed::new();
    let app = bed.manager().await;
    // Each try gets somewhere and breaks off; then nobody is there.
    bed.deployer.interrupt([
        Interruption::BrokenOff,
        Interruption::Away,
        Interruption::Away,
        Interruption::Away,
        Interruption::Away,
    ]);
    let outcome = Write::Create
        .start(&app)
        .await
        .unwrap()
        .outcome()
        .await
        .unwrap();
    assert_eq!(
        outcome.operation.error.as_ref().map(|error| error.code),
        Some(ErrorCode::DeployerUnavailable)
    );
    assert_eq!(
        app.services
            .live
            .resources(&web(), &Default::default(), &Default::default())
            .await
            .unwrap()
            .items
            .len(),
        2
    );
    Write::Update
        .start(&app)
        .await
        .unwrap()
        .outcome()
        .await
        .unwrap();
    let update = bed
        .deployer
        .jobs()
        .into_iter()
        .rev()
        .find_map(|job| match job {
            Job::Update(request) => Some(request),
            Job::Create(_) | Job::Delete(_) => None,
        });
    let request = update.unwrap();
    assert_eq!(request.recorded.len(), 2);
    assert_eq!(bed.deployer.objects(), ["b", "c"]);
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_begun_again() {
    let bed = TestBed::new();
    let app = bed.manager().await;
    bed.deployer
        .interrupt([Interruption::BrokenOff, Interruption::Away]);
    let outcome = Write::Create
        .start(&app)
        .await
        .unwrap()
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.operation.error, None);
    assert_eq!(bed.deployer.jobs().len(), 3);
}

#[tokio::test]
async fn a_deployer_that_stops_reporting_is_a_time_out_and_what_it_did_is_recorded() {
    let bed = TestBed::new();
    let app = bed.manager().await;
    bed.deployer.interrupt([Interruption::Stalls]);
    let outcome = in_no_time(&app).await;
    let error = outcome.operation.error.clone().unwrap();
    assert_eq!(error.code, ErrorCode::Timeout);
    assert!(
        error.message.contains("resourcifier did not report on web"),
        "{}",
        error.message
    );
    let live = app
        .services
        .live
        .resources(&web(), &Default::default(), &Default::default())
        .await;
    assert_eq!(live.unwrap().items.len(), 2);
}

#[tokio::test]
async fn an_expander_that_does_not_answer_is_a_time_out_and_leaves_nothing() {
    let bed = TestBed::new();
    let app = bed.manager().await;
    bed.expander.hang();
    let outcome = in_no_time(&app).await;
    let error = outcome.operation.error.clone().unwrap();
    assert_eq!(error.code, ErrorCode::Timeout);
    assert_eq!(outcome.operation.manifest, None);
    assert!(app.services.deployments.get(&web()).await.is_err());
}

#[tokio::test]
async fn a_disk_that_is_full_for_a_while_delays_an_accepted_write_and_loses_nothing() {
    // The first three make the store and its digests, and accept the operation.
    for commits in 3..8 {
        let bed = TestBed::new();
        let kv = DyingKv::full_after(commits, bed.kv.clone());
        let app = bed.manager_on(kv.clone()).await;
        let handle = Write::Create.start(&app).await.unwrap();
        // A waiting caller gets the reason. It does not wait until somebody makes room.
        let error = handle.outcome().await.unwrap_err();
        assert!(error.to_string().contains("disk is full"), "{error}");
        kv.revive();
        let outcome = loop {
            match handle.outcome().await {
                Err(Suspended::Stuck(_)) => tokio::task::yield_now().await,
                ended => break ended.unwrap(),
            }
        };
        assert_eq!(outcome.operation.error, None, "{commits} commits");
        assert_eq!(bed.deployer.objects(), ["a", "b"]);
    }
}

#[tokio::test]
async fn what_an_unreported_apply_may_have_left_is_deleted_by_the_next_update_that_succeeds() {
    let bed = TestBed::new();
    let app = bed.manager().await;
    // The connection broke before any event, as if the objects had been made anyway.
    bed.deployer.interrupt([const { Interruption::Away }; 4]);
    Write::Create.finish(&app).await;
    let updated = Write::Update.finish(&app).await;
    assert_eq!(updated.operation.error, None);
    let Some(Job::Delete(request)) = bed.deployer.jobs().pop() else {
        panic!("no delete")
    };
    let names = request
        .unconfirmed
        .iter()
        .map(|resource| resource.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["a", "b"]);
    // What the update itself has applied or pruned is not a leftover.
    let kept = request.kept.iter().map(|object| object.name.as_str());
    assert_eq!(kept.collect::<Vec<_>>(), ["b", "c"]);
    Write::Update.finish(&app).await;
    assert!(matches!(bed.deployer.jobs().pop(), Some(Job::Update(_))));
}

#[tokio::test]
async fn a_preview_that_cannot_be_made_leaves_nothing() {
    let bed = bed_for(Write::UpdatePreview).await;
    let app = bed.manager().await;
    let before = bed.keys().await;
    bed.deployer.interrupt([const { Interruption::Away }; 4]);
    let outcome = Write::UpdatePreview.finish(&app).await;
    let error = outcome.operation.error.clone().unwrap();
    assert_eq!(error.code, ErrorCode::DeployerUnavailable);
    assert_eq!(outcome.operation.manifest, None);
    let kept = ["operation", "journal"];
    let new = bed
        .keys()
        .await
        .into_iter()
        .filter(|key| !before.contains(key));
    let new: Vec<_> = new
        .filter(|key| !kept.iter().any(|kept| key.starts_with(kept)))
        .collect();
    assert_eq!(new, [""; 0]);
}

#[tokio::test]
async fn an_operation_that_could_not_be_expanded_names_no_manifest() {
    let bed = bed_for(Write::UpdateBroken).await;
    let app = bed.manager().await;
    let outcome = Write::UpdateBroken.finish(&app).await;
    assert_eq!(outcome.operation.manifest, None);
    let outcome = Write::Update.finish(&app).await;
    let deployment = app.services.deployments.get(&web()).await.unwrap();
    assert_eq!(outcome.operation.manifest, deployment.latest_manifest);
}

/// The kind of a leftover went with its definition: its objects are gone, and the update is none of that kind.
#[tokio::test]
async fn a_leftover_whose_kind_is_served_no_more_does_not_hold_an_update_back() {
    let bed = TestBed::new();
    let app = bed.manager().await;
    bed.deployer.interrupt([const { Interruption::Away }; 4]);
    Write::Create.finish(&app).await;
    // As if the resource had had a kind at the time of the check that passed.
    bed.deployer.forget_kind_of("a");
    let updated = Write::Update.finish(&app).await;
    assert_eq!(updated.operation.error, None);
    assert_eq!(bed.deployer.objects(), ["b", "c"]);
}

/// The next check finds the drift again: a status `Failed` would end the checks.
#[tokio::test]
async fn a_correction_that_fails_leaves_the_deployment_deployed_with_the_error() {
    let bed = bed_for(Write::Correct).await;
    let app = bed.manager().await;
    bed.deployer.interrupt([const { Interruption::Away }; 4]);
    let corrected = Write::Correct.finish(&app).await;
    assert!(corrected.operation.error.is_some());
    let failed = app.services.deployments.get(&web()).await.unwrap();
    assert_eq!(failed.state.status, DeploymentStatus::Deployed);
    assert_eq!(failed.state.errors, ["resourcifier cannot be reached"]);
    let again = Write::Correct.finish(&app).await;
    assert_eq!(again.operation.error, None);
    let healed = app.services.deployments.get(&web()).await.unwrap();
    assert_eq!(healed.state.errors, [""; 0]);
}
