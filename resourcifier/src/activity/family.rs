//! The objects of a deployment, and those that the cluster made of them: found by their owner references.

use std::collections::{BTreeSet, HashMap};

use common::model::{AppliedObject, ObjectRef, ResourceName};
use serde_json::Value;

use super::READ;
use crate::apply;
use crate::kubectl::{ClusterApi, KubectlError, ObjectFault, Query, ServedKind, object_ref};

/// A kind, with its version and its plural.
type Kind = (&'static str, &'static str, &'static str);

/// What objects of other kinds own, such as the workloads of an operator.
const WORKLOADS: &[Kind] = &[
    ("apps/v1", "Deployment", "deployments"),
    ("apps/v1", "StatefulSet", "statefulsets"),
    ("apps/v1", "DaemonSet", "daemonsets"),
    ("batch/v1", "CronJob", "cronjobs"),
];
/// What workloads own. Owners come before what they own.
const MADE: &[Kind] = &[
    ("apps/v1", "ReplicaSet", "replicasets"),
    ("batch/v1", "Job", "jobs"),
    ("v1", "Pod", "pods"),
];
/// Kinds of the core group that own pods. No other does.
const CORE_OWNERS: [&str; 2] = ["Pod", "ReplicationController"];

/// One object, and the resource that it belongs to.
#[derive(Debug, Clone)]
pub struct Member {
    pub resource: ResourceName,
    pub object: ObjectRef,
}

/// All objects of a deployment, by UID.
#[derive(Debug, Default)]
pub struct Family {
    pub members: HashMap<String, Member>,
    /// What could not be read.
    pub notices: Vec<String>,
}

impl Family {
    /// # Errors
    /// The cluster does not answer.
    pub async fn find(
        kubectl: &dyn ClusterApi,
        objects: &[AppliedObject],
    ) -> Result<Self, KubectlError> {
        let mut family = Self::default();
        for applied in objects {
            let member = Member {
                resource: applied.resource.clone(),
                object: applied.object.clone(),
            };
            family.members.insert(applied.uid.clone(), member);
        }
        for (namespace, kinds) in wanted(objects) {
            for kind in kinds {
                family.adopt(kubectl, kind, &namespace).await?;
            }
        }
        Ok(family)
    }

    /// The pods, by name.
    pub fn pods(&self) -> Vec<(&String, &Member)> {
        let is_pod = |member: &Member| member.object.kind == "Pod" && member.object.group() == "";
        let mut pods: Vec<_> = self
            .members
            .iter()
            .filter(|(_, member)| is_pod(member))
            .collect();
        pods.sort_by(|(_, a), (_, b)| (&a.resource, &a.object).cmp(&(&b.resource, &b.object)));
        pods
    }

    /// The namespaces of all members. The events of objects without a namespace are in `default`.
    pub fn namespaces(&self) -> BTreeSet<String> {
        let namespace = |member: &Member| member.object.namespace.clone();
        let all = self.members.values();
        all.map(|member| namespace(member).unwrap_or_else(|| "default".to_owned()))
            .collect()
    }

    /// Takes in the objects of a kind that a member owns.
    async fn adopt(
        &mut self,
        kubectl: &dyn ClusterApi,
        kind: &Kind,
        namespace: &str,
    ) -> Result<(), KubectlError> {
        let served = served(*kind);
        let query = Query {
            kind: &served,
            namespace: Some(namespace),
            selector: None,
            metadata_only: true,
        };
        let found = match apply::all(kubectl, query, READ).await {
            Err(error) if error.is_transient() && error.fault() != Some(ObjectFault::Unserved) => {
                return Err(error);
            }
            Err(error) => {
                let text = format!("{} of namespace {namespace} are missing: {error}", kind.2);
                self.notices.push(text);
                return Ok(());
            }
            Ok(found) => found,
        };
        for item in &found {
            self.take(item);
        }
        Ok(())
    }

    fn take(&mut self, item: &Value) {
        let owners = item["metadata"]["ownerReferences"].as_array();
        let mut uids = owners
            .into_iter()
            .flatten()
            .filter_map(|owner| owner["uid"].as_str());
        let owner = uids.find_map(|uid| self.members.get(uid));
        let (Some(owner), Some(uid)) = (owner, apply::uid(item)) else {
            return;
        };
        let member = Member {
            resource: owner.resource.clone(),
            object: object_ref(item),
        };
        self.members.entry(uid.to_owned()).or_insert(member);
    }
}

fn served((api_version, kind, resource): Kind) -> ServedKind {
    ServedKind {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        resource: resource.to_owned(),
        namespaced: true,
        applicable: true,
    }
}

/// The kinds to list in each namespace: as few as the objects there need.
fn wanted(objects: &[AppliedObject]) -> Vec<(String, Vec<&'static Kind>)> {
    let mut depths: HashMap<&str, Depth> = HashMap::new();
    for object in objects.iter().map(|applied| &applied.object) {
        if let (Some(namespace), Some(depth)) = (object.namespace.as_deref(), depth(object)) {
            let known = depths.entry(namespace).or_insert(depth);
            *known = (*known).max(depth);
        }
    }
    let mut wanted: Vec<_> = depths
        .into_iter()
        .map(|(namespace, depth)| (namespace.to_owned(), depth.kinds()))
        .collect();
    wanted.sort_by(|(a, _), (b, _)| a.cmp(b));
    wanted
}

/// How far below an object its pods can be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Depth {
    Pods,
    Sets,
    Workloads,
}

impl Depth {
    fn kinds(self) -> Vec<&'static Kind> {
        match self {
            Self::Pods => MADE.iter().rev().take(1).collect(),
            Self::Sets => MADE.iter().collect(),
            Self::Workloads => WORKLOADS.iter().chain(MADE).collect(),
        }
    }
}

fn depth(object: &ObjectRef) -> Option<Depth> {
    match object.group() {
        "" if CORE_OWNERS.contains(&object.kind.as_str()) => Some(Depth::Pods),
        "apps" | "batch" => Some(Depth::Sets),
        // The other groups of Kubernetes itself own no pods.
        group if group.is_empty() || !group.contains('.') || group.ends_with(".k8s.io") => None,
        _ => Some(Depth::Workloads),
    }
}
