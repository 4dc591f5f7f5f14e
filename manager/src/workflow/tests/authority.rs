//! In whose name operations reach the cluster, and what becomes of those whose caller may no longer.

use common::model::{Deployment, DriftPolicy, Identity};
use tempfile::TempDir;

use super::*;
use crate::auth::Caller;
use crate::service::writes::asked::Asked;
use crate::workflow::engine::watch::Outcome;

const EDIT: &str = "bindings: [{role: edit, users: [ann, bob], namespaces: [default]}, {role: admin, users: [ada], namespaces: ['*']}]";
const VIEW: &str = "bindings: [{role: view, users: [ann, bob], namespaces: [default]}]";

/// A bed whose policy can be rewritten between managers.
struct Ruled {
    bed: TestBed,
    files: TempDir,
}

impl Ruled {
    fn new() -> Self {
        let (mut bed, files) = (TestBed::new(), tempfile::tempdir().unwrap());
        std::fs::write(files.path().join("tokens"), "tokens: []").unwrap();
        bed.auth.auth_tokens = Some(files.path().join("tokens"));
        bed.auth.auth_policy = Some(files.path().join("policy"));
        let ruled = Self { bed, files };
        ruled.say(EDIT);
        ruled
    }

    /// For managers that begin after this.
    fn say(&self, policy: &str) {
        std::fs::write(self.files.path().join("policy"), policy).unwrap();
    }
}

fn person(name: &str) -> Identity {
    serde_json::from_value(json!({"user": name, "groups": ["team"], "extra": {"k": ["v"]}}))
        .unwrap()
}

fn by(name: &str) -> Asked {
    Asked {
        caller: Caller::new(Some(person(name))),
        ..Asked::default()
    }
}

fn change(names: &[&str]) -> UpdateDeployment {
    UpdateDeployment {
        content: Some(content(names)),
        ..UpdateDeployment::default()
    }
}

async fn made(app: &App, who: &str) -> Deployment {
    let handle = app
        .services
        .writes
        .create(create(content(&["a"])), by(who))
        .await;
    ended(&handle.unwrap()).await.deployment.clone().unwrap()
}

async fn ended(handle: &OperationHandle) -> Arc<Outcome> {
    handle.outcome().await.unwrap()
}

/// In whose names the deployer was asked to write, in turn.
fn written_as(bed: &TestBed) -> Vec<String> {
    let names = bed.deployer.jobs().into_iter().map(|job| match job {
        Job::Create(request) | Job::Update(request) => request.on_behalf_of.clone(),
        Job::Delete(request) => request.on_behalf_of.clone(),
    });
    names
        .map(|identity| identity.map_or("nobody".to_owned(), |one| one.user().to_owned()))
        .collect()
}

