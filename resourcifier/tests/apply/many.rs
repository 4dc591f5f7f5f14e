//! Many resources: which calls they take, and which they spare.

use common::api::deployer::{Action, ObjectState, Report, ResourceIntent, ResourceState};
use serde_json::{Value, json};

use super::{SHORT_MS, World, map, map_after, states};

/// So many that they are read by lists.
const MANY: usize = 20;

fn many() -> Value {
    (0..MANY).map(|n| map(&format!("map-{n}"))).collect()
}

#[tokio::test]
async fn what_is_new_is_found_missing_by_lists_and_applied_with_a_call_each() {
    let world = World::new();
    let report = world.apply(many(), &Report::default()).await;
    assert!(
        report
            .resources
            .iter()
            .all(|resource| resource.action == Some(Action::Created))
    );
    assert_eq!(world.calls().len(), MANY);
    assert_eq!(world.reads(), ["list ConfigMap", "list ConfigMap"]);
}

#[tokio::test]
async fn what_would_not_change_takes_one_list_and_no_write() {
    let world = World::new();
    let first = world.apply(many(), &Report::default()).await;
    world.calls();
    world.reads();
    let second = world.apply(many(), &first).await;
    assert!(second.resources.iter().all(|resource| {
        (resource.action, resource.state) == (Some(Action::Unchanged), ResourceState::Ready)
    }));
    assert_eq!(second.objects, first.objects);
    assert_eq!(world.calls(), Vec::<String>::new());
    assert_eq!(world.reads(), ["list ConfigMap"]);
}

#[tokio::test]
async fn only_what_differs_is_applied() {
    let world = World::new();
    let first = world.apply(many(), &Report::default()).await;
    world.calls();
    world.cluster.with(|state| {
        state.objects.get_mut("map-3").unwrap()["metadata"]["annotations"] = json!({});
    });
    let mut changed = many();
    changed[7]["properties"] = json!({"data": {"a": "1"}});
    let second = world.apply(changed, &first).await;
    assert_eq!(world.calls(), ["apply map-3", "apply map-7"]);
    assert_eq!(second.resources[3].action, Some(Action::Configured));
    assert_eq!(second.resources[7].action, Some(Action::Configured));
}

#[tokio::test]
async fn a_diff_and_a_status_of_what_has_not_changed_take_one_list_and_no_dry_run() {
    let world = World::new();
    let first = world.apply(many(), &Report::default()).await;
    world.calls();
    world.reads();
    let diff = world.diff(many(), &first).await;
    let intents = diff.resources.iter().map(|diff| diff.intent);
    assert!(intents.eq([ResourceIntent::None; MANY]));
    assert!(diff.resources.iter().all(|diff| diff.basis.owned.is_some()));
    assert_eq!(world.reads(), ["list ConfigMap"]);

    let status = world.status(many(), &first.objects).await;
    let states = status.iter().map(|status| status.state);
    assert!(states.eq([ObjectState::Ready; MANY]));
    assert_eq!(world.reads(), ["list ConfigMap"]);
    assert_eq!(world.calls(), Vec::<String>::new());
}

#[tokio::test]
async fn a_diff_and_a_status_try_only_what_has_changed() {
    let world = World::new();
    let first = world.apply(many(), &Report::default()).await;
    world.calls();
    world.cluster.with(|state| {
        state.objects.get_mut("map-3").unwrap()["metadata"]["annotations"] = json!({});
        state.objects.remove("map-4");
    });
    let mut changed = many();
    changed[7]["properties"] = json!({"data": {"a": "1"}});
    let diff = world.diff(changed, &first).await;
    let changed: Vec<(usize, ResourceIntent)> = diff
        .resources
        .iter()
        .map(|diff| diff.intent)
        .enumerate()
        .filter(|(_, intent)| *intent != ResourceIntent::None)
        .collect();
    use ResourceIntent::{Create, Update};
    assert_eq!(changed, [(3, Update), (4, Create), (7, Update)]);
    let mut calls = world.calls();
    calls.sort();
    assert_eq!(calls, ["try map-3", "try map-4", "try map-7"]);

    let status = world.status(many(), &first.objects).await;
    let drifted = status.iter().filter(|status| !status.drift.is_empty());
    let drifted: Vec<&str> = drifted
        .map(|status| status.applied.resource.as_str())
        .collect();
    assert_eq!(drifted, ["map-3"]);
    assert_eq!(status[4].state, ObjectState::Missing);
    assert_eq!(world.calls(), ["try map-3"]);
}

