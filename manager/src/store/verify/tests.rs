use common::api::manager::WriteQuery;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::json;

use super::*;
use crate::app::App;
use crate::deployer::fake::REFUSED;
use crate::expander::fake::BROKEN;
use crate::stage::{DyingKv, Stage};
use crate::store::kv::{Commit, Kv};
use crate::store::operations;

/// A request, and after how many commits the manager dies on the way.
#[derive(Debug, Clone)]
struct Write {
    name: &'static str,
    what: What,
    dies_after: Option<usize>,
}

#[derive(Debug, Clone)]
enum What {
    Create(Vec<&'static str>),
    Update(Vec<&'static str>),
    Broken,
    Delete,
}

fn writes() -> impl Strategy<Value = Vec<Write>> {
    let names = prop::sample::select(vec!["web", "db"]);
    let resources = || {
        let names = prop::sample::select(vec!["a", "b", "c", REFUSED]);
        prop::collection::vec(names, 0..4)
    };
    let what = prop_oneof![
        resources().prop_map(What::Create),
        resources().prop_map(What::Update),
        Just(What::Broken),
        Just(What::Delete),
    ];
    let write = (names, what, prop::option::of(0usize..7));
    let write = write.prop_map(|(name, what, dies_after)| Write {
        name,
        what,
        dies_after,
    });
    prop::collection::vec(write, 1..6)
}

fn content(names: &[&str]) -> String {
    let distinct: std::collections::BTreeSet<_> = names.iter().collect();
    let resource =
        |name: &&str| json!({"name": name, "type": if *name == "c" { "Pod" } else { "Service" }});
    json!({"resources": distinct.into_iter().map(resource).collect::<Vec<_>>()}).to_string()
}

/// Whatever it comes to: refusals and deaths are part of the game.
async fn done(app: &App, write: &Write) {
    let (deployments, query) = (&app.services.writes, WriteQuery::default());
    let name = write.name.parse().unwrap();
    let update = |content| serde_json::from_value(json!({"content": content})).unwrap();
    let ticket = match &write.what {
        What::Create(names) => {
            let request = json!({"name": name, "content": content(names)});
            let request = serde_json::from_value(request).unwrap();
            deployments.create(request, &query).await
        }
        What::Update(names) => {
            let request = update(content(names));
            deployments.update(name, request, &query).await
        }
        What::Broken => {
            let request = update(BROKEN.to_owned());
            deployments.update(name, request, &query).await
        }
        What::Delete => deployments.delete(name, &query).await,
    };
    if let Ok(ticket) = ticket {
        let _ = ticket.outcome().await;
    }
}

async fn played(writes: Vec<Write>) -> Result<(), TestCaseError> {
    let stage = Stage::new();
    for write in &writes {
        let dying = DyingKv::after(write.dies_after.unwrap_or(usize::MAX), stage.kv.clone());
        if let Ok(app) = stage.try_manager_on(dying.clone()).await {
            tokio::select! {
                () = dying.death() => {}
                () = done(&app, write) => {}
            }
            app.engine.park().await;
        }
        sound(&stage, &format!("after {write:?}")).await?;
        recovered(&stage).await;
        sound(&stage, &format!("after {write:?} and a restart")).await?;
    }
    Ok(())
}

/// The next manager goes on with what is unfinished, to its end.
async fn recovered(stage: &Stage) {
    let store = Store::open(stage.kv.clone()).await.unwrap();
    let unfinished = operations::unfinished(&store).await.unwrap();
    let app = stage.manager().await;
    app.engine.recover().await.unwrap();
    for record in unfinished {
        if let Some(ticket) = app.engine.ticket(&record.operation.id) {
            ticket.outcome().await.unwrap();
        }
    }
    app.engine.park().await;
}

async fn sound(stage: &Stage, when: &str) -> Result<(), TestCaseError> {
    let store = Store::open(stage.kv.clone()).await.unwrap();
    let found = verify(&store).await.unwrap();
    prop_assert!(found.ok, "{when}: {:?}", found.problems);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
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
            write(What::Create(vec!["a"]), None),
            write(What::Delete, Some(commits)),
        ];
        played(writes).await.unwrap();
    }
}

/// A store with a bit of everything, one operation cut off.
async fn stage() -> Stage {
    let stage = Stage::new();
    let app = stage.manager().await;
    for names in [&["a", "b"][..], &["b", "c"]] {
        let what = match names {
            ["a", ..] => What::Create(names.to_vec()),
            _ => What::Update(names.to_vec()),
        };
        let write = Write {
            name: "web",
            what,
            dies_after: None,
        };
        done(&app, &write).await;
    }
    let dying = DyingKv::after(4, stage.kv.clone());
    let app = stage.manager_on(dying.clone()).await;
    let write = Write {
        name: "db",
        what: What::Create(vec!["a"]),
        dies_after: None,
    };
    tokio::select! {
        () = dying.death() => {}
        () = done(&app, &write) => {}
    }
    stage
}

async fn entries(stage: &Stage) -> Vec<(Key, Bytes)> {
    let all = Scan {
        limit: usize::MAX,
        ..Scan::default()
    };
    stage.kv.scan(all).await.unwrap()
}

async fn damaged(stage: &Stage, commit: Commit) -> Verification {
    let kv = stage.kv.snapshot().await.unwrap();
    kv.commit(commit).await.unwrap();
    verify(&Store::over(kv)).await.unwrap()
}

#[tokio::test]
async fn every_record_that_is_garbled_is_told_with_its_key_and_what_to_do() {
    let stage = stage().await;
    for (key, _) in entries(&stage).await {
        let put = vec![(key.clone(), Bytes::from_static(b"?"))];
        let found = damaged(
            &stage,
            Commit {
                put,
                ..Commit::default()
            },
        )
        .await;
        let shown = keys::shown(&key);
        // A payload's pieces are told with the operation that cannot be gone on with.
        let own = |problem: &&Problem| problem.key == shown || shown.starts_with("payload");
        let told = found.problems.iter().find(own);
        let told = told.unwrap_or_else(|| panic!("{shown}: {:?}", found.problems));
        assert!(told.message.contains("restore a backup"), "{told:?}");
    }
}

/// What may be missing without a trace, because there are moments at which it is not there yet: what exists in the
/// cluster, the end of a journal, and what the operation's configuration expands to.
fn may_be_absent(key: &str) -> bool {
    key.starts_with("objects/") || key.starts_with("journal/") || key.contains("/expansion/")
}

#[tokio::test]
async fn every_record_that_is_missing_is_missed() {
    let stage = stage().await;
    for (key, _) in entries(&stage).await {
        let shown = keys::shown(&key);
        let delete = vec![key];
        let found = damaged(
            &stage,
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
    let stage = stage().await;
    let strange = [
        "surprise",
        "deployment\0gone",
        "lock\0web",
        "instance\0Pod\0web\u{0}000009",
    ];
    for key in strange {
        let put = vec![(key.as_bytes().to_vec(), Bytes::from_static(b"{}"))];
        let found = damaged(
            &stage,
            Commit {
                put,
                ..Commit::default()
            },
        )
        .await;
        assert!(!found.ok, "{key}");
    }
}
