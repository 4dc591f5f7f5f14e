//! Crashes: wherever a manager dies, the next one comes to the same end.

use std::collections::HashMap;
use std::sync::Arc;

use common::api::error::ErrorCode;
use common::api::manager::{CreateDeployment, TypeInstance, UpdateDeployment, WriteQuery};
use common::model::{Deployment, DeploymentName, DeploymentStatus, Operation, OperationStatus};
use serde_json::json;

use super::Ticket;
use crate::app::App;
use crate::deployer::Job;
use crate::deployer::fake::{Interruption, REFUSED, UNKNOWN};
use crate::error::Error;
use crate::service::deployments::Precondition;
use crate::stage::{DyingKv, LateKv, Stage, copied, items};
use crate::store::kv::SledKv;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Write {
    Create,
    CreateRefused,
    CreateBroken,
    CreateUnknown,
    Update,
    UpdateBroken,
    Delete,
}

const WRITES: [Write; 7] = [
    Write::Create,
    Write::CreateRefused,
    Write::CreateBroken,
    Write::CreateUnknown,
    Write::Update,
    Write::UpdateBroken,
    Write::Delete,
];

fn web() -> DeploymentName {
    DeploymentName::parse("web").unwrap()
}

fn content(names: &[&str]) -> String {
    let resources: Vec<_> = names
        .iter()
        .map(|name| json!({"name": name, "type": "Service"}))
        .collect();
    json!({"resources": resources}).to_string()
}

fn create(content: String) -> CreateDeployment {
    serde_json::from_value(json!({"name": "web", "content": content})).unwrap()
}

fn update(content: String) -> UpdateDeployment {
    serde_json::from_value(json!({"content": content})).unwrap()
}

impl Write {
    async fn start(self, app: &App) -> Result<Ticket, Error> {
        let (deployments, query) = (&app.services.deployments, WriteQuery::default());
        let broken = || crate::expander::fake::BROKEN.to_owned();
        match self {
            Write::Create => {
                deployments
                    .create(create(content(&["a", "b"])), &query)
                    .await
            }
            Write::CreateRefused => {
                deployments
                    .create(create(content(&["a", REFUSED])), &query)
                    .await
            }
            Write::CreateUnknown => {
                deployments
                    .create(create(content(&["a", UNKNOWN])), &query)
                    .await
            }
            Write::CreateBroken => deployments.create(create(broken()), &query).await,
            Write::Update => {
                deployments
                    .update(
                        web(),
                        update(content(&["b", "c"])),
                        &query,
                        Precondition::None,
                    )
                    .await
            }
            Write::UpdateBroken => {
                deployments
                    .update(web(), update(broken()), &query, Precondition::None)
                    .await
            }
            Write::Delete => deployments.delete(web(), &query, Precondition::None).await,
        }
    }

    fn needs_a_deployment(self) -> bool {
        matches!(self, Write::Update | Write::UpdateBroken | Write::Delete)
    }
}

async fn stage_for(write: Write) -> Stage {
    let stage = Stage::new();
    let app = stage.manager().await;
    if write.needs_a_deployment() {
        Write::Create
            .start(&app)
            .await
            .unwrap()
            .outcome()
            .await
            .unwrap();
    }
    app.engine.park().await;
    stage
}

