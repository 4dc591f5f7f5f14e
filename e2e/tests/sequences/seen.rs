//! What is there at a quiet point: all that the manager says of a sequence's deployments, and the objects in the cluster.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::Value;

use crate::model::{Kind, Names};
use crate::world::World;

/// The label by which an object belongs to a deployment.
pub const LABEL: &str = "deployment-manager.dev/deployment";

#[derive(Debug, Default)]
pub struct Seen {
    /// By name; those that do not exist are absent.
    pub deployments: BTreeMap<String, Value>,
    /// Of all deployments, also of those that do not exist any more, by start.
    pub operations: Vec<Value>,
    /// What `GET /deployments/{d}/resources` lists.
    pub records: BTreeMap<String, Vec<Value>>,
    /// By deployment and name.
    pub manifests: BTreeMap<(String, String), Value>,
    /// The instances of all types, of these deployments.
    pub instances: Vec<Value>,
    pub objects: Vec<Live>,
    pub verification: Value,
}

/// An object in the cluster that is not being deleted.
#[derive(Debug, Clone)]
pub struct Live {
    /// Its Kubernetes kind.
    pub kind: &'static str,
    pub namespace: String,
    pub name: String,
    pub uid: String,
    /// The deployment of its label.
    pub deployment: Option<String>,
    pub object: Value,
}

pub async fn look(world: &World, names: &Names, deployments: usize) -> Result<Seen> {
    let mut seen = Seen::default();
    for name in (0..deployments).map(|index| names.deployment(index)) {
        let operations = world
            .items(&format!("/operations?deployment={name}"))
            .await?;
        seen.operations.extend(operations);
        let answer = world.read(&format!("/deployments/{name}")).await?;
        if !answer.status.is_success() {
            continue;
        }
        seen.deployments.insert(name.clone(), answer.body);
        let records = format!("/deployments/{name}/resources?drift=false");
        seen.records
            .insert(name.clone(), world.items(&records).await?);
        for summary in world
            .items(&format!("/deployments/{name}/manifests"))
            .await?
        {
            let manifest = text(&summary["name"]);
            let path = format!("/deployments/{name}/manifests/{manifest}");
            let content = world.read(&path).await?.body;
            seen.manifests.insert((name.clone(), manifest), content);
        }
    }
    seen.operations
        .sort_by_key(|operation| text(&operation["startTime"]));
    let instances = world.items("/types/all/instances").await?;
    let own = |instance: &Value| {
        let deployment = text(&instance["deployment"]);
        (0..deployments).any(|index| names.deployment(index) == deployment)
    };
    seen.instances = instances.into_iter().filter(own).collect();
    seen.objects = objects(world, names).await?;
    seen.verification = world.read("/admin/verify").await?.body;
    Ok(seen)
}

async fn objects(world: &World, names: &Names) -> Result<Vec<Live>> {
    let mut found = Vec::new();
    for kind in Kind::COLLECTIONS {
        let places = if kind.is_cluster_wide() { 1 } else { 2 };
        for second in [false, true].into_iter().take(places) {
            let collection = kind.collection(names, second);
            for object in world.api.list(&collection, None).await? {
                let metadata = &object["metadata"];
                let is_own = !kind.is_cluster_wide() || names.own(&text(&metadata["name"]));
                if !is_own || !metadata["deletionTimestamp"].is_null() {
                    continue;
                }
                found.push(Live {
                    kind: kind.kubernetes(),
                    namespace: text(&metadata["namespace"]),
                    name: text(&metadata["name"]),
                    uid: text(&metadata["uid"]),
                    deployment: metadata["labels"][LABEL].as_str().map(str::to_owned),
                    object,
                });
            }
        }
    }
    Ok(found)
}

/// A string, empty where there is none.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
