//! The port to the cluster: what every adapter promises, and what `kubectl proxy` adds of its own.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

#[expect(dead_code, reason = "the scripted troubles are for other tests")]
mod support;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use common::api::review::{Access, TokenReview};
use common::model::{Identity, ObjectRef, Secret};
use e2e::Cluster as ControlPlane;
use futures::StreamExt;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use resourcifier::kubectl::{
    ApplyOptions, Caller, Cascade, Change, Cluster, DeleteOptions, Deletion, Gate, Kubectl,
    KubectlError, Log, ObjectFault, PageRequest, PatchOptions, Precondition, Query, ServedKind,
    Settings, ThroughProxy, object_ref,
};
use serde_json::{Value, json};
use support::Cluster as InMemory;

const LONG: Duration = Duration::from_secs(20);

/// An adapter, and a namespace of its own.
struct World {
    cluster: Arc<dyn Cluster>,
    kubectl: Arc<dyn Kubectl>,
    namespace: String,
}

impl World {
    fn new(cluster: Arc<dyn Cluster>, namespace: String) -> Self {
        Self {
            kubectl: cluster
                .clone()
                .acting_for(Caller::itself(), Arc::new(Gate::open())),
            cluster,
            namespace,
        }
    }

    fn acting_for(&self, identity: &Identity) -> Arc<dyn Kubectl> {
        let caller = Caller::new(identity.clone()).unwrap();
        self.cluster
            .clone()
            .acting_for(caller, Arc::new(Gate::open()))
    }

    fn map(&self, name: &str, data: Value) -> Value {
        let metadata =
            json!({"name": name, "namespace": self.namespace, "labels": {"part-of": "suite"}});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    }

    async fn apply_as(&self, manager: &str, object: &Value) -> Result<Value, KubectlError> {
        self.kubectl.apply(object, by(manager), LONG).await
    }

    async fn apply_if(
        &self,
        object: &Value,
        precondition: Precondition<'_>,
    ) -> Result<Value, KubectlError> {
        let options = ApplyOptions {
            precondition,
            ..by("dm-a")
        };
        self.kubectl.apply(object, options, LONG).await
    }

    async fn patch(
        &self,
        object: &Value,
        patch: &Value,
        precondition: Precondition<'_>,
    ) -> Result<Option<Value>, KubectlError> {
        let options = PatchOptions {
            manager: "dm-a",
            precondition,
        };
        self.kubectl
            .patch(&object_ref(object), patch, options, LONG)
            .await
    }

    async fn apply(&self, object: &Value) -> Value {
        self.apply_as("dm-a", object).await.unwrap()
    }

    async fn live(&self, object: &Value) -> Option<Value> {
        self.kubectl.get(&object_ref(object), LONG).await.unwrap()
    }

    async fn kind(&self, kind: &str) -> ServedKind {
        let kinds = self.cluster.kinds().await.unwrap();
        kinds
            .into_iter()
            .find(|served| served.kind == kind)
            .unwrap()
    }

    fn query<'a>(&'a self, kind: &'a ServedKind) -> Query<'a> {
        Query {
            kind,
            namespace: Some(&self.namespace),
            selector: Some("part-of=suite"),
            metadata_only: false,
        }
    }
}

fn identity(user: &str, groups: &[&str]) -> Identity {
    serde_json::from_value(json!({"user": user, "groups": groups})).unwrap()
}

fn by(manager: &str) -> ApplyOptions<'_> {
    ApplyOptions {
        manager,
        force: false,
        dry_run: false,
        precondition: Precondition::None,
    }
}

/// As it was read.
fn unchanged(read: &Value) -> Precondition<'_> {
    Precondition::Unchanged {
        uid: read["metadata"]["uid"].as_str().unwrap(),
        version: read["metadata"]["resourceVersion"].as_str().unwrap(),
    }
}

fn delete_of(uid: Option<&str>) -> DeleteOptions<'_> {
    DeleteOptions {
        uid,
        version: None,
        cascade: Cascade::Background,
    }
}

fn names(items: &[Value]) -> Vec<String> {
    items.iter().map(|item| object_ref(item).name).collect()
}

