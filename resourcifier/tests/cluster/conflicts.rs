//! Beside other managers and other deployments.

use common::api::deployer::Action;
use serde_json::{Value, json};

use crate::world::{WELL, World, app, error, map};

fn with_policy(mut resource: Value, policy: &str) -> Value {
    resource["metadata"] = json!({"conflictPolicy": policy});
    resource
}

#[tokio::test]
async fn a_conflict_names_the_other_manager_the_field_and_both_values() {
    let world = World::new().await;
    world.applied(json!([app("app", 1, WELL)])).await;
    world.kubectl(&["scale", "deployment", "app", "--replicas=3"]);
    let report = world.apply(json!([app("app", 2, WELL)])).await;
    let message = &error(&report).message;
    assert!(
        message.contains(r#"spec.replicas is 3 by "kubectl", asked for is 2"#),
        "{message}"
    );
    assert!(message.contains("conflictPolicy"), "{message}");
    world.end().await;
}

#[tokio::test]
async fn a_field_is_taken_or_left_as_the_policy_says() {
    let world = World::new().await;
    world.applied(json!([app("app", 1, WELL)])).await;
    world.kubectl(&["scale", "deployment", "app", "--replicas=3"]);
    world
        .applied(json!([with_policy(
            app("app", 2, "simulated.invalid/slow:0s"),
            "YIELD"
        )]))
        .await;
    let live = world.live("deployment", "app");
    assert_eq!(live["spec"]["replicas"], 3);
    assert_eq!(
        live["spec"]["template"]["spec"]["containers"][0]["image"],
        "simulated.invalid/slow:0s"
    );
    world
        .applied(json!([with_policy(app("app", 2, WELL), "TAKE")]))
        .await;
    assert_eq!(world.live("deployment", "app")["spec"]["replicas"], 2);
    world.kubectl(&["scale", "deployment", "app", "--replicas=4"]);
    let resources = json!([with_policy(app("app", 2, WELL), "FAIL")]);
    let report = world
        .try_apply(resources, json!({"policies": {"conflict": "TAKE"}}))
        .await
        .unwrap();
    assert_eq!(
        report.errors().count(),
        0,
        "the request's policy goes over the resource's"
    );
    assert_eq!(world.live("deployment", "app")["spec"]["replicas"], 2);
    world.end().await;
}

#[tokio::test]
async fn an_object_of_another_deployment_is_never_taken_whatever_the_policies() {
    let world = World::new().await;
    let request = json!({"deployment": "other"});
    world
        .try_apply(json!([map("theirs", json!({"a": "1"}))]), request)
        .await
        .unwrap();
    let policies = json!({"policies": {"conflict": "TAKE", "create": "CREATE_OR_ACQUIRE", "update": "REPLACE"}});
    let error = world
        .try_apply(
            json!([map("mine", json!({})), map("theirs", json!({"a": "2"}))]),
            policies,
        )
        .await
        .unwrap_err();
    assert!(
        error.message.contains("belongs to deployment other"),
        "{error}"
    );
    assert!(
        !world
            .kubectl(&["get", "configmaps", "--output=name"])
            .contains("mine")
    );
    world.end().await;
}

#[tokio::test]
async fn creating_and_acquiring_are_refused_where_the_policy_wants_the_other() {
    let world = World::new().await;
    world.kubectl(&["create", "configmap", "there"]);
    let create = json!({"policies": {"create": "CREATE"}});
    let error = world
        .try_apply(json!([map("there", json!({}))]), create)
        .await
        .unwrap_err();
    assert!(error.message.contains("it exists already"), "{error}");
    let acquire = json!({"policies": {"create": "ACQUIRE"}});
    let error = world
        .try_apply(json!([map("gone", json!({}))]), acquire.clone())
        .await
        .unwrap_err();
    assert!(error.message.contains("it does not exist"), "{error}");
    let report = world
        .try_apply(json!([map("there", json!({"a": "1"}))]), acquire)
        .await
        .unwrap();
    assert_eq!(report.resources[0].action, Some(Action::Configured));
    world.end().await;
}

#[tokio::test]
async fn what_cannot_be_changed_is_made_anew_only_where_that_is_asked_for() {
    let world = World::new().await;
    let job = |image: &str| {
        let pod = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": image}]}});
        json!([{"name": "job", "type": "Job", "properties": {"spec": {"template": pod}}}])
    };
    let first = world.applied(job(WELL)).await;
    let report = world.apply(job("simulated.invalid/slow:0s")).await;
    let message = &error(&report).message;
    assert!(
        message.contains("immutable") && message.contains("REPLACE"),
        "{message}"
    );
    let replace = json!({"policies": {"update": "REPLACE"}, "recorded": first.objects});
    let report = world
        .try_apply(job("simulated.invalid/slow:0s"), replace)
        .await
        .unwrap();
    assert_eq!(report.errors().count(), 0);
    assert_ne!(report.objects[0].uid, first.objects[0].uid);
    world.end().await;
}

#[tokio::test]
async fn a_claim_is_not_replaced_because_the_request_says_so() {
    let world = World::new().await;
    let claim = |mode: &str| {
        json!([{"name": "data", "type": "PersistentVolumeClaim", "properties": {"spec": {
            "accessModes": [mode], "resources": {"requests": {"storage": "1Gi"}}}}}])
    };
    let first = world.applied(claim("ReadWriteOnce")).await;
    let replace = json!({"policies": {"update": "REPLACE"}});
    let report = world
        .try_apply(claim("ReadWriteMany"), replace)
        .await
        .unwrap();
    let message = &error(&report).message;
    assert!(
        message.contains("immutable") && !message.contains("REPLACE"),
        "{message}"
    );
    assert_eq!(
        world.live("pvc", "data")["metadata"]["uid"],
        json!(first.objects[0].uid)
    );
    world.end().await;
}