#[tokio::test]
async fn a_status_of_a_few_objects_of_many_does_not_list_them_all() {
    let world = World::new();
    let many: Value = (0..2_000).map(|n| map(&format!("map-{n}"))).collect();
    let first = world.apply(many.clone(), &Report::default()).await;
    world.reads();
    let few: Vec<_> = first.objects.iter().step_by(100).cloned().collect();
    let status = world.status(many, &few).await;
    assert!(
        status
            .iter()
            .all(|status| status.state == ObjectState::Ready)
    );
    let (lists, gets): (Vec<String>, Vec<String>) = world
        .reads()
        .into_iter()
        .partition(|read| read.starts_with("list"));
    assert_eq!(lists, ["list ConfigMap"], "and no further page");
    assert!(gets.len() > few.len() / 2, "{gets:?}");
}

#[tokio::test]
async fn many_are_deleted_with_a_call_each_and_found_by_one_list() {
    let world = World::new();
    let report = world.apply(many(), &Report::default()).await;
    world.calls();
    world.reads();
    let deleted = world.delete(json!({"recorded": report.objects})).await;
    assert!(
        deleted
            .resources
            .iter()
            .all(|resource| resource.action == Some(Action::Deleted))
    );
    assert_eq!(world.calls().len(), MANY);
    assert_eq!(world.reads(), ["list ConfigMap"]);
}

#[tokio::test]
async fn readiness_is_seen_as_it_comes_without_looking_again() {
    let world = World::new();
    world.cluster.with(|state| state.watchable = true);
    let resources = json!([map_after("after", "job"), {"name": "job", "type": "Job"}]);
    let complete = json!({"conditions": [{"type": "Complete", "status": "True"}]});
    let controller = async {
        while !world.cluster.names().contains(&"job".to_owned()) {
            tokio::task::yield_now().await;
        }
        world.cluster.set_status("job", complete);
    };
    let nothing = Report::default();
    let (report, ()) = tokio::join!(world.apply(resources, &nothing), controller);
    assert_eq!(
        states(&report),
        [
            ("after", ResourceState::Ready),
            ("job", ResourceState::Ready)
        ]
    );
    let looks = world
        .reads()
        .iter()
        .filter(|read| *read == "get job")
        .count();
    assert_eq!(looks, 1, "before it was applied");
}

#[tokio::test]
async fn a_call_that_hangs_holds_back_its_dependants_only() {
    let world = World::new();
    world
        .cluster
        .with(|state| state.hanging.push("stuck".to_owned()));
    let resources = json!([
        map("stuck"),
        map_after("held", "stuck"),
        map("free"),
        map_after("next", "free")
    ]);
    let report = world
        .try_apply(resources, &Report::default(), SHORT_MS)
        .await
        .unwrap();
    use ResourceState::{Failed, Ready};
    assert_eq!(
        states(&report),
        [
            ("stuck", Failed),
            ("held", Failed),
            ("free", Ready),
            ("next", Ready)
        ]
    );
}

#[tokio::test]
async fn objects_in_a_hundred_namespaces_do_not_take_as_many_connections() {
    let world = World::new();
    world.cluster.with(|state| state.watchable = true);
    let job = |n: usize| json!({"name": format!("job-{n}"), "type": "Job", "properties": {"metadata": {"namespace": format!("n-{n}")}}});
    let resources: Value = (0..100).map(job).collect();
    let nothing = Report::default();
    let outcome = world
        .try_apply(resources, &nothing, SHORT_MS)
        .await
        .unwrap();
    let are_waited_for = outcome.resources.iter().all(|one| one.uid.is_some());
    assert!(are_waited_for, "{outcome:?}");
    let reads = world.reads();
    let watches = reads.iter().filter(|read| *read == "watch Job").count();
    assert_eq!(watches, 64);
}