async fn keeps_the_promises(world: &World) {
    it_serves_kinds(world).await;
    what_is_applied_is_there_and_applying_it_again_changes_nothing(world).await;
    a_dry_run_tells_and_writes_nothing(world).await;
    fields_are_owned(world).await;
    a_list_comes_in_pages(world).await;
    changes_are_watched(world).await;
    only_the_object_with_the_uid_is_deleted(world).await;
    labels_come_off(world).await;
    a_write_that_comes_second_writes_nothing(world).await;
    another_object_of_the_name_is_not_written(world).await;
    a_create_is_tried_beside_the_object_that_has_the_name(world).await;
    what_is_not_there_is_told(world).await;
    a_token_that_is_not_known_is_a_verdict(world).await;
    a_caller_is_remembered_and_asked_about(world).await;
}

async fn a_token_that_is_not_known_is_a_verdict(world: &World) {
    let review = TokenReview {
        token: Secret::new("nobodys"),
        audiences: Vec::new(),
    };
    let verdict = world.cluster.review_token(&review, LONG).await.unwrap();
    assert!(!verdict.authenticated && verdict.identity.is_none());
    let error = verdict.error.unwrap();
    assert!(!error.contains("nobodys"), "{error}");
}

async fn a_caller_is_remembered_and_asked_about(world: &World) {
    assert_eq!(world.kubectl.caller(), None);
    let jane = identity("jane", &["dev"]);
    let hers = world.acting_for(&jane);
    assert_eq!(hers.caller(), Some(&jane));
    let access = Access {
        verb: "patch".to_owned(),
        group: String::new(),
        resource: "secrets".to_owned(),
        subresource: None,
        namespace: Some(world.namespace.clone()),
        name: None,
    };
    assert!(!hers.may(&access, LONG).await.unwrap().allowed);
    let reviewed = world.cluster.review_access(&jane, &access, LONG).await;
    assert!(!reviewed.unwrap().allowed);
}

async fn it_serves_kinds(world: &World) {
    let kinds = world.cluster.kinds().await.unwrap();
    let map = kinds.iter().find(|kind| kind.kind == "ConfigMap").unwrap();
    assert_eq!(
        (
            map.api_version.as_str(),
            map.resource.as_str(),
            map.namespaced,
            map.applicable
        ),
        ("v1", "configmaps", true, true)
    );
    let batch = world.cluster.kinds_of("batch/v1").await.unwrap();
    assert!(batch.iter().any(|kind| kind.kind == "Job"));
    assert_eq!(world.cluster.kinds_of("no.such/v1").await.unwrap(), []);
    let versions = world.cluster.versions(LONG).await.unwrap();
    assert!(versions.client.starts_with("v1.") && versions.server.unwrap().starts_with("v1."));
}

async fn what_is_applied_is_there_and_applying_it_again_changes_nothing(world: &World) {
    let map = world.map("again", json!({"a": "1"}));
    assert_eq!(world.live(&map).await, None);
    let first = world.apply(&map).await;
    assert!(first["metadata"]["uid"].is_string());
    assert_eq!(world.live(&map).await.unwrap()["data"], json!({"a": "1"}));
    let second = world.apply(&map).await;
    assert_eq!(
        first["metadata"]["resourceVersion"],
        second["metadata"]["resourceVersion"]
    );
    let third = world.apply(&world.map("again", json!({"b": "2"}))).await;
    assert_eq!(
        third["data"],
        json!({"b": "2"}),
        "what is not applied any more goes"
    );
    assert_ne!(
        first["metadata"]["resourceVersion"],
        third["metadata"]["resourceVersion"]
    );
}

async fn a_dry_run_tells_and_writes_nothing(world: &World) {
    let map = world.map("dry", json!({"a": "1"}));
    let options = ApplyOptions {
        dry_run: true,
        ..by("dm-a")
    };
    let would = world.kubectl.apply(&map, options, LONG).await.unwrap();
    assert_eq!(would["data"], json!({"a": "1"}));
    assert_eq!(world.live(&map).await, None);
}