fn refusal<T>(outcome: Result<T, Error>) -> (ErrorCode, String) {
    match outcome.err() {
        Some(Error::Refused(body)) => (body.code, body.message),
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn every_write_reaches_the_cluster_in_the_name_of_who_asked() {
    let ruled = Ruled::new();
    let app = ruled.bed.manager().await;
    let writes = &app.services.writes;
    made(&app, "ann").await;
    ended(
        &writes
            .update(web(), change(&["a", "b"]), by("bob"))
            .await
            .unwrap(),
    )
    .await;
    ended(&writes.delete(web(), by("ann")).await.unwrap()).await;
    assert_eq!(written_as(&ruled.bed), ["ann", "bob", "ann"]);
    let jobs = ruled.bed.deployer.jobs();
    let Job::Create(request) = &jobs[0] else {
        panic!("{jobs:?}")
    };
    assert_eq!(request.on_behalf_of, Some(person("ann")));
    let keys = ruled.bed.keys().await;
    assert!(
        !keys.iter().any(|key| key.starts_with("writer")),
        "{keys:?}"
    );
}

#[tokio::test]
async fn an_operation_tells_who_asked_and_nothing_else_of_them() {
    let ruled = Ruled::new();
    let app = ruled.bed.manager().await;
    let id = made(&app, "ann").await.operation.unwrap();
    let operation = app.services.operations.get(&id).await.unwrap();
    assert_eq!(operation.user, "ann");
    let shown = serde_json::to_string(&operation).unwrap();
    assert!(!shown.contains("team"), "{shown}");
}

#[tokio::test]
async fn an_operation_that_is_gone_on_with_is_refused_where_its_caller_may_no_longer() {
    let mut refused = 0;
    for commits in 1..12 {
        let ruled = Ruled::new();
        made(&ruled.bed.manager().await, "ann").await;
        let jobs = ruled.bed.deployer.jobs().len();
        let dying = DyingKv::after(commits, ruled.bed.kv.clone());
        let first = ruled.bed.manager_on(dying.clone()).await;
        let handle = first
            .services
            .writes
            .update(web(), change(&["a", "b"]), by("ann"))
            .await;
        let Ok(handle) = handle else { continue };
        let id = handle.watch().operation().id.clone();
        tokio::select! {
            () = dying.death() => {}
            _ = handle.outcome() => break,
        }
        // Until then it may try again, as it still may.
        first.engine.suspend().await;
        let suspended = ruled.bed.deployer.jobs().len();
        let begun = suspended > jobs;

        ruled.say(VIEW);
        let second = ruled.bed.manager().await;
        second.engine.recover().await.unwrap();
        let outcome = ended(&second.engine.handle(&id).unwrap()).await;
        let error = outcome.operation.error.clone();
        // A complete apply is reported as it is. Nothing more is done.
        if begun && error.is_none() {
            continue;
        }
        let error = error.unwrap();
        assert_eq!(error.code, ErrorCode::Forbidden, "after {commits} commits");
        assert!(
            error
                .message
                .contains("user 'ann' may not update deployments 'web'"),
            "{}",
            error.message
        );
        let more = ruled.bed.deployer.jobs().len() - suspended;
        assert_eq!(more, 0, "after {commits} commits");
        refused += 1;
    }
    assert!(refused >= 4, "{refused}");
}

/// `web` of Ann's, applied in the name of service account `robot`, which only she may use.
async fn with_account(ruled: &Ruled, app: &App) {
    let may = &[("impersonate", "serviceaccounts")];
    ruled.bed.deployer.grant("ann", Some("default"), may);
    ruled.bed.deployer.grant("bob", None, &[]);
    let mut request = create(content(&["a"]));
    request.service_account = Some("robot".parse().unwrap());
    let handle = app.services.writes.create(request, by("ann")).await;
    ended(&handle.unwrap()).await;
}

#[tokio::test]
async fn who_writes_with_a_service_account_must_be_allowed_to_use_it() {
    let ruled = Ruled::new();
    let app = ruled.bed.manager().await;
    let writes = &app.services.writes;
    with_account(&ruled, &app).await;
    let robot = "system:serviceaccount:default:robot";
    assert_eq!(written_as(&ruled.bed), [robot]);

    // Bob may edit the deployment, and would gain what the account may do.
    let (code, message) = refusal(writes.update(web(), change(&["a", "b"]), by("bob")).await);
    assert_eq!(code, ErrorCode::Forbidden);
    assert!(
        message.contains("may not use service account 'robot'"),
        "{message}"
    );
    refusal(writes.delete(web(), by("bob")).await);
    let mut preview = by("bob");
    preview.query.preview = true;
    refusal(writes.update(web(), change(&["a"]), preview).await);
    let mut choice = change(&["a"]);
    choice.service_account = Some(Some("other".parse().unwrap()));
    let previewing = || Asked {
        query: WriteQuery {
            preview: true,
            ..WriteQuery::default()
        },
        ..by("bob")
    };
    refusal(writes.update(web(), choice.clone(), previewing()).await);
    refusal(
        writes
            .update(web(), change(&["a", "b"]), previewing())
            .await,
    );
    refusal(writes.update(web(), choice, by("bob")).await);
    let (query, bob) = (Default::default(), by("bob").caller);
    let diff = app
        .services
        .previews
        .diff(web(), change(&["b"]), &query, &bob);
    refusal(diff.await);
    assert_eq!(written_as(&ruled.bed), [robot]);

    // Without it he writes in his own name.
    let mut own = change(&["a", "b"]);
    own.service_account = Some(None);
    let previewed = writes.update(web(), own.clone(), previewing()).await;
    let outcome = ended(&previewed.unwrap()).await;
    assert_eq!(outcome.operation.error, None);
    let outcome = ended(&writes.update(web(), own, by("bob")).await.unwrap()).await;
    assert_eq!(outcome.deployment.as_ref().unwrap().service_account, None);
    assert_eq!(written_as(&ruled.bed), [robot, "bob"]);
}

#[tokio::test]
async fn a_correction_is_made_in_the_name_of_the_last_writer_while_they_may() {
    for (policy, corrected) in [(EDIT, true), (VIEW, false)] {
        let ruled = Ruled::new();
        let app = ruled.bed.manager().await;
        let mut request = create(content(&["a"]));
        request.drift_policy = DriftPolicy::Correct;
        let handle = app
            .services
            .writes
            .create(request, by("ann"))
            .await
            .unwrap();
        ended(&handle).await;
        let mut change = change(&["a", "b"]);
        change.drift_policy = Some(DriftPolicy::Correct);
        ended(
            &app.services
                .writes
                .update(web(), change, by("bob"))
                .await
                .unwrap(),
        )
        .await;
        app.engine.suspend().await;

        ruled.say(policy);
        let app = ruled.bed.manager().await;
        ruled.bed.deployer.lose("a");
        assert_eq!(
            app.services.drift.round().await.unwrap(),
            usize::from(corrected)
        );
        let found = app.services.deployments.get(&web()).await.unwrap();
        let handle = app.engine.handle(found.operation.as_ref().unwrap());
        match corrected {
            true => {
                let outcome = ended(&handle.unwrap()).await;
                assert_eq!(outcome.operation.user, "manager");
                assert_eq!(written_as(&ruled.bed), ["ann", "bob", "bob"]);
            }
            false => assert_eq!(written_as(&ruled.bed), ["ann", "bob"]),
        }
    }
}

#[tokio::test]
async fn what_was_written_before_callers_were_told_apart_is_corrected_for_nobody() {
    let mut ruled = Ruled::new();
    let auth = std::mem::take(&mut ruled.bed.auth);
    let app = ruled.bed.manager().await;
    let mut request = create(content(&["a"]));
    request.drift_policy = DriftPolicy::Correct;
    let handle = app.services.writes.create(request, Asked::default()).await;
    ended(&handle.unwrap()).await;
    app.engine.suspend().await;

    ruled.bed.auth = auth;
    let app = ruled.bed.manager().await;
    ruled.bed.deployer.lose("a");
    assert_eq!(app.services.drift.round().await.unwrap(), 0);
    let found = app.services.deployments.get(&web()).await.unwrap();
    let (code, message) = refusal(app.services.writes.correct(&found, None).await);
    assert_eq!(code, ErrorCode::NotFound, "{message}");
    assert_eq!(written_as(&ruled.bed), ["nobody"]);
}

#[tokio::test]
async fn an_idempotency_key_is_its_callers_own() {
    let ruled = Ruled::new();
    let app = ruled.bed.manager().await;
    made(&app, "ann").await;
    let keyed = |who| Asked {
        idempotency_key: Some("same".to_owned()),
        ..by(who)
    };
    let update = |who| {
        app.services
            .writes
            .update(web(), change(&["a", "b"]), keyed(who))
    };
    let first = update("ann").await.unwrap();
    ended(&first).await;
    let again = update("ann").await.unwrap();
    let others = update("bob").await.unwrap();
    let id = |handle: &OperationHandle| handle.watch().operation().id.clone();
    assert_eq!(id(&again), id(&first));
    assert_ne!(id(&others), id(&first));
}

#[tokio::test]
async fn a_stop_names_who_wanted_it() {
    let ruled = Ruled::new();
    let app = ruled.bed.manager().await;
    let _gate = ruled.bed.deployer.hold();
    let handle = app
        .services
        .writes
        .create(create(content(&["a"])), by("ann"))
        .await
        .unwrap();
    let id = handle.watch().operation().id.clone();
    app.services
        .operations
        .cancel(&id, &by("bob").caller)
        .await
        .unwrap();
    let error = ended(&handle).await.operation.error.clone().unwrap();
    assert!(
        error.message.contains("stopped by bob"),
        "{}",
        error.message
    );
}
