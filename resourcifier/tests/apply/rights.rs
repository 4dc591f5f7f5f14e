//! Missing permissions of the caller are reported before anything is changed.

use common::api::deployer::Report;
use common::api::error::ErrorCode;
use resourcifier::service::{AnonymousPolicy, Deployer};
use serde_json::{Value, json};

use super::{World, map};

impl World {
    fn deny(&self, what: &[&str]) {
        let denied = what.iter().map(|&one| one.to_owned()).collect();
        self.cluster.with(|state| state.denied = denied);
    }

    fn reviews(&self) -> usize {
        self.cluster
            .with(|state| std::mem::take(&mut state.reviews))
    }

    async fn refused(&self, resources: Value, recorded: &Report) -> (String, Vec<String>) {
        let error = self
            .try_apply(resources, recorded, 20_000)
            .await
            .unwrap_err();
        assert_eq!(error.code, ErrorCode::PermissionsMissing, "{error}");
        assert_eq!(self.calls(), Vec::<String>::new());
        let causes = error.causes.iter().map(ToString::to_string).collect();
        (error.message, causes)
    }
}

#[tokio::test]
async fn all_that_is_missing_is_told_at_once_and_nothing_is_touched() {
    let world = World::new();
    let first = world
        .apply(json!([map("a"), map("old")]), &Report::default())
        .await;
    world.calls();
    world.deny(&[
        "create configmaps",
        "delete configmaps/old",
        "patch services",
    ]);
    let service = json!({"name": "s", "type": "Service"});
    let (message, causes) = world
        .refused(json!([map("a"), map("new"), service]), &first)
        .await;
    assert_eq!(
        message,
        "nothing was touched, because resourcifier's own account may not do all that is needed: create configmaps in namespace home; delete configmaps in namespace home; patch services in namespace home"
    );
    assert_eq!(
        causes[0],
        "resourcifier's own account may not create configmaps in namespace home, for new; a Role in namespace home with that verb on that resource, bound to them, would allow it"
    );
    assert_eq!(causes.len(), 3);
}

#[tokio::test]
async fn what_would_not_change_needs_no_right_to_change_it() {
    let world = World::new();
    let resources = json!([map("a"), map("b")]);
    let first = world.apply(resources.clone(), &Report::default()).await;
    world.deny(&["patch configmaps", "create configmaps"]);
    let second = world.apply(resources, &first).await;
    assert_eq!(second.errors().count(), 0);
}

#[tokio::test]
async fn a_role_for_some_names_is_enough_for_these() {
    let world = World::new();
    world.deny(&["patch configmaps/b"]);
    world
        .apply(json!([map("a"), map("c")]), &Report::default())
        .await;
    world.calls();
    let (message, _) = world
        .refused(json!([map("b"), map("d")]), &Report::default())
        .await;
    assert!(
        message.ends_with("needed: patch configmaps \"b\" in namespace home"),
        "{message}"
    );
}

#[tokio::test]
async fn many_objects_of_a_kind_are_one_question_a_verb() {
    let world = World::new();
    let many: Value = (0..500).map(|n| map(&format!("map-{n}"))).collect();
    world.apply(many, &Report::default()).await;
    assert_eq!(world.reviews(), 3);
}

#[tokio::test]
async fn a_deletion_that_is_not_allowed_deletes_nothing() {
    let world = World::new();
    let first = world
        .apply(json!([map("a"), map("b")]), &Report::default())
        .await;
    world.deny(&["delete configmaps/b"]);
    let request = json!({"deployment": "web", "namespace": "home", "recorded": first.objects, "timeoutMs": 20_000});
    let request = serde_json::from_value(request).unwrap();
    let prepared = world.deployer.prepare_delete(request).await.unwrap();
    let error = super::ended(prepared.delete(&World::events()).await).unwrap_err();
    assert_eq!(error.code, ErrorCode::PermissionsMissing);
    assert_eq!(world.cluster.names(), ["a", "b"]);
}

#[tokio::test]
async fn a_request_in_nobodys_name_is_refused_where_names_are_required() {
    let world = World::new();
    let deployer = Deployer::new(world.cluster.clone(), AnonymousPolicy::Refuse);
    let request = |more: Value| {
        let mut whole =
            json!({"deployment": "web", "namespace": "home", "resources": [], "timeoutMs": 1_000});
        let fields = whole.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        serde_json::from_value(whole).unwrap()
    };
    let refused = deployer.prepare_apply(request(json!({}))).await.err();
    assert_eq!(refused.unwrap().code, ErrorCode::Forbidden);
    let status = serde_json::from_value(json!({"objects": []})).unwrap();
    assert!(deployer.status(status).await.is_err());
    assert!(deployer.read("ConfigMap", None, None).await.is_err());
    let named = request(json!({"onBehalfOf": {"user": "jane"}}));
    assert!(deployer.prepare_apply(named).await.is_ok());
}
