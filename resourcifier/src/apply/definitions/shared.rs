//! Objects that deployments share: the definitions in the `crds/` of charts, and singletons.
//!
//! | the definition in the cluster | is shared | what is done |
//! |---|---|---|
//! | none | – | it is made, and shared from then on |
//! | as asked for | yes, by this deployment | nothing |
//! | loses nothing by the change | yes | it is changed |
//! | has all that is asked for, and more | yes | it stays as it is, and this deployment shares it |
//! | has all that is asked for | no | it stays as it is, and is no part of this deployment |
//! | anything else | | refused |
//!
//! Of an object that is a singleton, of any kind, nothing is ever changed:
//!
//! | the object in the cluster | what is done |
//! |---|---|
//! | none | it is made, and shared from then on |
//! | shared by this deployment | nothing |
//! | shared by others | this deployment shares it too |
//! | not shared | it is used as it is, and is no part of this deployment |
//!
//! Each deployment that shares an object has an annotation on it. Writes name the version that was read, so no deployment
//! takes the annotation of another one off.

use std::borrow::Cow;

use common::model::{DeletePolicy, DeploymentName};
use serde_json::{Value, json};

use super::{loss, names, schema};
use crate::apply::object::{change, unchanged};
use crate::plan::{self, Node};

/// What a write does to an object that deployments share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sharing {
    /// It is made, or changed.
    Write,
    /// It is as it should be.
    Unchanged,
    /// It has more than is asked for: only the annotation is added.
    Join,
    /// It is somebody else's, has all that is asked for, and nothing is written.
    Foreign,
}

/// What becomes of the resource's object.
///
/// # Errors
/// It is somebody else's, and lacks something.
pub fn sharing(
    live: Option<&Value>,
    node: &Node,
    deployment: &DeploymentName,
) -> Result<Sharing, String> {
    sharing_of(live, node.metadata.singleton, &node.template, deployment)
}

/// What becomes of an object.
///
/// # Errors
/// It is somebody else's, and lacks something.
pub fn sharing_of(
    live: Option<&Value>,
    is_singleton: bool,
    asked: &Value,
    deployment: &DeploymentName,
) -> Result<Sharing, String> {
    match is_singleton {
        true => Ok(singleton(live, deployment)),
        false => definition(live, asked, deployment),
    }
}

/// What becomes of an object that no deployment changes.
fn singleton(live: Option<&Value>, deployment: &DeploymentName) -> Sharing {
    let Some(live) = live else {
        return Sharing::Write;
    };
    // Before it was a singleton, a deployment owned it.
    match change::owner(live) {
        Some(owner) if owner == deployment.as_str() => Sharing::Unchanged,
        Some(_) => Sharing::Foreign,
        None if is_shared_by(live, deployment) => Sharing::Unchanged,
        None if is_shared(live) => Sharing::Join,
        None => Sharing::Foreign,
    }
}

/// What becomes of a definition.
fn definition(
    live: Option<&Value>,
    asked: &Value,
    deployment: &DeploymentName,
) -> Result<Sharing, String> {
    let Some(live) = live else {
        return Ok(Sharing::Write);
    };
    // Before definitions were shared, the first deployment owned them.
    let is_own = change::owner(live) == Some(deployment.as_str());
    if !is_shared(live) && !is_own {
        return match lacking(live, asked) {
            None => Ok(Sharing::Foreign),
            Some(what) => Err(format!(
                "the cluster has a definition of this name that {}, and it lacks {what}; apply the definition of the chart yourself, with kubectl or in that deployment",
                belongs(live)
            )),
        };
    }
    let joined = with_sharers(asked, Some(live));
    if unchanged::is_unchanged(&joined, live, plan::SHARED_MANAGER) {
        return Ok(Sharing::Unchanged);
    }
    match (loss(live, asked), lacking(live, asked)) {
        (Some(_), None) if is_shared_by(live, deployment) => Ok(Sharing::Unchanged),
        (Some(_), None) => Ok(Sharing::Join),
        // What would lose data is refused where all objects are checked.
        _ => Ok(Sharing::Write),
    }
}

fn belongs(live: &Value) -> String {
    match change::owner(live) {
        Some(owner) => format!("belongs to deployment {owner}"),
        None => "no chart of a deployment has made".to_owned(),
    }
}

/// Whether deployments share the object.
pub fn is_shared(live: &Value) -> bool {
    live["metadata"]["labels"][plan::SHARED] == "true"
}

