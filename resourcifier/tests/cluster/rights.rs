//! Nobody gets more out of us than they could do themselves.

use common::api::deployer::{ObjectState, Report, ResourceIntent};
use common::api::error::{ErrorBody, ErrorCode};
use serde_json::{Value, json};

use super::world::{WELL, World, app, map};

const CRASH: &str = "simulated.invalid/crash";

impl World {
    /// A role in the namespace, for one user.
    fn grant(&self, user: &str, name: &str, verbs: &str, resources: &str) {
        let (verbs, resources) = (format!("--verb={verbs}"), format!("--resource={resources}"));
        self.kubectl(&["create", "role", name, &verbs, &resources]);
        let (role, user) = (format!("--role={name}"), format!("--user={user}"));
        self.kubectl(&["create", "rolebinding", name, &role, &user]);
    }

    fn exists(&self, kind: &str, name: &str) -> bool {
        let found = self.kubectl(&["get", kind, name, "--ignore-not-found", "-o", "name"]);
        !found.trim().is_empty()
    }
}

fn lacks(error: &ErrorBody, access: &str) {
    assert_eq!(error.code, ErrorCode::PermissionsMissing, "{error}");
    assert!(error.message.contains(access), "{error}");
}

#[tokio::test]
async fn who_may_not_create_deployments_gets_none_and_is_told_before_anything_is_made() {
    let world = World::new().await;
    world.grant("jane", "maps", "get,create,patch,delete", "configmaps");
    world.grant("jane", "look", "get", "deployments.apps");
    let hers = world.in_the_name_of("jane");
    let resources = json!([map("m", json!({})), app("app", 1, WELL)]);
    let shown = hers.diff(resources.clone(), json!({})).await;
    assert_eq!(shown.resources[0].error, None);
    let missing: Vec<String> = shown.resources[1]
        .missing_permissions
        .iter()
        .map(ToString::to_string)
        .collect();
    let place = format!("in namespace {}", world.namespace);
    let expected = [
        format!("patch deployments.apps {place}"),
        format!("create deployments.apps {place}"),
    ];
    assert_eq!(missing, expected);
    let reported = &shown.resources[1].error.as_ref().unwrap().message;
    assert!(
        reported.contains(&format!(
            "jane may not patch deployments.apps {place}, nor create"
        )),
        "{reported}"
    );
    let error = hers.try_apply(resources, json!({})).await.unwrap_err();
    lacks(&error, &expected[0]);
    lacks(&error, &expected[1]);
    assert!(!world.exists("configmap", "m") && !world.exists("deployment", "app"));
    hers.end_only_service().await;
    world.end().await;
}

#[tokio::test]
async fn a_deployment_of_somebody_who_may_is_neither_changed_nor_deleted_by_one_who_may_not() {
    let world = World::new().await;
    world.grant("jane", "maps", "get,create,patch,delete", "configmaps");
    let first = world
        .applied(json!([map("m", json!({})), app("app", 1, WELL)]))
        .await;
    let hers = world.in_the_name_of("jane");
    let recorded = json!({"recorded": first.objects});
    // A change, a replacement, a withdrawal, and a deletion.
    let mut replaced = app("app", 2, WELL);
    replaced["metadata"] = json!({"updatePolicy": "REPLACE"});
    for resources in [
        json!([map("m", json!({"a": "1"})), app("app", 3, WELL)]),
        json!([map("m", json!({"a": "1"})), replaced]),
        json!([map("m", json!({"a": "1"}))]),
    ] {
        let error = hers
            .try_apply(resources, recorded.clone())
            .await
            .unwrap_err();
        lacks(&error, "deployments.apps");
    }
    let error = hers.try_delete(&first, 20_000).await.unwrap_err();
    lacks(&error, "delete deployments.apps");
    assert_eq!(world.live("configmap", "m")["data"], Value::Null);
    assert_eq!(world.live("deployment", "app")["spec"]["replicas"], 1);
    let statuses = hers
        .status(
            &first,
            json!([map("m", json!({})), app("app", 1, WELL)]),
            json!({}),
        )
        .await;
    let of_app = statuses
        .iter()
        .find(|status| status.applied.object.kind == "Deployment")
        .unwrap();
    assert_eq!(of_app.state, ObjectState::NotReady);
    let reason = of_app.reason.as_ref().unwrap();
    assert!(
        reason.contains("jane may not get deployments.apps"),
        "{reason}"
    );
    hers.end_only_service().await;
    world.end().await;
}

