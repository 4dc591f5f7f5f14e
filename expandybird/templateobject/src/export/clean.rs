//! What is left out of a live object: what the cluster, or Deployment Manager, has written into it.

use serde_json::{Map, Value};

use crate::DOMAIN;

/// Fields of the metadata that only the API server writes.
const METADATA: [&str; 9] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "managedFields",
    "generation",
    "ownerReferences",
];
/// Annotations that controllers and kubectl write.
const ANNOTATIONS: [&str; 5] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "deployment.kubernetes.io/",
    "pv.kubernetes.io/",
    "volume.kubernetes.io/",
    "volume.beta.kubernetes.io/storage-provisioner",
];
/// The finalizer that the API server gives every claim.
const PROTECTED: &str = "kubernetes.io/pvc-protection";
/// The annotations of Deployment Manager that users write.
const FOR_USERS: [&str; 2] = ["ready-when", "fail-when"];
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
const MANAGER: &str = "deployment-manager";
/// What every namespace has by itself, by kind and name.
const OF_NAMESPACES: [(&str, &str); 2] = [
    ("ConfigMap", "kube-root-ca.crt"),
    ("ServiceAccount", "default"),
];
const TOKEN: &str = "kubernetes.io/service-account-token";

/// For which namespace an object is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Portable {
    /// For any: without its namespace, and without addresses and ports of the cluster.
    Anywhere,
    /// For the same.
    Exact,
}

/// The object without what belongs to its cluster. None if a cluster makes such objects by itself.
pub fn cleaned(mut object: Value, portable: Portable) -> Option<Value> {
    let map = object.as_object_mut()?;
    if is_of_the_cluster(map) {
        return None;
    }
    map.shift_remove("status");
    if let Some(metadata) = map.get_mut("metadata").and_then(Value::as_object_mut) {
        clean_metadata(metadata);
        if portable == Portable::Anywhere {
            metadata.shift_remove("namespace");
            if metadata.contains_key("generateName") {
                metadata.shift_remove("name");
            }
        }
    }
    match text(map, "/kind") {
        "Service" if portable == Portable::Anywhere => clean_service(map),
        "PersistentVolumeClaim" => clean_claim(map),
        "ServiceAccount" => clean_account(map),
        _ => (),
    }
    Some(object)
}

fn text<'a>(object: &'a Map<String, Value>, pointer: &str) -> &'a str {
    let mut keys = pointer.split('/').skip(1);
    let first = keys.next().and_then(|key| object.get(key));
    let found = keys.fold(first, |value, key| value?.get(key));
    found.and_then(Value::as_str).unwrap_or_default()
}

fn is_of_the_cluster(object: &Map<String, Value>) -> bool {
    let kind = text(object, "/kind");
    let named = (kind, text(object, "/metadata/name"));
    OF_NAMESPACES.contains(&named) || kind == "Secret" && text(object, "/type") == TOKEN
}

fn clean_metadata(metadata: &mut Map<String, Value>) {
    metadata.retain(|field, _| !METADATA.contains(&field.as_str()));
    retain(metadata, "annotations", |key, _| {
        let is_written = ANNOTATIONS.iter().any(|written| key.starts_with(written));
        let own = key
            .strip_prefix(DOMAIN)
            .and_then(|key| key.strip_prefix('/'));
        !is_written && own.is_none_or(|key| FOR_USERS.contains(&key))
    });
    retain(metadata, "labels", |key, value| {
        let is_own = key
            .strip_prefix(DOMAIN)
            .is_some_and(|key| key.starts_with('/'));
        let is_mark = key == MANAGED_BY && value == MANAGER;
        !(is_own || is_mark)
    });
}

/// Keeps some entries of a map, which is removed if it is empty then.
fn retain(holder: &mut Map<String, Value>, key: &str, keep: impl Fn(&str, &Value) -> bool) {
    let Some(map) = holder.get_mut(key).and_then(Value::as_object_mut) else {
        return;
    };
    map.retain(|key, value| keep(key, value));
    if map.is_empty() {
        holder.shift_remove(key);
    }
}

fn remove(object: &mut Map<String, Value>, section: &str, field: &str) {
    let section = object.get_mut(section).and_then(Value::as_object_mut);
    section.and_then(|section| section.shift_remove(field));
}

/// The addresses and ports that the cluster has given it. A headless Service stays one.
fn clean_service(service: &mut Map<String, Value>) {
    let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    if spec
        .get("clusterIP")
        .is_none_or(|address| address != "None")
    {
        spec.shift_remove("clusterIP");
        spec.shift_remove("clusterIPs");
    }
    spec.shift_remove("healthCheckNodePort");
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
        port.shift_remove("nodePort");
    }
}

/// What binds it to a volume, and what keeps it until nobody uses it.
fn clean_claim(claim: &mut Map<String, Value>) {
    remove(claim, "spec", "volumeName");
    let Some(metadata) = claim.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    let finalizers = metadata.get_mut("finalizers").and_then(Value::as_array_mut);
    if let Some(finalizers) = finalizers {
        finalizers.retain(|finalizer| finalizer != PROTECTED);
        if finalizers.is_empty() {
            metadata.shift_remove("finalizers");
        }
    }
}

/// The Secrets that the cluster has made for it.
fn clean_account(account: &mut Map<String, Value>) {
    let name = text(account, "/metadata/name").to_owned();
    let made = [format!("{name}-token-"), format!("{name}-dockercfg-")];
    for key in ["secrets", "imagePullSecrets"] {
        let Some(list) = account.get_mut(key).and_then(Value::as_array_mut) else {
            continue;
        };
        list.retain(|one| {
            let name = one.get("name").and_then(Value::as_str).unwrap_or_default();
            !made.iter().any(|made| name.starts_with(made))
        });
        if list.is_empty() {
            account.shift_remove(key);
        }
    }
}