async fn fields_are_owned(world: &World) {
    world
        .apply_as(
            "other",
            &world.map("shared", json!({"a": "theirs", "b": "theirs"})),
        )
        .await
        .unwrap();
    let ours = world.map("shared", json!({"a": "ours", "b": "theirs", "c": "ours"}));
    let error = world.apply_as("dm-a", &ours).await.unwrap_err();
    assert_eq!(error.fault(), Some(ObjectFault::Conflict), "{error}");
    let fields: Vec<_> = error
        .conflicts()
        .iter()
        .map(|cause| cause.field.as_str())
        .collect();
    assert_eq!(fields, [".data.a"]);
    assert!(
        error.conflicts()[0].message.contains("\"other\""),
        "{error}"
    );
    let forced = ApplyOptions {
        force: true,
        ..by("dm-a")
    };
    let taken = world.kubectl.apply(&ours, forced, LONG).await.unwrap();
    assert_eq!(
        taken["data"],
        json!({"a": "ours", "b": "theirs", "c": "ours"})
    );
    let managers: Vec<_> = taken["metadata"]["managedFields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["manager"].as_str().unwrap())
        .collect();
    assert!(
        managers.contains(&"dm-a") && managers.contains(&"other"),
        "{managers:?}"
    );
}

async fn a_list_comes_in_pages(world: &World) {
    for name in ["page-1", "page-2", "page-3"] {
        world.apply(&world.map(name, json!({"a": "1"}))).await;
    }
    let kind = world.kind("ConfigMap").await;
    let query = Query {
        metadata_only: true,
        ..world.query(&kind)
    };
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let request = PageRequest {
            limit: 2,
            after: after.as_deref(),
        };
        let page = world.kubectl.list(query, request, LONG).await.unwrap();
        assert!(page.items.len() <= 2);
        assert!(
            page.items
                .iter()
                .all(|item| item["kind"] == "ConfigMap" && item.get("data").is_none())
        );
        found.extend(names(&page.items));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    for name in ["page-1", "page-2", "page-3"] {
        assert_eq!(
            found.iter().filter(|found| *found == name).count(),
            1,
            "{found:?}"
        );
    }
    let nothing = Query {
        selector: Some("part-of=nothing"),
        ..query
    };
    let page = world
        .kubectl
        .list(
            nothing,
            PageRequest {
                limit: 2,
                after: None,
            },
            LONG,
        )
        .await
        .unwrap();
    assert_eq!((page.items, page.next), (Vec::new(), None));
}

async fn changes_are_watched(world: &World) {
    let kind = world.kind("ConfigMap").await;
    let query = world.query(&kind);
    let page = world
        .kubectl
        .list(
            query,
            PageRequest {
                limit: 500,
                after: None,
            },
            LONG,
        )
        .await
        .unwrap();
    let map = world.map("watched", json!({"a": "1"}));
    let missed = world.apply(&map).await;
    let mut changes = world
        .kubectl
        .watch(query, &page.version, LONG)
        .await
        .unwrap();
    let first = changes.next().await.unwrap().unwrap();
    assert_eq!(first.object()["metadata"]["uid"], missed["metadata"]["uid"]);
    assert!(matches!(first, Change::Is(_)));
    world
        .kubectl
        .delete(&object_ref(&map), delete_of(None), LONG)
        .await
        .unwrap();
    let second = changes.next().await.unwrap().unwrap();
    assert!(matches!(second, Change::Gone(_)), "{second:?}");
    drop(changes);
    let mut short = world
        .kubectl
        .watch(query, &page.version, Duration::from_secs(1))
        .await
        .unwrap();
    while short.next().await.is_some() {}
}

async fn only_the_object_with_the_uid_is_deleted(world: &World) {
    let map = world.map("once", json!({"a": "1"}));
    let object = object_ref(&map);
    let live = world.apply(&map).await;
    let delete = |uid| world.kubectl.delete(&object, delete_of(uid), LONG);
    assert_eq!(delete(Some("another")).await, Ok(Deletion::Replaced));
    assert!(world.live(&map).await.is_some());
    assert_eq!(
        delete(live["metadata"]["uid"].as_str()).await,
        Ok(Deletion::Gone)
    );
    assert_eq!(world.live(&map).await, None);
    assert_eq!(
        delete(live["metadata"]["uid"].as_str()).await,
        Ok(Deletion::Missing)
    );
    assert_eq!(delete(None).await, Ok(Deletion::Missing));
}

async fn labels_come_off(world: &World) {
    let map = world.map("marked", json!({"a": "1"}));
    world.apply(&map).await;
    let patch = json!({"metadata": {"labels": {"part-of": null, "never": null}}});
    for _ in 0..2 {
        world.patch(&map, &patch, Precondition::None).await.unwrap();
    }
    let live = world.live(&map).await.unwrap();
    assert_eq!(live["metadata"]["labels"].get("part-of"), None);
    let missing = world.map("never", json!({}));
    let patched = world.patch(&missing, &patch, Precondition::None).await;
    assert_eq!(patched, Ok(None));
}

/// What a writer has read does not count any more once somebody else has written: nothing is created, changed or deleted.
async fn a_write_that_comes_second_writes_nothing(world: &World) {
    let map = |value: &str| world.map("raced", json!({"a": value}));
    let absent = |map: Value| async move { world.apply_if(&map, Precondition::Absent).await };
    let read = absent(map("1")).await.unwrap();
    let second = world.apply(&map("2")).await;
    let is_lost = |outcome: Result<Value, KubectlError>| outcome.unwrap_err().is_lost_race();
    assert!(is_lost(absent(map("2")).await));
    let forced = ApplyOptions {
        force: true,
        precondition: unchanged(&read),
        ..by("dm-b")
    };
    assert!(is_lost(world.kubectl.apply(&map("3"), forced, LONG).await));
    let patch = json!({"data": {"a": "3"}});
    let outcome = world.patch(&map("3"), &patch, unchanged(&read)).await;
    assert!(outcome.unwrap_err().is_lost_race());
    let stale = DeleteOptions {
        version: read["metadata"]["resourceVersion"].as_str(),
        ..delete_of(read["metadata"]["uid"].as_str())
    };
    let deleted = world
        .kubectl
        .delete(&object_ref(&map("3")), stale, LONG)
        .await;
    assert_eq!(deleted, Ok(Deletion::Changed));
    assert_eq!(world.live(&map("3")).await, Some(second.clone()));
    let third = world.apply_if(&map("3"), unchanged(&second)).await.unwrap();
    assert_eq!(third["data"]["a"], "3");
    let version = third["metadata"]["resourceVersion"].as_str();
    let fresh = DeleteOptions {
        version,
        ..delete_of(third["metadata"]["uid"].as_str())
    };
    let id = object_ref(&third);
    let deleted = world.kubectl.delete(&id, fresh, LONG).await;
    assert_eq!(deleted, Ok(Deletion::Gone));
    assert!(is_lost(world.apply_if(&map("4"), unchanged(&third)).await));
    assert_eq!(
        world.live(&map("4")).await,
        None,
        "an update creates nothing"
    );
}

async fn another_object_of_the_name_is_not_written(world: &World) {
    let map = world.map("reborn", json!({"a": "1"}));
    let first = world.apply(&map).await;
    let id = object_ref(&map);
    let deleted = world.kubectl.delete(&id, delete_of(None), LONG).await;
    assert_eq!(deleted, Ok(Deletion::Gone));
    let second = world.apply(&map).await;
    let error = world.apply_if(&map, unchanged(&first)).await.unwrap_err();
    assert!(error.is_lost_race(), "{error}");
    assert_eq!(world.live(&map).await, Some(second));
}

async fn a_create_is_tried_beside_the_object_that_has_the_name(world: &World) {
    let map = world.map("tried", json!({"a": "1"}));
    let live = world.apply(&map).await;
    for object in [&map, &world.map("untried", json!({"a": "1"}))] {
        let tried = world.kubectl.try_create(object, "dm-a", LONG).await;
        assert_eq!(tried, Ok(()));
    }
    assert_eq!(world.live(&map).await, Some(live));
    let missing = world.live(&world.map("untried", json!({}))).await;
    assert_eq!(missing, None);
}

async fn what_is_not_there_is_told(world: &World) {
    let map = world.map("unnoted", json!({"a": "1"}));
    world.apply(&map).await;
    assert_eq!(
        world.kubectl.events(&object_ref(&map), None, LONG).await,
        Ok(Vec::new())
    );
    let log = Log {
        namespace: &world.namespace,
        pod: "none",
        container: "main",
        lines: 20,
        previous: false,
    };
    let error = world.kubectl.log(log, LONG).await.unwrap_err();
    assert!(
        error.to_string().contains("pods \"none\" not found"),
        "{error}"
    );
    let odd = ObjectRef {
        api_version: "no.such/v1".to_owned(),
        kind: "Odd".to_owned(),
        namespace: Some(world.namespace.clone()),
        name: "odd".to_owned(),
    };
    let error = world.kubectl.get(&odd, LONG).await.unwrap_err();
    assert_eq!(error.fault(), Some(ObjectFault::Unserved), "{error}");
}

#[tokio::test]
async fn the_cluster_in_memory_keeps_the_promises() {
    let cluster = InMemory::default();
    cluster.with(|state| {
        state.watchable = true;
        state.denied.push("patch secrets".to_owned());
    });
    keeps_the_promises(&World::new(Arc::new(cluster), "home".to_owned())).await;
}

/// `kubectl proxy` before the control plane, in a namespace of its own.
async fn through_proxy(name: &str) -> (Arc<ThroughProxy>, String) {
    let control_plane = ControlPlane::shared().await.unwrap();
    let namespace = format!("kubectl-{name}");
    control_plane
        .kubectl(&["create", "namespace", &namespace])
        .unwrap();
    (
        Arc::new(ThroughProxy::new(settings(control_plane)).unwrap()),
        namespace,
    )
}

fn settings(control_plane: &ControlPlane) -> Settings {
    Settings {
        program: std::env::var_os("DM_KUBECTL")
            .map_or_else(|| control_plane.kubectl_path().to_owned(), PathBuf::from),
        kubeconfig: Some(control_plane.kubeconfig().to_owned()),
        context: None,
        launcher: None,
    }
}

fn map_in(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": {"a": "1"}})
}

#[tokio::test]
async fn kubectl_proxy_keeps_the_promises() {
    let (kubectl, namespace) = through_proxy("promises").await;
    keeps_the_promises(&World::new(kubectl, namespace)).await;
}

#[tokio::test]
async fn many_calls_at_once_all_end() {
    let (cluster, namespace) = through_proxy("many").await;
    let kubectl = cluster.acting_for(Caller::itself(), Arc::new(Gate::open()));
    let maps: Vec<Value> = (0..200)
        .map(|n| map_in(&namespace, &format!("many-{n}")))
        .collect();
    let calls = maps.iter().map(|map| kubectl.apply(map, by("dm-a"), LONG));
    let outcomes = futures::future::join_all(calls).await;
    assert!(outcomes.iter().all(Result::is_ok));
}

/// A kubectl that writes down which process it is.
fn noting(folder: &Path, kubectl: &Path) -> PathBuf {
    let program = folder.join("kubectl");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = proxy ] && echo $$ > {}\nexec {} \"$@\"\n",
        folder.join("pid").display(),
        kubectl.display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, Permissions::from_mode(0o700)).unwrap();
    program
}

