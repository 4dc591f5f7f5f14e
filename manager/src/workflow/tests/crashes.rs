//! Wherever a manager dies, the next one comes to the same end.

use std::collections::HashMap;

use common::api::manager::TypeInstance;
use common::model::Deployment;

use super::*;
use crate::store::Store;
use crate::store::kv::etcd_testing as etcd;
use crate::store::maintenance::verify::verify;
use crate::testing::items;

/// All that is left of a write: the keys of the store with names by their order, the state of all, the cluster.
async fn remains(bed: &TestBed) -> String {
    let app = bed.manager().await;
    let services = &app.services;
    let deployments = services
        .deployments
        .list(&Default::default(), &Default::default())
        .await;
    let deployments: Vec<Deployment> = items(&deployments.unwrap());
    let deployments: Vec<_> = deployments
        .iter()
        .map(|d| {
            json!([
                d.name,
                d.state,
                d.outputs,
                d.deployed_at.is_some(),
                d.preview.is_some()
            ])
        })
        .collect();
    let operations = services
        .operations
        .list(None, &Default::default(), &Default::default())
        .await
        .unwrap()
        .items;
    let operations: Vec<_> = operations
        .iter()
        .map(|o| {
            json!([
                o.status,
                o.operation_type,
                error_without_names(o),
                o.warnings,
                o.manifest.is_some()
            ])
        })
        .collect();
    let all = serde_json::from_value(json!("all")).unwrap();
    let instances = services
        .types
        .instances(&all, &Default::default(), &Default::default())
        .await;
    let instances: Vec<TypeInstance> = items(&instances.unwrap());
    let instances: Vec<_> = instances
        .iter()
        .map(|i| json!([i.name, i.type_name, i.path]))
        .collect();
    let types = services
        .types
        .list(&Default::default(), &Default::default())
        .await
        .unwrap()
        .items;
    let keys = renumbered(&bed.keys().await).join("\n");
    format!(
        "{}\n{}\n{}\n{}\n{keys}\n{:?}",
        json!(deployments),
        json!(operations),
        json!(instances),
        json!(types),
        bed.deployer.objects()
    )
}

/// The error, without the manifests that it names by the time.
fn error_without_names(operation: &Operation) -> String {
    let error = json!([operation.error, operation.rollback]).to_string();
    let word = |word: &str| match word.find("manifest-") {
        Some(at) => word[..at].to_owned(),
        None => word.to_owned(),
    };
    error.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Operations and manifests are named by the time: here by their order.
fn renumbered(keys: &[String]) -> Vec<String> {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut number = |part: &str| {
        let next = numbers.len();
        let number = numbers.entry(part.to_owned()).or_insert(next);
        format!("#{number}")
    };
    let mut part = |part: &str| {
        // A preview names its base, so that its pieces have other digests each time; that they are right, they are verified.
        if part.len() == 64 && part.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return "piece".to_owned();
        }
        let is_time = part.len() == 10 && part.bytes().all(|byte| byte.is_ascii_digit());
        if is_time || part.starts_with("op-") || part.starts_with("manifest-") {
            number(part)
        } else {
            part.to_owned()
        }
    };
    keys.iter()
        .map(|key| key.split('·').map(&mut part).collect::<Vec<_>>().join("·"))
        .collect()
}

async fn last_operation(app: &App) -> Option<Operation> {
    app.services
        .operations
        .list(None, &Default::default(), &Default::default())
        .await
        .unwrap()
        .items
        .into_iter()
        .next()
}

/// The store holds what it should, and nothing else.
async fn sound(bed: &TestBed, write: Write) {
    let store = Store::open(bed.kv.clone()).await.unwrap();
    let verified = verify(&store).await.unwrap();
    assert!(verified.ok, "{write:?}: {:?}", verified.problems);
}

/// Lets a manager die after so many commits of a write and starts another. Gives whether the first one died.
async fn disturbed(write: Write, bed: &TestBed, commits: usize) -> bool {
    let kv = DyingKv::after(commits, bed.kv.clone());
    let first = bed.manager_on(kv.clone()).await;
    let died = match write.start(&first).await {
        Err(_) => true,
        Ok(handle) => tokio::select! {
            () = kv.death() => true,
            outcome = handle.outcome() => outcome.is_err(),
        },
    };
    first.engine.suspend().await;
    let second = bed.manager().await;
    second.engine.recover().await.unwrap();
    if let Some(operation) = last_operation(&second).await
        && let Some(handle) = second.engine.handle(&operation.id)
    {
        handle.outcome().await.unwrap();
    }
    second.engine.suspend().await;
    died
}

