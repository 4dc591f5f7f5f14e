//! What a live object means for the change that is asked for: may it be touched, and was it changed?
//!
//! Pure.

use common::api::deployer::Action;
use common::model::{CreatePolicy, DeletePolicy, DeploymentName};
use serde_json::Value;

use crate::plan;

/// Why an object is left alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("it belongs to deployment {0}; delete it there, or give it another name here")]
    OfAnother(String),
    #[error(
        "it exists already, and the create policy is CREATE; delete it, or use CREATE_OR_ACQUIRE to take it over"
    )]
    Exists,
    #[error(
        "it does not exist, and the create policy is ACQUIRE; create it, or use CREATE_OR_ACQUIRE"
    )]
    NothingToAcquire,
}

/// Whether the deployment may apply over what is there. `recorded` is the UID on record, if it was applied before.
pub fn claim(
    live: Option<&Value>,
    deployment: &DeploymentName,
    recorded: Option<&str>,
    policy: CreatePolicy,
) -> Result<(), Refusal> {
    let Some(live) = live else {
        return if policy == CreatePolicy::Acquire {
            Err(Refusal::NothingToAcquire)
        } else {
            Ok(())
        };
    };
    match owner(live) {
        Some(owner) if owner == deployment.as_str() => Ok(()),
        Some(owner) => Err(Refusal::OfAnother(owner.to_owned())),
        None if recorded.is_some() && recorded == uid(live) => Ok(()),
        None if policy == CreatePolicy::Create => Err(Refusal::Exists),
        None => Ok(()),
    }
}

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

/// Without the lists of who owns which field: they are larger than many an object.
pub fn without_managers(mut live: Value) -> Value {
    if let Some(metadata) = live["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    live
}

/// What deletion asks of an object: its metadata, and how it stands; of a definition also what it defines.
pub fn outline(live: Value) -> Value {
    let is_definition = live["kind"] == "CustomResourceDefinition";
    let mut live = without_managers(live);
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
    let told = conditions
        .iter()
        .filter(|condition| condition["status"] == "True");
    let told: Vec<&str> = told
        .filter_map(|condition| condition["message"].as_str())
        .collect();
    (!told.is_empty() && live["kind"] == "Namespace").then(|| told.join("; "))
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

    fn live(owner: Option<&str>) -> Value {
        let labels = owner.map_or_else(|| json!({}), |owner| json!({plan::DEPLOYMENT: owner}));
        json!({"metadata": {"uid": "u", "labels": labels}})
    }

    #[test]
    fn nothing_of_another_deployment_is_taken_and_the_policy_decides_the_rest() {
        use CreatePolicy::{Acquire, Create, CreateOrAcquire};
        let web = DeploymentName::parse("web").unwrap();
        let (none, ours, theirs) = (live(None), live(Some("web")), live(Some("other")));
        let cases = [
            (None, None, CreateOrAcquire, Ok(())),
            (None, None, Acquire, Err(Refusal::NothingToAcquire)),
            (Some(&none), None, CreateOrAcquire, Ok(())),
            (Some(&none), None, Create, Err(Refusal::Exists)),
            (Some(&none), Some("u"), Create, Ok(())),
            (Some(&ours), None, Create, Ok(())),
            (
                Some(&theirs),
                None,
                CreateOrAcquire,
                Err(Refusal::OfAnother("other".to_owned())),
            ),
            (
                Some(&theirs),
                Some("u"),
                CreateOrAcquire,
                Err(Refusal::OfAnother("other".to_owned())),
            ),
        ];
        for (live, recorded, policy, expected) in cases {
            assert_eq!(claim(live, &web, recorded, policy), expected);
        }
    }

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
