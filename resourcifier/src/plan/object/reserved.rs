//! What the metadata of an object must not contain, in any template.
//!
//! Our own marks decide what a deployment may change and delete. The API server's own fields are conditions on a state
//! that no template knows. An owner outside of the deployment makes the garbage collector delete the object
//! unexpectedly, or lets the object block the deletion of other users' objects. A template with one of these is wrong
//! or hostile, and nothing of it is applied.
//!
//! It checks the object's own metadata only, not that of pod templates.

use serde_json::{Map, Value};

use crate::plan::error::Problem;
use crate::plan::marks::{PREFIX, SHARED_BY};
use crate::plan::references::Reference;
use crate::plan::rule::{FAIL_WHEN, READY_WHEN};

/// Fields of the metadata that only the API server writes, and that have another meaning in a request.
const OF_THE_SERVER: &[&str] = &[
    "uid",
    "resourceVersion",
    "managedFields",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
];
/// Fields that the API server ignores in a request. Objects that were read from a cluster have them.
const PASSED_OVER: &[&str] = &["creationTimestamp", "generation", "selfLink"];

/// Removes fields without a meaning, and rejects the first forbidden one. `references` are the resource's own.
pub fn check(metadata: &mut Map<String, Value>, references: &[Reference]) -> Result<(), Problem> {
    metadata.retain(|field, value| !PASSED_OVER.contains(&field.as_str()) && !value.is_null());
    let problems = [
        marked(metadata),
        foreign(metadata),
        owned(metadata, references),
    ];
    match problems.into_iter().flatten().next() {
        None => Ok(()),
        Some((path, reason)) => Err(Problem::Reserved { path, reason }),
    }
}

/// Where something is wrong, and what.
type Violation = (String, String);

/// One of our own labels or annotations, except those for users.
fn marked(metadata: &Map<String, Value>) -> Option<Violation> {
    ["labels", "annotations"].into_iter().find_map(|section| {
        let keys = metadata.get(section)?.as_object()?.keys();
        let is_for_users =
            |key: &str| section == "annotations" && [READY_WHEN, FAIL_WHEN].contains(&key);
        let is_ours = |key: &str| key.starts_with(PREFIX) || key.starts_with(SHARED_BY);
        let key = keys
            .into_iter()
            .find(|key| is_ours(key) && !is_for_users(key))?;
        Some((
            format!("metadata.{section}['{key}']"),
            "is reserved for Deployment Manager; leave it out".to_owned(),
        ))
    })
}

fn foreign(metadata: &Map<String, Value>) -> Option<Violation> {
    let field = OF_THE_SERVER
        .iter()
        .find(|field| metadata.contains_key(**field));
    if let Some(field) = field {
        let reason = "is written by the API server only; leave it out";
        return Some((format!("metadata.{field}"), reason.to_owned()));
    }
    metadata.contains_key("generateName").then(|| {
        let reason = "would give the object another name each time: its name must be known, so that it is found again; write metadata.name, or leave both out";
        ("metadata.generateName".to_owned(), reason.to_owned())
    })
}