/// A crash after any commit of the write ends as without one.
async fn ends_the_same(write: Write, bed: impl AsyncFn() -> TestBed) {
    let undisturbed = prepared(bed().await, write).await;
    disturbed(write, &undisturbed, usize::MAX).await;
    sound(&undisturbed, write).await;
    let expected = remains(&undisturbed).await;
    // The first commit accepts the operation: without it there is none.
    let mut crashes = 0;
    for commits in 1.. {
        let bed = prepared(bed().await, write).await;
        let died = disturbed(write, &bed, commits).await;
        assert_eq!(
            remains(&bed).await,
            expected,
            "{write:?} after {commits} commits"
        );
        if !died {
            break;
        }
        crashes += 1;
    }
    assert!(crashes >= 2, "{write:?} was only disturbed {crashes} times");
}

#[tokio::test]
async fn a_crash_after_any_commit_ends_the_same_and_so_every_step_can_be_run_twice() {
    for write in WRITES {
        ends_the_same(write, async || TestBed::new()).await;
    }
}

#[tokio::test]
async fn a_crash_after_any_commit_ends_the_same_on_etcd() {
    for write in [Write::Create, Write::Update, Write::Delete] {
        ends_the_same(write, async || TestBed::on(Arc::new(etcd::store().await))).await;
    }
}

#[tokio::test]
async fn a_write_that_cannot_be_journaled_is_not_accepted_and_leaves_nothing() {
    let bed = bed_for(Write::Create).await;
    let before = bed.keys().await;
    assert!(disturbed(Write::Create, &bed, 0).await);
    assert_eq!(bed.keys().await, before);
}

#[tokio::test]
async fn an_operation_whose_caller_goes_away_while_it_is_committed_runs_all_the_same() {
    let bed = TestBed::new();
    let app = bed.manager_on(Arc::new(LateKv(bed.kv.clone()))).await;
    {
        let mut asked = std::pin::pin!(Write::Create.start(&app));
        assert!(futures::poll!(asked.as_mut()).is_pending());
    }
    let operation = loop {
        match last_operation(&app).await {
            Some(operation) => break operation,
            None => tokio::task::yield_now().await,
        }
    };
    let handle = loop {
        match app.engine.handle(&operation.id) {
            Some(handle) => break handle,
            None => tokio::task::yield_now().await,
        }
    };
    assert_eq!(handle.outcome().await.unwrap().operation.error, None);
}

#[tokio::test]
async fn whatever_an_operation_comes_to_it_releases_the_deployment_and_its_payload() {
    for write in WRITES {
        let bed = bed_for(write).await;
        disturbed(write, &bed, usize::MAX).await;
        let held: Vec<_> = bed
            .keys()
            .await
            .into_iter()
            .filter(|key| {
                ["lock·", "unfinished·", "payload·"]
                    .iter()
                    .any(|p| key.starts_with(p))
            })
            .collect();
        assert!(held.is_empty(), "{write:?} left {held:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn deployments_made_at_once_on_disk_are_all_there_after_a_restart_and_types_are_counted_exactly()
 {
    let folder = tempfile::tempdir().unwrap();
    let bed = TestBed::new();
    let app = bed
        .manager_on(Arc::new(SledKv::open(folder.path(), None).unwrap()))
        .await;
    let mut handles = Vec::new();
    for number in 0..40 {
        let mut request = create(content(&[&format!("a{number}"), &format!("b{number}")]));
        request.name = DeploymentName::parse(format!("web-{number}")).unwrap();
        handles.push(
            app.services
                .writes
                .create(request, &WriteQuery::default())
                .await
                .unwrap(),
        );
    }
    for handle in &handles {
        assert_eq!(handle.outcome().await.unwrap().operation.error, None);
    }
    app.engine.suspend().await;
    let crashed = tempfile::tempdir().unwrap();
    copied(folder.path(), crashed.path());
    let again = bed
        .manager_on(Arc::new(SledKv::open(crashed.path(), None).unwrap()))
        .await;
    assert_eq!(again.engine.recover().await.unwrap(), 0);
    let types = again
        .services
        .types
        .list(&Default::default(), &Default::default())
        .await
        .unwrap()
        .items;
    let counts: Vec<_> = types
        .iter()
        .map(|t| (t.name.as_str(), t.instances))
        .collect();
    assert_eq!(counts, [("Service", 80)]);
    let deployments = again
        .services
        .deployments
        .list(&Default::default(), &Default::default())
        .await;
    let deployments: Vec<Deployment> = items(&deployments.unwrap());
    assert!(
        deployments
            .iter()
            .all(|deployment| deployment.state.status == DeploymentStatus::Deployed)
    );
    assert_eq!(deployments.len(), 40);
}
