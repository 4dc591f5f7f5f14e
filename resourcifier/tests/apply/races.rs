//! Somebody else writes between a read and the write that it decided: whose an object is, is decided at the write.

use std::sync::{Arc, Mutex};

use common::api::deployer::{Report, ResourceState};
use common::api::error::ErrorBody;
use common::model::{ConflictPolicy, CreatePolicy};
use resourcifier::plan::{DEPLOYMENT, MANAGED_BY};
use serde_json::{Value, json};

use crate::World;
use crate::support::State;

/// Creates, or replaces, the object in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Other {
    /// Another deployment.
    Deployment,
    /// Nobody's object, with another value.
    Kubectl,
    /// A copy of the deployment's own object, with its label.
    Copy,
    /// An earlier job of the same deployment that never reported.
    Ourselves,
}

const OTHERS: &[Other] = &[
    Other::Deployment,
    Other::Kubectl,
    Other::Copy,
    Other::Ourselves,
];
const CREATE: &[CreatePolicy] = &[
    CreatePolicy::Create,
    CreatePolicy::Acquire,
    CreatePolicy::CreateOrAcquire,
];
const CONFLICT: &[ConflictPolicy] = &[
    ConflictPolicy::Fail,
    ConflictPolicy::Take,
    ConflictPolicy::Yield,
];

impl Other {
    fn manager(self) -> &'static str {
        match self {
            Self::Deployment => "dm-other",
            Self::Kubectl | Self::Copy => "kubectl",
            Self::Ourselves => "dm-web",
        }
    }

    fn labels(self) -> Value {
        match self {
            Self::Deployment => json!({DEPLOYMENT: "other", MANAGED_BY: "deployment-manager"}),
            Self::Kubectl => json!({}),
            Self::Copy | Self::Ourselves => {
                json!({DEPLOYMENT: "web", MANAGED_BY: "deployment-manager"})
            }
        }
    }

    fn object(self) -> Value {
        let metadata = json!({"name": "a", "namespace": "home", "labels": self.labels()});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"v": "theirs"}})
    }

    /// Puts the object in the place of any other, and notes how it is then.
    fn writes(self, noted: Arc<Mutex<Value>>) -> impl FnOnce(&mut State) + Send + 'static {
        move |state| {
            state.remove("a");
            state.others_apply(self.manager(), &self.object());
            *noted.lock().unwrap() = state.objects["a"].clone();
        }
    }
}

fn map(value: &str) -> Value {
    json!([{"name": "a", "type": "ConfigMap", "properties": {"data": {"v": value}}}])
}

/// What came of an apply during which somebody wrote: the report or the refusal, and the objects before and after.
struct Raced {
    outcome: Result<Report, ErrorBody>,
    theirs: Value,
    live: Option<Value>,
    world: World,
}

impl Raced {
    async fn run(
        other: Other,
        call: &str,
        existed: bool,
        create: CreatePolicy,
        conflict: ConflictPolicy,
    ) -> Self {
        let world = World::new();
        let recorded = match existed {
            true => world.apply(map("first"), &Report::default()).await,
            false => Report::default(),
        };
        let noted = Arc::new(Mutex::new(Value::Null));
        world.cluster.before(call, other.writes(noted.clone()));
        let policies = json!({"create": create, "conflict": conflict});
        let request = json!({
            "resources": map("ours"), "recorded": recorded.objects, "policies": policies, "timeoutMs": 20_000,
        });
        let outcome = world.request(request).await;
        let live = world.cluster.with(|state| state.objects.get("a").cloned());
        let theirs = noted.lock().unwrap().clone();
        Self {
            outcome,
            theirs,
            live,
            world,
        }
    }

    fn is_ready(&self) -> bool {
        let report = self.outcome.as_ref().ok();
        report.is_some_and(|report| report.resources[0].state == ResourceState::Ready)
    }

    fn text(&self) -> String {
        match &self.outcome {
            Ok(report) => report.errors().map(ToString::to_string).collect(),
            Err(error) => error.to_string(),
        }
    }

    /// Whether the later deletion of the deployment leaves the object alone.
    async fn survives_deletion(&self) -> bool {
        let objects = self.outcome.as_ref().map(|report| report.objects.clone());
        let request = json!({"recorded": objects.unwrap_or_default(), "unconfirmed": map("ours")});
        self.world.delete(request).await;
        let live = self
            .world
            .cluster
            .with(|state| state.objects.get("a").cloned());
        live == self.live
    }
}

