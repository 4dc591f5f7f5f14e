use common::api::error::ErrorCode;
use common::api::manager::{RollbackDeployment, UpdateDeployment, WriteQuery};
use common::api::page::PageQuery;
use common::api::upgrade::UpgradeDeployment;
use common::model::{DeploymentName, TypeName};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::json;

use super::*;
use crate::app::App;
use crate::auth::Caller;
use crate::deployer::fake::REFUSED;
use crate::error::Error;
use crate::expander::fake::BROKEN;
use crate::service::writes::asked::Asked;
use crate::store::kv::Commit;
use crate::store::operations;
use crate::testing::{DyingKv, TestBed};
use crate::workflow::OperationHandle;

/// A resource of this name is of a template, [`NEW`] and [`FAILING`] are further versions of it.
const PAIR: &str = "pair";
const NEW: &str = "pair:v1.1";
const FAILING: &str = "pair:v1.2";

/// A request, and after how many commits the manager dies on the way.
#[derive(Debug, Clone)]
struct Write {
    name: &'static str,
    what: What,
    dies_after: Option<usize>,
}

#[derive(Debug, Clone)]
enum What {
    Create(Vec<&'static str>, Wish),
    Update(Vec<&'static str>, Wish),
    /// Of a configuration that does not expand.
    Broken,
    /// Stopped after so many turns of its work.
    Stopped(Vec<&'static str>, usize, By),
    /// To another version of a template, which most deployments do not use.
    Upgrade(&'static str, Wish),
    /// Of whatever was previewed.
    Commit,
    /// To one of the manifests, counted from the latest.
    Rollback(usize),
    Correct,
    Delete,
    /// Delete, and leave the objects.
    Abandon,
    /// Somebody else deletes or changes an object.
    Lost,
    Changed,
}

/// What is named to stop an operation.
#[derive(Debug, Clone, Copy)]
enum By {
    Deployment,
    Operation,
}

#[derive(Debug, Clone, Copy)]
enum Wish {
    Plain,
    Preview,
    RollbackOnFailure,
}

impl Wish {
    fn query(self) -> WriteQuery {
        WriteQuery {
            preview: matches!(self, Wish::Preview),
            rollback_on_failure: matches!(self, Wish::RollbackOnFailure),
            ..WriteQuery::default()
        }
    }

    /// Of what is there already.
    fn of_change(self) -> WriteQuery {
        WriteQuery {
            allow_deletes: !matches!(self, Wish::Preview),
            ..self.query()
        }
    }
}

fn writes() -> impl Strategy<Value = Vec<Write>> {
    let names = prop::sample::select(vec!["web", "db"]);
    let resources = || {
        let names = prop::sample::select(vec!["a", "b", "c", REFUSED, PAIR]);
        prop::collection::vec(names, 0..4)
    };
    let wish = || prop::sample::select(vec![Wish::Plain, Wish::Preview, Wish::RollbackOnFailure]);
    let by = || prop::sample::select(vec![By::Deployment, By::Operation]);
    let stopped = (resources(), 0usize..60, by());
    let versions = prop::sample::select(vec!["pair:v1", NEW, FAILING]);
    let back = prop::sample::select(vec![Wish::Plain, Wish::RollbackOnFailure]);
    let what = prop_oneof![
        4 => (resources(), wish()).prop_map(|(names, wish)| What::Create(names, wish)),
        4 => (resources(), wish()).prop_map(|(names, wish)| What::Update(names, wish)),
        1 => Just(What::Broken),
        3 => stopped.prop_map(|(names, turns, by)| What::Stopped(names, turns, by)),
        3 => (versions, back).prop_map(|(version, wish)| What::Upgrade(version, wish)),
        3 => Just(What::Commit),
        2 => (0usize..3).prop_map(What::Rollback),
        2 => Just(What::Correct),
        1 => Just(What::Delete),
        1 => Just(What::Abandon),
        1 => Just(What::Lost),
        1 => Just(What::Changed),
    ];
    let write = (names, what, prop::option::of(0usize..12));
    let write = write.prop_map(|(name, what, dies_after)| Write {
        name,
        what,
        dies_after,
    });
    prop::collection::vec(write, 1..12)
}

fn type_of(name: &str) -> &str {
    match name {
        "c" => "Pod",
        PAIR => "pair:v1",
        _ => "Service",
    }
}

fn content(names: &[&str]) -> String {
    let distinct: std::collections::BTreeSet<_> = names.iter().collect();
    let resource = |name: &&str| json!({"name": name, "type": type_of(name)});
    json!({"resources": distinct.into_iter().map(resource).collect::<Vec<_>>()}).to_string()
}

/// Whatever it comes to: refusals and deaths are part of the game.
async fn done(app: &App, write: &Write) {
    let handle = match started(app, write).await {
        Ok(handle) => handle,
        // Then the test itself asks for nonsense, and shows nothing.
        Err(Error::Refused(error)) if error.code == ErrorCode::InvalidRequest => {
            panic!("{write:?}: {error}")
        }
        Err(_) => return,
    };
    if let What::Stopped(_, turns, by) = write.what {
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        stopped(app, write, &handle, by).await;
    }
    let _ = handle.outcome().await;
}

async fn stopped(app: &App, write: &Write, handle: &OperationHandle, by: By) {
    let operations = &app.services.operations;
    let _ = match by {
        By::Deployment => {
            let name = write.name.parse().unwrap();
            operations.stop(&name, &Asked::default()).await
        }
        By::Operation => {
            let id = handle.watch().operation().id.clone();
            operations.cancel(&id, &Caller::default()).await
        }
    };
}

async fn started(app: &App, write: &Write) -> Result<OperationHandle, Error> {
    let (writes, plain) = (&app.services.writes, Wish::Plain.of_change());
    let name: DeploymentName = write.name.parse().unwrap();
    let update = |content| UpdateDeployment {
        content: Some(content),
        ..UpdateDeployment::default()
    };
    match &write.what {
        What::Create(names, wish) => {
            let request = json!({"name": name, "content": content(names)});
            let request = serde_json::from_value(request).unwrap();
            writes.create(request, &wish.query()).await
        }
        What::Update(names, wish) => {
            let request = update(content(names));
            writes.update(name, request, &wish.of_change()).await
        }
        What::Broken => writes.update(name, update(BROKEN.to_owned()), &plain).await,
        What::Stopped(names, ..) => writes.update(name, update(content(names)), &plain).await,
        What::Upgrade(version, wish) => {
            let template = TypeName::parse(*version).unwrap();
            let request = UpgradeDeployment { template };
            writes.upgrade(name, request, &wish.of_change()).await
        }
        What::Commit => {
            let Some(preview) = app.services.deployments.get(&name).await?.preview else {
                return Err(Error::new(ErrorCode::NotFound, "there is no preview"));
            };
            let request = UpdateDeployment {
                manifest: Some(preview),
                ..UpdateDeployment::default()
            };
            writes.update(name, request, &WriteQuery::default()).await
        }
        What::Rollback(back) => {
            let manifests = &app.services.manifests;
            let manifests = manifests.list(&name, &PageQuery::default()).await?.items;
            let Some(to) = manifests.into_iter().nth(*back) else {
                return Err(Error::new(ErrorCode::NotFound, "there is no such manifest"));
            };
            let request = RollbackDeployment { manifest: to.name };
            writes.rollback(name, request, &plain).await
        }
        What::Correct => {
            let found = app.services.deployments.get(&name).await?;
            writes.correct(&found, None).await
        }
        What::Delete => writes.delete(name, &WriteQuery::default()).await,
        What::Abandon => {
            let query = json!({"deletePolicy": "ABANDON"});
            let query: WriteQuery = serde_json::from_value(query).unwrap();
            writes.delete(name, &query).await
        }
        What::Lost | What::Changed => unreachable!("these are no writes of the manager"),
    }
}

async fn played(writes: Vec<Write>) -> Result<(), TestCaseError> {
    play(&bed_with_versions(), writes).await
}

/// With further versions of the pair in the registry, one of which the cluster refuses.
fn bed_with_versions() -> TestBed {
    let bed = TestBed::new();
    for (reference, names) in [(NEW, ["a", "third"]), (FAILING, ["a", REFUSED])] {
        let (template, version) = reference.split_once(':').unwrap();
        bed.add_version(template, version, &content(&names));
    }
    bed
}

async fn play(bed: &TestBed, writes: Vec<Write>) -> Result<(), TestCaseError> {
    for write in &writes {
        let object = bed.deployer.objects().into_iter().next();
        match (&write.what, object) {
            (What::Lost, object) => object.iter().for_each(|name| bed.deployer.lose(name)),
            (What::Changed, object) => object
                .iter()
                .for_each(|name| bed.deployer.edit(name, json!({"changed": true}))),
            _ => asked(bed, write).await?,
        }
    }
    Ok(())
}

/// Asks a manager that may die on the way, and then the next one to go on.
async fn asked(bed: &TestBed, write: &Write) -> Result<(), TestCaseError> {
    let dying = DyingKv::after(write.dies_after.unwrap_or(usize::MAX), bed.kv.clone());
    if let Ok(app) = bed.try_manager_on(dying.clone()).await {
        // In this order, so that the same writes always take the same course.
        tokio::select! {
            biased;
            () = dying.death() => {}
            () = done(&app, write) => {}
        }
        app.engine.suspend().await;
    }
    sound(bed, &format!("after {write:?}")).await?;
    recovered(bed).await;
    sound(bed, &format!("after {write:?} and a restart")).await?;
    let store = Store::open(bed.kv.clone()).await.unwrap();
    let unfinished = operations::unfinished(&store).await.unwrap();
    prop_assert!(
        unfinished.is_empty(),
        "{write:?} never ended: {unfinished:?}"
    );
    Ok(())
}

/// The next manager goes on with what is unfinished, to its end.
async fn recovered(bed: &TestBed) {
    let store = Store::open(bed.kv.clone()).await.unwrap();
    let unfinished = operations::unfinished(&store).await.unwrap();
    let app = bed.manager().await;
    app.engine.recover().await.unwrap();
    for record in unfinished {
        if let Some(handle) = app.engine.handle(&record.operation.id) {
            handle.outcome().await.unwrap();
        }
    }
    app.engine.suspend().await;
}

async fn sound(bed: &TestBed, when: &str) -> Result<(), TestCaseError> {
    let store = Store::open(bed.kv.clone()).await.unwrap();
    let found = verify(&store).await.unwrap();
    prop_assert!(found.ok, "{when}: {:?}", found.problems);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_is_asked_and_wherever_the_manager_dies_the_store_is_sound(writes in writes()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(played(writes))?;
    }
}

#[tokio::test]
async fn a_delete_that_is_cut_off_after_any_commit_leaves_a_sound_store() {
    for commits in 0..8 {
        let write = |what, dies_after| Write {
            name: "db",
            what,
            dies_after,
        };
        let writes = vec![
            write(What::Create(vec!["a"], Wish::Plain), None),
            write(What::Delete, Some(commits)),
        ];
        played(writes).await.unwrap();
    }
}

#[tokio::test]
async fn an_upgrade_that_is_cut_off_after_any_commit_is_done_after_the_next_start() {
    for commits in 1..12 {
        let write = |what, dies_after| Write {
            name: "web",
            what,
            dies_after,
        };
        let bed = bed_with_versions();
        let writes = vec![
            write(What::Create(vec![PAIR], Wish::Plain), None),
            write(What::Upgrade(NEW, Wish::Plain), Some(commits)),
        ];
        play(&bed, writes).await.unwrap();
        assert_eq!(bed.deployer.objects(), ["a", "third"], "{commits}");
    }
}

/// A store with a bit of everything, one operation cut off.
async fn bed() -> TestBed {
    let bed = TestBed::new();
    let app = bed.manager().await;
    for names in [&["a", "b"][..], &["b", "c"]] {
        let what = match names {
            ["a", ..] => What::Create(names.to_vec(), Wish::Plain),
            _ => What::Update(names.to_vec(), Wish::Plain),
        };
        let write = Write {
            name: "web",
            what,
            dies_after: None,
        };
        done(&app, &write).await;
    }
    let dying = DyingKv::after(4, bed.kv.clone());
    let app = bed.manager_on(dying.clone()).await;
    let write = Write {
        name: "db",
        what: What::Create(vec!["a"], Wish::Plain),
        dies_after: None,
    };
    tokio::select! {
        () = dying.death() => {}
        () = done(&app, &write) => {}
    }
    bed
}

async fn entries(bed: &TestBed) -> Vec<(Key, Bytes)> {
    let all = Scan {
        limit: usize::MAX,
        ..Scan::default()
    };
    bed.kv.scan(all).await.unwrap()
}

async fn damaged(bed: &TestBed, commit: Commit) -> Verification {
    let kv = bed.kv.snapshot().await.unwrap();
    kv.commit(commit).await.unwrap();
    verify(&Store::over(kv)).await.unwrap()
}

#[tokio::test]
async fn every_record_that_is_garbled_is_told_with_its_key_and_what_to_do() {
    let bed = bed().await;
    for (key, _) in entries(&bed).await {
        let put = vec![(key.clone(), Bytes::from_static(b"?"))];
        let found = damaged(
            &bed,
            Commit {
                put,
                ..Commit::default()
            },
        )
        .await;
        let shown = keys::shown(&key);
        // Missing pieces of a payload are reported with the operation that cannot continue.
        let own = |problem: &&Problem| problem.key == shown || shown.starts_with("payload");
        let printed = found.problems.iter().find(own);
        let printed = printed.unwrap_or_else(|| panic!("{shown}: {:?}", found.problems));
        assert!(printed.message.contains("restore a backup"), "{printed:?}");
    }
}

/// What may be missing without a trace, because there are moments at which it is not there yet: what exists in the
/// cluster, the end of a journal, and what the operation's configuration expands to.
fn may_be_absent(key: &str) -> bool {
    key.starts_with("objects/") || key.starts_with("journal/") || key.contains("/expansion/")
}

#[tokio::test]
async fn every_record_that_is_missing_is_missed() {
    let bed = bed().await;
    for (key, _) in entries(&bed).await {
        let shown = keys::shown(&key);
        let delete = vec![key];
        let found = damaged(
            &bed,
            Commit {
                delete,
                ..Commit::default()
            },
        )
        .await;
        assert!(!found.ok || may_be_absent(&shown), "{shown}");
    }
}

#[tokio::test]
async fn a_record_that_no_manager_writes_is_told() {
    let bed = bed().await;
    let strange = [
        "surprise",
        "deployment\0gone",
        "lock\0web",
        "instance\0Pod\0web\u{0}000009",
    ];
    for key in strange {
        let put = vec![(key.as_bytes().to_vec(), Bytes::from_static(b"{}"))];
        let found = damaged(
            &bed,
            Commit {
                put,
                ..Commit::default()
            },
        )
        .await;
        assert!(!found.ok, "{key}");
    }
}
