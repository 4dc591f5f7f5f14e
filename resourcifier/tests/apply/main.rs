//! Applying and deleting, against a cluster in memory.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

mod acquired;
mod health;
mod many;
mod races;
mod replacing;
mod rights;
mod routes;
mod stops;
#[path = "../support/mod.rs"]
mod support;
mod tried;

use std::sync::Arc;

use common::api::deployer::{
    Action, ApplyRequest, DeleteRequest, DiffReport, ObjectStatus, Report, ResourceState,
};
use common::api::error::{ErrorBody, ErrorCode};
use common::model::AppliedObject;
use resourcifier::apply::{Events, Stopped};
use resourcifier::plan::{DEPLOYMENT, MANAGED_BY};
use resourcifier::service::{AnonymousPolicy, Deployer};
use serde_json::{Value, json};
use support::Cluster;
use tokio::sync::mpsc;

/// A time that passes. All that comes before its end takes moments, also on a busy machine.
const SHORT_MS: u64 = 2_000;

struct World {
    cluster: Arc<Cluster>,
    deployer: Arc<Deployer>,
}

impl World {
    fn new() -> Self {
        let cluster = Arc::new(Cluster::default());
        Self {
            deployer: Arc::new(Deployer::new(
                cluster.clone(),
                AnonymousPolicy::UseServiceIdentity,
            )),
            cluster,
        }
    }

    fn events() -> Events {
        let (sender, mut receiver) = mpsc::channel(16);
        tokio::spawn(async move { while receiver.recv().await.is_some() {} });
        Events::new(sender)
    }

    async fn try_apply(
        &self,
        resources: Value,
        recorded: &Report,
        timeout_ms: u64,
    ) -> Result<Report, ErrorBody> {
        self.request(
            json!({"resources": resources, "recorded": recorded.objects, "timeoutMs": timeout_ms}),
        )
        .await
    }

    async fn request(&self, more: Value) -> Result<Report, ErrorBody> {
        let mut request = json!({"deployment": "web", "namespace": "home"});
        request
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let request: ApplyRequest = serde_json::from_value(request).unwrap();
        let prepared = self.deployer.prepare_apply(request).await?;
        ended(prepared.apply(&Self::events()).await)
    }

    async fn apply(&self, resources: Value, recorded: &Report) -> Report {
        self.try_apply(resources, recorded, 20_000).await.unwrap()
    }

    async fn delete(&self, request: Value) -> Report {
        let mut whole =
            json!({"deployment": "web", "namespace": "home", "recorded": [], "timeoutMs": 20_000});
        whole
            .as_object_mut()
            .unwrap()
            .extend(request.as_object().unwrap().clone());
        let request: DeleteRequest = serde_json::from_value(whole).unwrap();
        let prepared = self.deployer.prepare_delete(request).await.unwrap();
        ended(prepared.delete(&Self::events()).await).unwrap()
    }

    /// What applying would do.
    async fn diff(&self, resources: Value, recorded: &Report) -> DiffReport {
        let request = json!({
            "deployment": "web", "namespace": "home", "resources": resources,
            "recorded": recorded.objects, "timeoutMs": 20_000,
        });
        let request: ApplyRequest = serde_json::from_value(request).unwrap();
        let prepared = self.deployer.prepare_apply(request).await.unwrap();
        prepared.diff(&Self::events()).await.unwrap()
    }

    /// How the objects on record are, and where they differ from the resources.
    async fn status(&self, resources: Value, recorded: &[AppliedObject]) -> Vec<ObjectStatus> {
        let desired = json!({"deployment": "web", "namespace": "home", "resources": resources});
        let request = json!({"deployment": "web", "objects": recorded, "desired": desired});
        let request = serde_json::from_value(request).unwrap();
        self.deployer.status(request).await.unwrap()
    }

    fn reads(&self) -> Vec<String> {
        self.cluster.with(|state| std::mem::take(&mut state.reads))
    }

    fn calls(&self) -> Vec<String> {
        self.cluster.with(|state| std::mem::take(&mut state.calls))
    }
}

fn ended(outcome: Result<Report, Stopped>) -> Result<Report, ErrorBody> {
    outcome.map_err(|stopped| match stopped {
        Stopped::Refused(error) => error,
        Stopped::Halted(halt) => halt.into(),
    })
}

fn map(name: &str) -> Value {
    json!({"name": name, "type": "ConfigMap"})
}

fn map_after(name: &str, before: &str) -> Value {
    json!({"name": name, "type": "ConfigMap", "metadata": {"dependsOn": [before]}})
}

fn states(report: &Report) -> Vec<(&str, ResourceState)> {
    report
        .resources
        .iter()
        .map(|resource| (resource.name.as_str(), resource.state))
        .collect()
}

