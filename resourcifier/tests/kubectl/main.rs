//! The port to the cluster: what every adapter promises, and what `kubectl proxy` adds of its own.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

mod asking;
mod reading;
#[expect(dead_code, reason = "the scripted troubles are for other tests")]
#[path = "../support/mod.rs"]
mod support;
mod through_proxy;
mod writing;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use common::api::review::{ResourceAttributes, TokenReview};
use common::model::{Identity, ObjectRef, Secret};
use e2e::Cluster as ControlPlane;
use futures::StreamExt;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use resourcifier::kubectl::{
    ApplyOptions, Caller, Cascade, Change, Cluster, ClusterApi, DeleteOptions, Deletion, Gate,
    Halt, KubectlError, Log, ObjectFault, PageRequest, PatchOptions, Precondition, Query,
    ServedKind, Settings, ThroughProxy, object_ref,
};
use serde_json::{Value, json};
use support::Cluster as InMemory;

const LONG: Duration = Duration::from_secs(20);

/// An adapter, and a namespace of its own.
struct World {
    cluster: Arc<dyn Cluster>,
    kubectl: Arc<dyn ClusterApi>,
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

    fn acting_for(&self, identity: &Identity) -> Arc<dyn ClusterApi> {
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
    asking::it_serves_kinds(world).await;
    writing::what_is_applied_is_there_and_applying_it_again_changes_nothing(world).await;
    writing::a_dry_run_tells_and_writes_nothing(world).await;
    writing::fields_are_owned(world).await;
    reading::a_list_comes_in_pages(world).await;
    reading::changes_are_watched(world).await;
    writing::only_the_object_with_the_uid_is_deleted(world).await;
    writing::labels_come_off(world).await;
    writing::a_write_that_comes_second_writes_nothing(world).await;
    writing::another_object_of_the_name_is_not_written(world).await;
    writing::a_create_is_tried_beside_the_object_that_has_the_name(world).await;
    reading::what_is_not_there_is_told(world).await;
    asking::a_token_that_is_not_known_is_a_verdict(world).await;
    asking::a_caller_is_remembered_and_asked_about(world).await;
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

#[expect(clippy::disallowed_methods, reason = "a test has no flags of its own")]
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