#[tokio::test]
async fn whoever_writes_first_the_policies_decide_by_what_is_there_at_the_write() {
    for &other in OTHERS {
        for call in ["get a", "try a", "apply a"] {
            for existed in [false, true] {
                for &create in CREATE {
                    for &conflict in CONFLICT {
                        let case = format!(
                            "{other:?} before {call}, existed: {existed}, {create:?}, {conflict:?}"
                        );
                        let raced = Raced::run(other, call, existed, create, conflict).await;
                        judge(&case, other, create, conflict, &raced).await;
                    }
                }
            }
        }
    }
}

async fn judge(
    case: &str,
    other: Other,
    create: CreatePolicy,
    conflict: ConflictPolicy,
    raced: &Raced,
) {
    if raced.theirs.is_null() {
        // There was no such call: nobody wrote in between.
        return;
    }
    let is_left_alone = match (other, create) {
        (Other::Deployment, _) => true,
        (Other::Kubectl | Other::Copy, CreatePolicy::Create) => true,
        // Somebody else's value is neither taken nor yielded.
        (Other::Kubectl | Other::Copy, _) => conflict == ConflictPolicy::Fail,
        (Other::Ourselves, _) => false,
    };
    assert_eq!(raced.is_ready(), !is_left_alone, "{case}: {}", raced.text());
    let live = raced.live.clone().unwrap();
    if is_left_alone {
        assert_eq!(live, raced.theirs, "{case}: it was touched");
        assert!(raced.survives_deletion().await, "{case}: it was deleted");
        let expected = match (other, create) {
            (Other::Deployment, _) => "belongs to deployment other",
            (_, CreatePolicy::Create) => "it exists already",
            _ => "is \"theirs\" by \"kubectl\"",
        };
        assert!(raced.text().contains(expected), "{case}: {}", raced.text());
    } else {
        let yields = conflict == ConflictPolicy::Yield && other != Other::Ourselves;
        let value = if yields { "theirs" } else { "ours" };
        assert_eq!(live["data"]["v"], value, "{case}");
        assert_eq!(live["metadata"]["labels"][DEPLOYMENT], "web", "{case}");
        assert!(!raced.survives_deletion().await, "{case}: it is left over");
    }
}

#[tokio::test]
async fn an_object_that_another_deployment_takes_before_its_deletion_is_left_alone() {
    for call in ["get a", "delete a"] {
        let world = World::new();
        let report = world.apply(map("ours"), &Report::default()).await;
        // Abandoned by hand, and acquired: the same object, by its UID.
        world.cluster.before(call, |state| {
            state.others_apply("dm-other", &Other::Deployment.object());
        });
        let deleted = world.delete(json!({"recorded": report.objects})).await;
        assert_eq!(world.cluster.names(), ["a"], "{call}");
        let reason = deleted.resources[0].reason.clone().unwrap();
        assert!(reason.contains("deployment other"), "{call}: {reason}");
        assert!(deleted.objects.is_empty(), "{call}");
    }
}

#[tokio::test]
async fn what_was_made_is_deleted_though_the_record_is_older_and_a_copy_is_not() {
    for other in [Other::Ourselves, Other::Copy] {
        let world = World::new();
        let report = world.apply(map("ours"), &Report::default()).await;
        let noted = Arc::new(Mutex::new(Value::Null));
        world.cluster.with(other.writes(noted));
        let deleted = world.delete(json!({"recorded": report.objects})).await;
        let is_gone = world.cluster.names().is_empty();
        assert_eq!(is_gone, other == Other::Ourselves, "{other:?}");
        assert!(deleted.objects.is_empty(), "{other:?}");
    }
}

#[tokio::test]
async fn what_was_made_is_pruned_though_the_record_is_older() {
    let world = World::new();
    let report = world.apply(map("ours"), &Report::default()).await;
    let noted = Arc::new(Mutex::new(Value::Null));
    world.cluster.with(Other::Ourselves.writes(noted));
    let next = json!([{"name": "b", "type": "ConfigMap"}]);
    let pruned = world.apply(next, &report).await;
    assert_eq!(world.cluster.names(), ["b"]);
    assert_eq!(pruned.objects.len(), 1);
}