/// Whether this deployment is one of them.
pub fn is_shared_by(live: &Value, deployment: &DeploymentName) -> bool {
    let annotations = &live["metadata"]["annotations"];
    annotations.get(plan::shared_by(deployment)).is_some()
}

/// The deployments that share the object.
pub fn sharers(live: &Value) -> impl Iterator<Item = &str> {
    let annotations = live["metadata"]["annotations"].as_object();
    let keys = annotations.into_iter().flat_map(|all| all.keys());
    keys.filter_map(|key| key.strip_prefix(plan::SHARED_BY))
}

/// Those beside this one.
pub fn others<'l>(live: &'l Value, deployment: &DeploymentName) -> Vec<&'l str> {
    sharers(live)
        .filter(|name| *name != deployment.as_str())
        .collect()
}

/// Whether a deployment that goes may take the object along: what deployments share goes with the last one, if that is
/// asked for, or its policy.
pub fn may_go(live: &Value, asked: Option<DeletePolicy>, deployment: &DeploymentName) -> bool {
    let policy = || asked.unwrap_or_else(|| change::delete_policy(live));
    let is_last = || others(live, deployment).is_empty() && policy() == DeletePolicy::Delete;
    !is_shared(live) || is_last()
}

/// The definition with the annotations of all that share it: an apply without one would take it off.
pub fn with_sharers<'a>(asked: &'a Value, live: Option<&Value>) -> Cow<'a, Value> {
    let Some(live) = live else {
        return Cow::Borrowed(asked);
    };
    let mut joined = asked.clone();
    for name in sharers(live) {
        let key = format!("{}{name}", plan::SHARED_BY);
        joined["metadata"]["annotations"][key] = json!("true");
    }
    Cow::Owned(joined)
}

/// The merge patch by which a deployment begins or ends to share the definition.
pub fn patch(deployment: &DeploymentName, joins: bool) -> Value {
    let value = if joins { json!("true") } else { Value::Null };
    json!({"metadata": {"annotations": {plan::shared_by(deployment): value}}})
}

/// What the live definition lacks of what is asked for.
pub fn lacking(live: &Value, asked: &Value) -> Option<String> {
    let (live, asked) = (&live["spec"], &asked["spec"]);
    for field in ["group", "scope"] {
        if live[field] != asked[field] {
            return Some(format!("{field} {}", asked[field].as_str().unwrap_or("?")));
        }
    }
    if live["names"]["kind"] != asked["names"]["kind"] {
        return Some(format!(
            "kind {}",
            asked["names"]["kind"].as_str().unwrap_or("?")
        ));
    }
    let there = names(&live["versions"]);
    let versions = asked["versions"].as_array().into_iter().flatten();
    for version in versions {
        let name = version["name"].as_str().unwrap_or_default();
        if !there.contains(&name) {
            return Some(format!("version {name}"));
        }
        let mut same = live["versions"].as_array().into_iter().flatten();
        let same = same.find(|live| live["name"] == version["name"]);
        let same = same.unwrap_or(&Value::Null);
        if version["served"] == true && same["served"] != true {
            return Some(format!("the served version {name}"));
        }
        let of = |version: &Value| version["schema"]["openAPIV3Schema"].clone();
        if let Some(field) = schema::lost(&of(version), &of(same)).first() {
            return Some(format!("the field {field} of version {name}"));
        }
    }
    None
}

/// Why a change that loses something must not be made for one of several deployments.
pub fn objection(live: &Value, deployment: &DeploymentName) -> Option<String> {
    let others = others(live, deployment);
    (is_shared(live) && !others.is_empty())
        .then(|| format!("deployments share the definition: {}", others.join(", ")))
}