fn noted(folder: &Path) -> Pid {
    let text = std::fs::read_to_string(folder.join("pid")).unwrap();
    Pid::from_raw(text.trim().parse().unwrap())
}

#[tokio::test]
async fn a_proxy_that_dies_is_started_again_unseen_and_ends_with_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let control_plane = ControlPlane::shared().await.unwrap();
    let settings = settings(control_plane);
    let program = noting(folder.path(), &settings.program);
    let kubectl = ThroughProxy::new(Settings {
        program,
        ..settings
    })
    .unwrap();
    kubectl.kinds().await.unwrap();
    let first = noted(folder.path());
    kill(first, Signal::SIGKILL).unwrap();
    let calls = (0..8).map(|_| kubectl.kinds());
    futures::future::try_join_all(calls).await.unwrap();
    let second = noted(folder.path());
    assert_ne!(first, second);
    kubectl.stop().await;
    assert!(kubectl.kinds().await.is_err());
    e2e::until("the proxy to end", LONG, || async {
        let stat = std::fs::read_to_string(format!("/proc/{second}/stat")).unwrap_or_default();
        anyhow::ensure!(stat.is_empty() || stat.contains(") Z "), "{stat}");
        Ok(())
    })
    .await
    .unwrap();
}

/// Each call of the port that reaches objects, by somebody who may do nothing.
#[tokio::test]
async fn every_call_reaches_the_api_server_in_the_callers_name() {
    let (cluster, namespace) = through_proxy("caller").await;
    let world = World::new(cluster, namespace);
    let map = world.map("mine", json!({"a": "1"}));
    world.apply(&map).await;
    let (id, kind) = (object_ref(&map), world.kind("ConfigMap").await);
    let hers = world.acting_for(&identity("jane", &[]));
    let page = PageRequest {
        limit: 1,
        after: None,
    };
    let log = Log {
        namespace: &world.namespace,
        pod: "p",
        container: "c",
        lines: 1,
        previous: false,
    };
    let patch = json!({"metadata": {"labels": {"part-of": null}}});
    let how = PatchOptions {
        manager: "dm-a",
        precondition: Precondition::None,
    };
    let query = world.query(&kind);
    let errors = [
        ("get", hers.get(&id, LONG).await.err()),
        ("list", hers.list(query, page, LONG).await.err()),
        ("watch", hers.watch(query, "1", LONG).await.err()),
        ("patch", hers.apply(&map, by("dm-a"), LONG).await.err()),
        (
            "delete",
            hers.delete(&id, delete_of(None), LONG).await.err(),
        ),
        ("patch", hers.patch(&id, &patch, how, LONG).await.err()),
        ("create", hers.try_create(&map, "dm-a", LONG).await.err()),
        ("get pods/log", hers.log(log, LONG).await.err()),
        ("list events", hers.events(&id, None, LONG).await.err()),
    ];
    for (verb, error) in errors {
        let error = error.unwrap();
        assert_eq!(error.fault(), Some(ObjectFault::Forbidden), "{error}");
        let expected = format!("forbidden: jane may not {verb}");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
    assert_eq!(world.live(&map).await.unwrap()["data"]["a"], "1");
}

#[tokio::test]
async fn a_callers_groups_count_and_all_of_a_token_comes_back_as_it_is() {
    let (cluster, namespace) = through_proxy("identity").await;
    let control_plane = ControlPlane::shared().await.unwrap();
    let world = World::new(cluster, namespace.clone());
    let in_namespace = ["--namespace", &namespace];
    let grant = [
        "create",
        "rolebinding",
        "team",
        "--clusterrole=edit",
        "--group=Team Ünion",
    ];
    control_plane
        .kubectl(&[&grant[..], &in_namespace].concat())
        .unwrap();
    let hers = world.acting_for(&identity("jane", &["Team Ünion"]));
    let map = world.map("m", json!({}));
    hers.apply(&map, by("dm-a"), LONG).await.unwrap();
    let make = ["create", "token", "default", "--audience=dm"];
    let token = control_plane
        .kubectl(&[&make[..], &in_namespace].concat())
        .unwrap();
    let review = |audience: &str| TokenReview {
        token: Secret::new(token.trim()),
        audiences: vec![audience.to_owned()],
    };
    let verdict = world.cluster.review_token(&review("dm"), LONG).await;
    let bearer = verdict.unwrap().identity.unwrap();
    let expected = format!("system:serviceaccount:{namespace}:default");
    assert_eq!(bearer.user(), expected);
    let error = world.acting_for(&bearer).get(&object_ref(&map), LONG).await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains(&format!("{expected} may not get")),
        "{error}"
    );
    let verdict = world.cluster.review_token(&review("others"), LONG).await;
    assert!(!verdict.unwrap().authenticated);
}