/// An owner that is not a resource of the deployment. Only a reference proves that it is one.
fn owned(metadata: &Map<String, Value>, references: &[Reference]) -> Option<Violation> {
    const FIELD: &str = "metadata.ownerReferences";
    let Some(owners) = metadata.get("ownerReferences")?.as_array() else {
        return Some((FIELD.to_owned(), "is not a list".to_owned()));
    };
    let is_our_own = |owner: &Value| {
        let uid = owner["uid"].as_str().unwrap_or_default();
        references
            .iter()
            .any(|reference| reference.text == uid && reference.path.to_string() == "metadata.uid")
    };
    let place = owners.iter().position(|owner| !is_our_own(owner))?;
    let text = |field: &str| owners[place][field].as_str().unwrap_or("?").to_owned();
    let reason = format!(
        "names an owner, {} {}, that is not a resource of the deployment: the object would be deleted with it, or hold up its deletion; for one that is, write its uid as $(ref.NAME.metadata.uid)",
        text("kind"),
        text("name")
    );
    Some((format!("{FIELD}[{place}]"), reason))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plan::references::{self, Names};

    /// The metadata to apply, or what is wrong with it. There is another resource, `own`.
    fn checked(metadata: Value) -> Result<Value, Problem> {
        let names = Names::new(["it", "own"].into_iter());
        let references = references::collect(&metadata, &names).unwrap();
        let mut metadata = metadata.as_object().unwrap().clone();
        check(&mut metadata, &references)?;
        Ok(Value::Object(metadata))
    }

    #[test]
    fn what_is_ours_or_the_servers_is_refused_with_its_place() {
        let own = "deployment-manager.dev/";
        let cases = [
            (
                json!({"labels": {"deployment-manager.dev/deployment": "other"}}),
                format!("metadata.labels['{own}deployment']"),
            ),
            (
                json!({"labels": {"deployment-manager.dev/ready-when": "x"}}),
                format!("metadata.labels['{own}ready-when']"),
            ),
            (
                json!({"annotations": {"deployment-manager.dev/delete-policy": "ABANDON"}}),
                format!("metadata.annotations['{own}delete-policy']"),
            ),
            (
                json!({"annotations": {"deployment-manager.dev/wave": "999999999999"}}),
                format!("metadata.annotations['{own}wave']"),
            ),
            (
                json!({"annotations": {"deployment-manager.dev/anything": ""}}),
                format!("metadata.annotations['{own}anything']"),
            ),
            (json!({"uid": "u"}), "metadata.uid".to_owned()),
            (
                json!({"resourceVersion": "1"}),
                "metadata.resourceVersion".to_owned(),
            ),
            (
                json!({"managedFields": [{"manager": "dm-other"}]}),
                "metadata.managedFields".to_owned(),
            ),
            (
                json!({"deletionTimestamp": "2020-01-01T00:00:00Z"}),
                "metadata.deletionTimestamp".to_owned(),
            ),
            (
                json!({"generateName": "it-"}),
                "metadata.generateName".to_owned(),
            ),
        ];
        for (metadata, place) in cases {
            let problem = checked(metadata).unwrap_err();
            assert!(
                problem.to_string().starts_with(&format!("{place} ")),
                "{problem}"
            );
            assert_eq!(problem.path(), Some(place));
        }
    }

    #[test]
    fn what_a_cluster_adds_to_an_object_that_is_read_from_it_means_nothing() {
        let read = json!({"name": "it", "creationTimestamp": null, "uid": null, "generation": 3, "selfLink": "/x",
            "annotations": {READY_WHEN: "{.data.a}=b"}, "labels": {"app": "it"}, "finalizers": ["example.com/hold"]});
        let expected = json!({"name": "it", "annotations": {READY_WHEN: "{.data.a}=b"}, "labels": {"app": "it"}, "finalizers": ["example.com/hold"]});
        assert_eq!(checked(read).unwrap(), expected);
    }

    #[test]
    fn an_owner_is_a_resource_of_the_deployment_or_none() {
        let owner = |uid: &str| json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": uid});
        let own = owner("$(ref.own.metadata.uid)");
        assert!(checked(json!({"ownerReferences": [own]})).is_ok());
        assert!(checked(json!({"ownerReferences": []})).is_ok());
        for foreign in [
            json!([owner("2f1c")]),
            json!([own, owner("2f1c")]),
            json!([owner("$(ref.own.data.uid)")]),
            json!([owner("x$(ref.own.metadata.uid)")]),
            json!([{"kind": "Deployment", "name": "web"}]),
            json!(["web"]),
            json!("$(ref.own.metadata.ownerReferences)"),
        ] {
            let error = checked(json!({"ownerReferences": foreign})).unwrap_err();
            let path = error.path().unwrap();
            assert!(path.starts_with("metadata.ownerReferences"), "{path}");
        }
    }
}