/// Whether the change would lose something that this deployment does not ask for: then it is not made.
pub fn is_older(live: &Value, asked: &Value) -> bool {
    loss(live, asked).is_some() && lacking(live, asked).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn web() -> DeploymentName {
        DeploymentName::parse("web").unwrap()
    }

    fn definition(versions: &[&str], fields: &[&str]) -> Value {
        let fields: serde_json::Map<String, Value> = fields
            .iter()
            .map(|field| ((*field).to_owned(), json!({"type": "string"})))
            .collect();
        let version = |name: &&str| {
            json!({"name": name, "served": true, "storage": *name == versions[0],
            "schema": {"openAPIV3Schema": {"type": "object", "properties": fields}}})
        };
        json!({"apiVersion": "apiextensions.k8s.io/v1", "metadata": {"name": "a.b.c"}, "spec": {
            "group": "b.c", "scope": "Namespaced", "names": {"kind": "A"},
            "versions": versions.iter().map(version).collect::<Vec<_>>(),
        }})
    }

    fn live(mut definition: Value, sharers: &[&str]) -> Value {
        definition["status"]["storedVersions"] = json!(["v1"]);
        if !sharers.is_empty() {
            definition["metadata"]["labels"][plan::SHARED] = json!("true");
        }
        for name in sharers {
            definition["metadata"]["annotations"][format!("{}{name}", plan::SHARED_BY)] =
                json!("true");
        }
        definition
    }

    #[test]
    fn a_definition_is_made_extended_joined_or_left_alone() {
        let asked = definition(&["v1"], &["a"]);
        let more = definition(&["v1"], &["a", "b"]);
        let decided = |live: Option<&Value>, asked: &Value| super::definition(live, asked, &web());
        assert_eq!(decided(None, &asked), Ok(Sharing::Write));
        let ours = live(asked.clone(), &["web"]);
        assert_eq!(decided(Some(&ours), &more), Ok(Sharing::Write));
        let newer = live(more.clone(), &["other"]);
        assert_eq!(decided(Some(&newer), &asked), Ok(Sharing::Join));
        let newer = live(more.clone(), &["other", "web"]);
        assert_eq!(decided(Some(&newer), &asked), Ok(Sharing::Unchanged));
        let foreign = live(more.clone(), &[]);
        assert_eq!(decided(Some(&foreign), &asked), Ok(Sharing::Foreign));
        let foreign = live(asked.clone(), &[]);
        let refused = decided(Some(&foreign), &more).unwrap_err();
        assert!(
            refused.contains("it lacks the field b of version v1"),
            "{refused}"
        );
        let foreign = definition(&["v1"], &["a"]);
        let refused = decided(Some(&foreign), &definition(&["v1", "v2"], &["a"])).unwrap_err();
        assert!(refused.contains("lacks version v2"), "{refused}");
    }

    #[test]
    fn a_singleton_is_made_once_joined_and_never_changed() {
        let decided = |live: Option<Value>| singleton(live.as_ref(), &web());
        let object = |labels: Value| json!({"kind": "Service", "metadata": {"name": "shared", "labels": labels}});
        assert_eq!(decided(None), Sharing::Write);
        assert_eq!(decided(Some(object(json!({})))), Sharing::Foreign);
        let owned = |by: &str| object(json!({plan::DEPLOYMENT: by}));
        assert_eq!(decided(Some(owned("other"))), Sharing::Foreign);
        assert_eq!(decided(Some(owned("web"))), Sharing::Unchanged);
        let shared = |names: &[&str]| live(object(json!({})), names);
        assert_eq!(decided(Some(shared(&["other"]))), Sharing::Join);
        assert_eq!(decided(Some(shared(&["other", "web"]))), Sharing::Unchanged);
    }

    #[test]
    fn what_is_shared_goes_with_the_last_deployment_if_its_policy_is_to() {
        let web = web();
        let object = json!({"kind": "Service", "metadata": {"name": "shared"}});
        let both = live(object.clone(), &["other", "web"]);
        let last = live(object, &["web"]);
        let mut kept = last.clone();
        kept["metadata"]["annotations"][plan::DELETE_POLICY] = json!("ABANDON");
        let cases = [
            (&both, None, false),
            (&both, Some(DeletePolicy::Delete), false),
            (&last, None, true),
            (&last, Some(DeletePolicy::Abandon), false),
            (&kept, None, false),
            (&kept, Some(DeletePolicy::Delete), true),
        ];
        for (live, asked, expected) in cases {
            assert_eq!(may_go(live, asked, &web), expected, "{asked:?} {live}");
        }
    }

    #[test]
    fn a_write_keeps_the_annotations_of_all_that_share() {
        let asked = definition(&["v1"], &["a"]);
        let live = live(asked.clone(), &["one", "two"]);
        let joined = with_sharers(&asked, Some(&live)).into_owned();
        assert_eq!(sharers(&joined).collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(
            others(&live, &DeploymentName::parse("one").unwrap()),
            ["two"]
        );
    }
}