#[tokio::test]
async fn a_secrets_values_are_in_no_error() {
    let (cluster, namespace) = through_proxy("secret").await;
    let kubectl = cluster.acting_for(Caller::itself(), Arc::new(Gate::open()));
    let secret = |data: Value| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": namespace}, "type": "kubernetes.io/tls", "stringData": data});
    for data in [
        json!({"tls.crt": "hunter2!"}),
        json!({"tls.crt": 271828182}),
        json!({"hunter2! no key": "x"}),
    ] {
        let error = kubectl
            .apply(&secret(data), by("dm-a"), LONG)
            .await
            .unwrap_err();
        assert!(!error.to_string().contains("271828182"), "{error}");
        assert!(error.to_string().contains("ecret"), "{error}");
    }
}

#[tokio::test]
async fn an_api_server_that_is_away_is_told_with_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    let away = json!({"apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [{"name": "u", "user": {"token": "t"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]});
    std::fs::write(&kubeconfig, away.to_string()).unwrap();
    let control_plane = ControlPlane::shared().await.unwrap();
    let away = Settings {
        kubeconfig: Some(kubeconfig),
        ..settings(control_plane)
    };
    let nowhere = Settings {
        context: Some("nowhere".to_owned()),
        ..away.clone()
    };
    let missing = Settings {
        program: "/no/kubectl".into(),
        ..away.clone()
    };
    for (settings, part) in [
        (away, "connection refused"),
        (nowhere, "context \"nowhere\" does not exist"),
        (missing, "--kubectl"),
    ] {
        let kubectl = ThroughProxy::new(settings).unwrap();
        let error = kubectl.kinds().await.unwrap_err();
        assert!(
            error.is_transient() && error.to_string().contains(part),
            "{error}"
        );
    }
}