/// All that is left of a write: the keys of the store with names by their order, the state of all, the cluster.
async fn remains(stage: &Stage) -> String {
    let app = stage.manager().await;
    let services = &app.services;
    let deployments = services.deployments.list(&Default::default()).await;
    let deployments: Vec<Deployment> = items(&deployments.unwrap());
    let deployments: Vec<_> = deployments
        .iter()
        .map(|d| json!([d.name, d.state, d.outputs, d.deployed_at.is_some()]))
        .collect();
    let operations = services
        .operations
        .list(None, &Default::default())
        .await
        .unwrap()
        .items;
    let operations: Vec<_> = operations
        .iter()
        .map(|o| json!([o.status, o.operation_type, o.error, o.warnings]))
        .collect();
    let all = serde_json::from_value(json!("all")).unwrap();
    let instances = services.types.instances(&all, &Default::default()).await;
    let instances: Vec<TypeInstance> = items(&instances.unwrap());
    let instances: Vec<_> = instances
        .iter()
        .map(|i| json!([i.name, i.type_name, i.path]))
        .collect();
    let types = services
        .types
        .list(&Default::default())
        .await
        .unwrap()
        .items;
    let keys = renumbered(&stage.keys().await).join("\n");
    format!(
        "{}\n{}\n{}\n{}\n{keys}\n{:?}",
        json!(deployments),
        json!(operations),
        json!(instances),
        json!(types),
        stage.deployer.objects()
    )
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
        if part.starts_with("op-") || part.starts_with("manifest-") {
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
        .list(None, &Default::default())
        .await
        .unwrap()
        .items
        .into_iter()
        .next()
}

/// Lets a manager die after so many commits of a write and starts another. Gives whether the first one died.
async fn disturbed(write: Write, stage: &Stage, commits: usize) -> bool {
    let kv = DyingKv::after(commits, stage.kv.clone());
    let first = stage.manager_on(kv.clone()).await;
    let died = match write.start(&first).await {
        Err(_) => true,
        Ok(ticket) => tokio::select! {
            () = kv.death() => true,
            outcome = ticket.outcome() => outcome.is_err(),
        },
    };
    first.engine.park().await;
    let second = stage.manager().await;
    second.engine.recover().await.unwrap();
    if let Some(operation) = last_operation(&second).await
        && let Some(ticket) = second.engine.ticket(&operation.id)
    {
        ticket.outcome().await.unwrap();
    }
    second.engine.park().await;
    died
}

#[tokio::test]
async fn a_crash_after_any_commit_ends_the_same_and_so_every_step_can_be_run_twice() {
    for write in WRITES {
        let undisturbed = stage_for(write).await;
        disturbed(write, &undisturbed, usize::MAX).await;
        let expected = remains(&undisturbed).await;
        // The first commit accepts the operation: without it there is none.
        let mut crashes = 0;
        for commits in 1.. {
            let stage = stage_for(write).await;
            let died = disturbed(write, &stage, commits).await;
            assert_eq!(
                remains(&stage).await,
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
}

#[tokio::test]
async fn a_write_that_cannot_be_journaled_is_not_accepted_and_leaves_nothing() {
    let stage = stage_for(Write::Create).await;
    let before = stage.keys().await;
    assert!(disturbed(Write::Create, &stage, 0).await);
    assert_eq!(stage.keys().await, before);
}

#[tokio::test]
async fn an_operation_whose_caller_goes_away_while_it_is_committed_runs_all_the_same() {
    let stage = Stage::new();
    let app = stage.manager_on(Arc::new(LateKv(stage.kv.clone()))).await;
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
    let ticket = loop {
        match app.engine.ticket(&operation.id) {
            Some(ticket) => break ticket,
            None => tokio::task::yield_now().await,
        }
    };
    assert_eq!(ticket.outcome().await.unwrap().operation.error, None);
}

#[tokio::test]
async fn whatever_an_operation_comes_to_it_releases_the_deployment_and_its_payload() {
    for write in WRITES {
        let stage = stage_for(write).await;
        disturbed(write, &stage, usize::MAX).await;
        let held: Vec<_> = stage
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

#[tokio::test]
async fn primitives_that_cannot_be_planned_are_told_by_their_place_and_leave_nothing() {
    let stage = stage_for(Write::CreateUnknown).await;
    let app = stage.manager().await;
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
    assert_eq!(stage.deployer.jobs(), []);
}

#[tokio::test]
async fn an_expansion_that_fails_changes_nothing() {
    let stage = stage_for(Write::UpdateBroken).await;
    let app = stage.manager().await;
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

    let stage = stage_for(Write::CreateBroken).await;
    let app = stage.manager().await;
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
    let stage = Stage::new();
    let app = stage.manager().await;
    // Away before anything happened, so nothing is recorded; as if the objects had been made all the same.
    stage.deployer.interrupt([const { Interruption::Away }; 4]);
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
    let Some(Job::Delete(request)) = stage.deployer.jobs().pop() else {
        panic!("no delete")
    };
    let names: Vec<_> = request
        .unconfirmed
        .iter()
        .map(|resource| resource.name.as_str())
        .collect();
    assert_eq!(names, ["a", "b"]);
}

#[tokio::test]
async fn what_was_seen_before_the_stream_broke_for_good_is_recorded() {
    let stage = Stage::new();
    let app = stage.manager().await;
    // Each try gets somewhere and breaks off; then nobody is there.
    stage.deployer.interrupt([
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
            .deployments
            .resources(&web())
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
    let Some(Job::Update(request)) = stage.deployer.jobs().pop() else {
        panic!("no update")
    };
    assert_eq!(request.recorded.len(), 2);
    assert_eq!(stage.deployer.objects(), ["b", "c"]);
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_begun_again() {
    let stage = Stage::new();
    let app = stage.manager().await;
    stage
        .deployer
        .interrupt([Interruption::BrokenOff, Interruption::Away]);
    let outcome = Write::Create
        .start(&app)
        .await
        .unwrap()
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.operation.error, None);
    assert_eq!(stage.deployer.jobs().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn deployments_made_at_once_on_disk_are_all_there_after_a_restart_and_types_are_counted_exactly()
 {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::new();
    let app = stage
        .manager_on(Arc::new(SledKv::open(folder.path()).unwrap()))
        .await;
    let mut tickets = Vec::new();
    for number in 0..40 {
        let mut request = create(content(&[&format!("a{number}"), &format!("b{number}")]));
        request.name = DeploymentName::parse(format!("web-{number}")).unwrap();
        tickets.push(
            app.services
                .deployments
                .create(request, &WriteQuery::default())
                .await
                .unwrap(),
        );
    }
    for ticket in &tickets {
        assert_eq!(ticket.outcome().await.unwrap().operation.error, None);
    }
    app.engine.park().await;
    let crashed = tempfile::tempdir().unwrap();
    copied(folder.path(), crashed.path());
    let again = stage
        .manager_on(Arc::new(SledKv::open(crashed.path()).unwrap()))
        .await;
    assert_eq!(again.engine.recover().await.unwrap(), 0);
    let types = again
        .services
        .types
        .list(&Default::default())
        .await
        .unwrap()
        .items;
    let counts: Vec<_> = types
        .iter()
        .map(|t| (t.name.as_str(), t.instances))
        .collect();
    assert_eq!(counts, [("Service", 80)]);
    let deployments = again.services.deployments.list(&Default::default()).await;
    let deployments: Vec<Deployment> = items(&deployments.unwrap());
    assert!(
        deployments
            .iter()
            .all(|deployment| deployment.state.status == DeploymentStatus::Deployed)
    );
    assert_eq!(deployments.len(), 40);
}