#[tokio::test]
async fn a_right_that_was_withdrawn_is_gone_with_the_next_request() {
    let world = World::new().await;
    world.grant(
        "jane",
        "apps",
        "get,create,patch,delete",
        "deployments.apps",
    );
    let hers = world.in_the_name_of("jane");
    let first = hers.applied(json!([app("app", 1, WELL)])).await;
    world.kubectl(&["delete", "rolebinding", "apps"]);
    let again = || {
        hers.try_apply(
            json!([app("app", 2, WELL)]),
            json!({"recorded": first.objects}),
        )
    };
    // The API server's authorizer hears of it by a watch.
    let error = e2e::until(
        "the right to be gone",
        std::time::Duration::from_secs(20),
        || async {
            let outcome = again().await;
            outcome
                .err()
                .ok_or_else(|| anyhow::anyhow!("it was applied"))
        },
    );
    lacks(&error.await.unwrap(), "get deployments.apps");
    hers.end_only_service().await;
    world.end().await;
}

/// Nothing but what it takes to do the same with kubectl, object by object.
#[tokio::test]
async fn the_least_rights_are_enough_to_deploy_update_look_and_delete() {
    let world = World::new().await;
    let kinds = "configmaps,secrets,services,deployments.apps";
    world.grant("jane", "least", "get,create,patch,delete", kinds);
    let hers = world.in_the_name_of("jane");
    let mut resources: Vec<Value> = (0..12).map(|n| map(&format!("m{n}"), json!({}))).collect();
    resources.push(app("app", 1, WELL));
    resources.push(json!({"name": "key", "type": "Secret", "properties": {"stringData": {"a": "$(ref.app.metadata.name)"}}}));
    let shown = hers.diff(json!(resources), json!({})).await;
    let creates = |one: &&common::api::deployer::ResourceDiff| {
        one.intent == ResourceIntent::Create && one.error.is_none()
    };
    assert_eq!(shown.resources.iter().filter(creates).count(), 14);
    let first = hers.applied(json!(resources)).await;
    resources.truncate(1);
    resources.push(app("app", 2, WELL));
    let recorded = json!({"recorded": first.objects});
    let second = hers.try_apply(json!(resources), recorded).await.unwrap();
    assert_eq!(second.errors().count(), 0, "{second:?}");
    assert_eq!(second.objects.len(), 2);
    let statuses = hers.status(&second, json!(resources), json!({})).await;
    let is_fine = statuses
        .iter()
        .all(|status| status.state == ObjectState::Ready && status.drift.is_empty());
    assert!(is_fine, "{statuses:?}");
    let removed = hers.delete(&second, 60_000).await;
    assert!(removed.objects.is_empty() && !world.exists("deployment", "app"));
    hers.end_only_service().await;
    world.end().await;
}

#[tokio::test]
async fn who_may_not_read_pods_is_told_that_their_trouble_is_hidden() {
    let world = World::new().await;
    world.grant("jane", "least", "get,create,patch", "deployments.apps");
    let hers = world.in_the_name_of("jane");
    let report: Report = hers
        .try_apply(json!([app("app", 1, CRASH)]), json!({"timeoutMs": 6_000}))
        .await
        .unwrap();
    let error = report.errors().next().unwrap();
    let causes: Vec<String> = error.causes.iter().map(ToString::to_string).collect();
    let reported = causes.join("\n");
    for hidden in [
        "jane may not list replicasets.apps",
        "jane may not list events",
    ] {
        assert!(reported.contains(hidden), "{error}\n{reported}");
    }
    hers.end_only_service().await;
    world.end().await;
}

