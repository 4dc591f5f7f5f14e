//! What a live object says of itself, and whether it was changed.
//!
//! Pure.

use common::api::deployer::Action;
use common::model::{DeletePolicy, DeploymentName};
use serde_json::Value;

use super::claim;
use crate::plan;

/// The deployment that the label of ownership names.
pub fn owner(live: &Value) -> Option<&str> {
    live["metadata"]["labels"].get(plan::DEPLOYMENT)?.as_str()
}

/// Whether the recommended label names us; a user's own value is never touched.
pub fn is_labelled_by_us(live: &Value) -> bool {
    live["metadata"]["labels"][plan::MANAGED_BY] == plan::MANAGER
}

pub fn uid(live: &Value) -> Option<&str> {
    live["metadata"]["uid"].as_str()
}

/// The version of the object in the cluster. Kubernetes lets them be compared as numbers.
pub fn version(live: &Value) -> Option<u64> {
    live["metadata"]["resourceVersion"].as_str()?.parse().ok()
}

/// The run of a hook that made the object.
pub fn hook_run(live: &Value) -> Option<&str> {
    annotation(live, plan::RUN)
}

/// Whether the object is of a hook: of ours, or of Helm's.
pub fn is_hook(live: &Value) -> bool {
    const OF_HELM: &str = "helm.sh/hook";
    hook_run(live).is_some() || annotation(live, OF_HELM).is_some()
}

/// Without the lists of who owns which field: they are larger than many an object.
pub fn without_managers(mut live: Value) -> Value {
    if let Some(metadata) = live["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    live
}

/// What deletion asks of an object: whose it is, its metadata, and its status. Of a definition also what it defines.
pub fn outline(live: Value, deployment: &DeploymentName) -> Value {
    let is_definition = live["kind"] == "CustomResourceDefinition";
    let mut live = claim::with_mark_alone(live, deployment);
    if let Some(map) = live.as_object_mut().filter(|_| !is_definition) {
        let kept = ["apiVersion", "kind", "metadata", "status"];
        map.retain(|key, _| kept.contains(&key.as_str()));
    }
    live
}

/// Only what identifies the object and its owner.
pub fn identity(live: &Value) -> Value {
    let kept = ["name", "namespace", "uid", "resourceVersion", "labels"];
    let metadata = kept.into_iter().filter_map(|field| {
        let value = live["metadata"].get(field)?;
        Some((field.to_owned(), value.clone()))
    });
    let metadata: Value = metadata.collect::<serde_json::Map<_, _>>().into();
    serde_json::json!({"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": metadata})
}

pub fn is_terminating(live: &Value) -> bool {
    live["metadata"]["deletionTimestamp"].is_string()
}

/// That it is on its way out, and who holds it.
pub fn departure(live: &Value) -> Option<String> {
    is_terminating(live).then(|| match holders(live) {
        None => "it is being deleted".to_owned(),
        Some(held) => format!("it is being deleted; {held}"),
    })
}

/// The finalizers that hold an object that is being deleted.
pub fn finalizers(live: &Value) -> Vec<&str> {
    live["metadata"]["finalizers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// What holds an object that is being deleted.
pub fn holders(live: &Value) -> Option<String> {
    let held = finalizers(live).join(", ");
    if !is_terminating(live) {
        return None;
    }
    if held == "foregroundDeletion" {
        return Some("it waits for its dependants to go".to_owned());
    }
    if !held.is_empty() {
        return Some(format!("finalizers hold it: {held}"));
    }
    // A namespace says in its conditions what is left in it.
    let conditions = live["status"]["conditions"].as_array()?;
    let reported = conditions
        .iter()
        .filter(|condition| condition["status"] == "True");
    let reported: Vec<&str> = reported
        .filter_map(|condition| condition["message"].as_str())
        .collect();
    (!reported.is_empty() && live["kind"] == "Namespace").then(|| reported.join("; "))
}

/// The wave that the object was applied in.
pub fn wave(live: &Value) -> usize {
    annotation(live, plan::WAVE)
        .and_then(|wave| wave.parse().ok())
        .unwrap_or(0)
}

/// The delete policy that the object was applied with.
pub fn delete_policy(live: &Value) -> DeletePolicy {
    match annotation(live, plan::DELETE_POLICY) {
        Some("ABANDON") => DeletePolicy::Abandon,
        _ => DeletePolicy::Delete,
    }
}

fn annotation<'a>(live: &'a Value, key: &str) -> Option<&'a str> {
    live["metadata"]["annotations"].get(key)?.as_str()
}

/// What applying did, by the object before and after. The status is its controller's and the version goes with it.
pub fn action(before: Option<&Value>, after: &Value) -> Action {
    match before {
        Some(before)
            if uid(before) == uid(after)
                && version(before).is_some()
                && version(before) == version(after) =>
        {
            Action::Unchanged
        }
        Some(before) if uid(before) == uid(after) && stripped(before) == stripped(after) => {
            Action::Unchanged
        }
        Some(before) if uid(before) == uid(after) => Action::Configured,
        _ => Action::Created,
    }
}

fn stripped(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(map) = object.as_object_mut() {
        map.remove("status");
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
        metadata.remove("managedFields");
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn who_holds_an_object_is_named() {
        let live = |finalizers: Value| json!({"kind": "ConfigMap", "metadata": {"deletionTimestamp": "t", "finalizers": finalizers}});
        let namespace = json!({"kind": "Namespace", "metadata": {"deletionTimestamp": "t"}, "status": {"conditions": [
            {"status": "False", "message": "All resources successfully discovered"},
            {"status": "True", "message": "Some content in the namespace has finalizers remaining: a.b/c in 1 resource instances"}]}});
        let cases = [
            (
                live(json!(["a.b/c", "d.e/f"])),
                Some("finalizers hold it: a.b/c, d.e/f"),
            ),
            (
                live(json!(["foregroundDeletion"])),
                Some("it waits for its dependants to go"),
            ),
            (live(json!([])), None),
            (json!({"metadata": {"finalizers": ["a.b/c"]}}), None),
            (
                namespace,
                Some(
                    "Some content in the namespace has finalizers remaining: a.b/c in 1 resource instances",
                ),
            ),
        ];
        for (live, expected) in cases {
            assert_eq!(holders(&live).as_deref(), expected);
        }
    }

    #[test]
    fn a_change_of_status_alone_is_no_change() {
        let before =
            json!({"metadata": {"uid": "u", "resourceVersion": "1"}, "spec": 1, "status": 1});
        let same =
            json!({"metadata": {"uid": "u", "resourceVersion": "2"}, "spec": 1, "status": 2});
        let changed = json!({"metadata": {"uid": "u", "resourceVersion": "2"}, "spec": 2});
        let other = json!({"metadata": {"uid": "v"}, "spec": 1});
        assert_eq!(action(None, &same), Action::Created);
        assert_eq!(action(Some(&before), &same), Action::Unchanged);
        assert_eq!(action(Some(&before), &changed), Action::Configured);
        assert_eq!(action(Some(&before), &other), Action::Created);
    }
}