#[tokio::test]
async fn each_object_is_applied_once() {
    let world = World::new();
    let report = world
        .apply(json!([map("a"), map("b"), map("c")]), &Report::default())
        .await;
    assert!(
        report
            .resources
            .iter()
            .all(|resource| resource.action == Some(Action::Created))
    );
    assert_eq!(report.objects.len(), 3);
    assert_eq!(world.calls(), ["apply a", "apply b", "apply c"]);
}

#[tokio::test]
async fn what_is_applied_again_is_unchanged_and_what_is_gone_from_the_configuration_is_pruned() {
    let world = World::new();
    let first = world
        .apply(json!([map("a"), map("b")]), &Report::default())
        .await;
    let second = world.apply(json!([map("a")]), &first).await;
    assert_eq!(second.resources[0].action, Some(Action::Unchanged));
    assert_eq!(
        (
            second.resources[1].name.as_str(),
            second.resources[1].action
        ),
        ("b", Some(Action::Deleted))
    );
    assert_eq!(world.cluster.names(), ["a"]);
    assert_eq!(second.objects.len(), 1);
}

#[tokio::test]
async fn a_failure_holds_back_its_dependants_and_the_pruning_and_nothing_else() {
    let world = World::new();
    let first = world.apply(json!([map("old")]), &Report::default()).await;
    world
        .cluster
        .with(|state| state.refused.push("bad".to_owned()));
    let report = world
        .apply(
            json!([
                map("bad"),
                map_after("next", "bad"),
                map_after("last", "next"),
                map("fine")
            ]),
            &first,
        )
        .await;
    use ResourceState::{Failed, Ready, Skipped};
    assert_eq!(
        states(&report),
        [
            ("bad", Failed),
            ("next", Skipped),
            ("last", Skipped),
            ("fine", Ready),
            ("old", Skipped)
        ]
    );
    assert_eq!(
        report.errors().next().unwrap().message,
        "resource bad (ConfigMap home/bad): bad is refused"
    );
    assert_eq!(world.cluster.names(), ["fine", "old"]);
    let recorded: Vec<&str> = report
        .objects
        .iter()
        .map(|object| object.object.name.as_str())
        .collect();
    assert_eq!(recorded, ["fine", "old"]);
}

#[tokio::test]
async fn a_value_is_waited_for_and_put_in_with_its_type() {
    let world = World::new();
    world.cluster.with(|state| {
        state
            .later
            .insert("svc".to_owned(), (2, json!({"port": 80})))
    });
    let reader = json!({"name": "reader", "type": "ConfigMap", "properties": {"port": "$(ref.svc.status.port)"}});
    let report = world
        .apply(
            json!([reader, {"name": "svc", "type": "Service"}]),
            &Report::default(),
        )
        .await;
    assert_eq!(
        report.resources[0].final_properties,
        Some(json!({"port": 80}))
    );
    // A ready object without the field is tried once: its kind might not have the field at all.
    assert_eq!(world.calls(), ["apply svc", "try svc", "apply reader"]);
}

#[tokio::test]
async fn outputs_get_the_values_that_they_refer_to() {
    let world = World::new();
    world.cluster.with(|state| {
        state
            .later
            .insert("svc".to_owned(), (3, json!({"ip": "198.18.0.1"})))
    });
    let request = json!({
        "resources": [{"name": "svc", "type": "Service"}], "timeoutMs": 20_000,
        "outputs": [{"name": "url", "value": "http://$(ref.svc.status.ip)/"}, {"name": "plain", "value": 1}],
    });
    let report = world.request(request).await.unwrap();
    assert_eq!(
        json!(report.outputs),
        json!([{"name": "url", "value": "http://198.18.0.1/"}, {"name": "plain", "value": 1}])
    );
}

#[tokio::test]
async fn an_output_without_a_value_is_told_and_the_resources_are_ready() {
    let world = World::new();
    let request = json!({
        "resources": [map("a")], "timeoutMs": SHORT_MS, "outputs": [{"name": "ip", "value": "$(ref.a.status.ip)"}],
    });
    let report = world.request(request).await.unwrap();
    assert_eq!(states(&report), [("a", ResourceState::Ready)]);
    let errors: Vec<String> = report.errors().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        ["output ip: $(ref.a.status.ip) has no value in time"]
    );
}

#[tokio::test]
async fn an_output_that_refers_to_nothing_is_refused_before_anything_is_applied() {
    let world = World::new();
    let request = json!({
        "resources": [map("a")], "timeoutMs": SHORT_MS, "outputs": [{"name": "ip", "value": "$(ref.b.status.ip)"}],
    });
    let error = world.request(request).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidReference);
    assert!(error.message.starts_with("output ip"), "{error}");
    assert_eq!(world.calls(), Vec::<String>::new());
}