#[tokio::test]
async fn rights_that_the_plan_itself_grants_are_not_asked_for_before() {
    let world = World::new().await;
    world.grant(
        "jane",
        "bind",
        "get,create,patch",
        "rolebindings.rbac.authorization.k8s.io,serviceaccounts",
    );
    world.kubectl(&[
        "create",
        "role",
        "bind-edit",
        "--verb=bind",
        "--resource=clusterroles.rbac.authorization.k8s.io",
        "--resource-name=edit",
    ]);
    world.kubectl(&[
        "create",
        "rolebinding",
        "bind-edit",
        "--role=bind-edit",
        "--user=jane",
    ]);
    let bind = format!("jane-binds-{}", world.namespace);
    world
        .cluster
        .kubectl(&[
            "create",
            "clusterrole",
            &bind,
            "--verb=bind",
            "--resource=clusterroles.rbac.authorization.k8s.io",
            "--resource-name=edit",
        ])
        .unwrap();
    world
        .cluster
        .kubectl(&[
            "create",
            "clusterrolebinding",
            &bind,
            "--clusterrole",
            &bind,
            "--user=jane",
        ])
        .unwrap();
    let hers = world.in_the_name_of("jane");
    let binding = json!({"name": "self", "type": "RoleBinding", "properties": {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}],
    }});
    let mut after = map("m", json!({}));
    after["metadata"] = json!({"dependsOn": ["self"]});
    let outcome = hers.try_apply(json!([binding, after]), json!({})).await;
    for kind in ["clusterrolebinding", "clusterrole"] {
        world.cluster.kubectl(&["delete", kind, &bind]).unwrap();
    }
    assert_eq!(outcome.unwrap().errors().count(), 0);
    assert!(world.exists("rolebinding", "self"));
    hers.end_only_service().await;
    world.end().await;
}

/// Kubernetes lets nobody give what they have not got, and a plan is nobody's way around that.
#[tokio::test]
async fn who_may_make_roles_gets_no_deployment_by_granting_it_to_themselves() {
    let world = World::new().await;
    let api = "rbac.authorization.k8s.io";
    let kinds = format!("roles.{api},rolebindings.{api},configmaps");
    world.grant("jane", "roles", "get,create,patch", &kinds);
    let hers = world.in_the_name_of("jane");
    let role = json!({"name": "more", "type": "Role", "properties": {"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}});
    let bound = |name: &str, kind: &str, role: &str| {
        json!({"name": name, "type": "RoleBinding", "properties": {
            "roleRef": {"apiGroup": api, "kind": kind, "name": role},
            "subjects": [{"apiGroup": api, "kind": "User", "name": "jane"}],
        }})
    };
    let mut app = app("app", 1, WELL);
    app["metadata"] = json!({"dependsOn": ["self", "own"]});
    let whole = bound("self", "ClusterRole", "cluster-admin");
    let resources = json!([role, bound("own", "Role", "more"), whole, app]);
    let outcome = hers.try_apply(resources, json!({"timeoutMs": 4_000})).await;
    let report = outcome.unwrap();
    assert!(report.errors().count() > 0, "{report:?}");
    assert!(!world.exists("role", "more") && !world.exists("rolebinding", "self"));
    assert!(!world.exists("deployment", "app"));
    hers.end_only_service().await;
    world.end().await;
}

/// What a reference gives goes into another object, where its reader may see it.
#[tokio::test]
async fn a_reference_reads_nothing_that_the_caller_may_not_read() {
    let world = World::new().await;
    world.kubectl(&[
        "create",
        "secret",
        "generic",
        "theirs",
        "--from-literal=password=hunter22",
    ]);
    let api = "rbac.authorization.k8s.io";
    let kinds = format!("configmaps,rolebindings.{api}");
    world.grant("jane", "maps", "get,create,patch", &kinds);
    world.grant("jane", "secrets", "create,patch,update", "secrets");
    let hers = world.in_the_name_of("jane");
    let theirs = json!({"name": "theirs", "type": "Secret"});
    let copy = map("copy", json!({"password": "$(ref.theirs.data.password)"}));
    let error = hers.try_apply(json!([theirs, copy]), json!({})).await;
    lacks(&error.unwrap_err(), "get secrets");
    // Behind a binding of the plan, of which nothing is asked beforehand.
    let binding = json!({"name": "self", "type": "RoleBinding", "properties": {
        "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": "view"},
        "subjects": [{"apiGroup": api, "kind": "User", "name": "jane"}],
    }});
    let resources = json!([binding, theirs, copy]);
    let report = hers.try_apply(resources, json!({"timeoutMs": 4_000})).await;
    assert!(report.unwrap().errors().count() > 0);
    assert!(!world.exists("configmap", "copy"));
    hers.end_only_service().await;
    world.end().await;
}

#[tokio::test]
async fn a_resourcifier_that_may_not_act_for_others_says_what_it_lacks() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    world.kubectl(&["create", "serviceaccount", "limited"]);
    let limited = world.with_kubeconfig(super::bad_input::kubeconfig(&world, folder.path()));
    let limited = limited.acting_for("jane");
    let error = limited
        .try_apply(json!([map("m", json!({}))]), json!({}))
        .await
        .unwrap_err();
    assert!(
        error.message.contains("may not act for its callers"),
        "{error}"
    );
    limited.end_only_service().await;
    world.end().await;
}