#[tokio::test]
async fn a_dependant_waits_until_the_other_is_ready() {
    let world = World::new();
    let complete = json!({"conditions": [{"type": "Complete", "status": "True"}]});
    world
        .cluster
        .with(|state| state.later.insert("job".to_owned(), (2, complete)));
    let report = world
        .apply(
            json!([map_after("after", "job"), {"name": "job", "type": "Job"}]),
            &Report::default(),
        )
        .await;
    assert_eq!(
        states(&report),
        [
            ("after", ResourceState::Ready),
            ("job", ResourceState::Ready)
        ]
    );
    assert_eq!(world.calls(), ["apply job", "apply after"]);
}

#[tokio::test]
async fn when_time_is_over_each_says_what_it_waited_for() {
    let world = World::new();
    let report = world
        .try_apply(
            json!([map_after("after", "job"), {"name": "job", "type": "Job"}]),
            &Report::default(),
            SHORT_MS,
        )
        .await
        .unwrap();
    let errors: Vec<&ErrorBody> = report.errors().collect();
    assert!(errors.iter().all(|error| error.code == ErrorCode::Timeout));
    assert!(
        errors[1]
            .message
            .ends_with("is not ready after 2 s: 0 of 1 pods have succeeded"),
        "{}",
        errors[1]
    );
    assert_eq!(report.objects.len(), 1, "what was applied is on record");
}

#[tokio::test]
async fn an_object_of_another_deployment_stops_all_before_anything_is_applied() {
    let world = World::new();
    let foreign = json!({"metadata": {"uid": "u", "labels": {DEPLOYMENT: "other"}}});
    world
        .cluster
        .with(|state| state.objects.insert("theirs".to_owned(), foreign));
    let error = world
        .try_apply(
            json!([map("mine"), map("theirs")]),
            &Report::default(),
            1000,
        )
        .await
        .unwrap_err();
    assert!(
        error.message.contains("resource theirs") && error.message.contains("deployment other"),
        "{error}"
    );
    assert_eq!(world.calls(), Vec::<String>::new());
}

#[tokio::test]
async fn an_api_server_that_is_away_for_a_while_is_waited_for() {
    let world = World::new();
    let first = world.apply(json!([map("a")]), &Report::default()).await;
    world.cluster.with(|state| state.away = 2);
    let report = world.delete(json!({"recorded": first.objects})).await;
    assert_eq!(states(&report), [("a", ResourceState::Gone)]);
}

#[tokio::test]
async fn deletion_goes_backwards_through_the_waves() {
    let world = World::new();
    let report = world
        .apply(
            json!([map_after("c", "b"), map_after("b", "a"), map("a"), map("z")]),
            &Report::default(),
        )
        .await;
    world.calls();
    let deleted = world.delete(json!({"recorded": report.objects})).await;
    assert_eq!(
        world.calls(),
        ["delete c", "delete b", "delete z", "delete a"]
    );
    assert!(deleted.objects.is_empty() && world.cluster.names().is_empty());
}

#[tokio::test]
async fn an_object_that_took_the_place_of_a_recorded_one_is_left_alone() {
    let world = World::new();
    let report = world.apply(json!([map("a")]), &Report::default()).await;
    world.cluster.with(|state| {
        let metadata = &mut state.objects.get_mut("a").unwrap()["metadata"];
        (metadata["uid"], metadata["managedFields"]) = (json!("another"), json!([]));
    });
    let deleted = world.delete(json!({"recorded": report.objects})).await;
    assert_eq!(
        (deleted.resources[0].state, deleted.resources[0].action),
        (ResourceState::Gone, None)
    );
    assert_eq!(world.cluster.names(), ["a"]);
}

#[tokio::test]
async fn what_is_not_on_record_is_deleted_only_with_the_deployments_mark() {
    let world = World::new();
    world.apply(json!([map("ours")]), &Report::default()).await;
    world.cluster.with(|state| {
        state
            .objects
            .insert("strange".to_owned(), json!({"metadata": {"uid": "u"}}))
    });
    let deleted = world
        .delete(json!({"unconfirmed": [map("ours"), map("strange"), map("never")]}))
        .await;
    assert_eq!(states(&deleted), [("ours", ResourceState::Gone)]);
    assert_eq!(world.cluster.names(), ["strange"]);
}

#[tokio::test]
async fn an_abandoned_object_stays_without_our_marks() {
    let world = World::new();
    let keep =
        json!({"name": "keep", "type": "ConfigMap", "metadata": {"deletePolicy": "ABANDON"}});
    let report = world
        .apply(json!([keep, map("go")]), &Report::default())
        .await;
    let deleted = world.delete(json!({"recorded": report.objects})).await;
    let actions: Vec<_> = deleted
        .resources
        .iter()
        .map(|resource| resource.action)
        .collect();
    assert_eq!(actions, [Some(Action::Deleted), Some(Action::Abandoned)]);
    let labels = world
        .cluster
        .with(|state| state.objects["keep"]["metadata"]["labels"].clone());
    assert!(
        labels.get(DEPLOYMENT).is_none() && labels.get(MANAGED_BY).is_none(),
        "{labels}"
    );
    assert!(deleted.objects.is_empty());
}
