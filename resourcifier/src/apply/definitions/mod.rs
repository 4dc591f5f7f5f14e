//! CustomResourceDefinitions hold the data of others: what would lose some is refused.
//!
//! A change must keep the versions that objects are stored in, the scope, and, as long as there are objects, every field of
//! the version that they are stored in. A definition is deleted only when the objects of its kind that are left are the
//! deployment's own: with the definition all of them go.

mod schema;
pub mod shared;

use common::api::error::{ErrorBody, ErrorCode};
use common::model::ObjectRef;
use serde_json::Value;

use crate::apply::context::Context;
use crate::apply::fetch;
use crate::apply::object::claim::{self, Standing};
use crate::apply::object::fault::fault as fault_of;
use crate::kubectl::{KubectlError, ObjectFault, PageRequest, Query, ServedKind, object_ref};
use crate::plan::Node;

/// Fields and objects that a sentence names.
const REPORTED: usize = 5;

pub fn is_definition(object: &ObjectRef) -> bool {
    object.group() == "apiextensions.k8s.io" && object.kind == "CustomResourceDefinition"
}

/// Why the definition must not be changed into what is asked for.
pub async fn fault(context: Context<'_>, node: &Node, live: Option<&Value>) -> Option<ErrorBody> {
    // A singleton is never changed.
    let live = live.filter(|_| is_definition(&node.object) && !node.metadata.singleton)?;
    if node.metadata.shared && shared::is_older(live, &node.template) {
        return None;
    }
    let loss = loss(live, &node.template)?;
    let objection = shared::objection(live, context.deployment);
    let reason = match loss {
        Loss::OfObjects(reason) if objection.is_some() => {
            format!("{reason}; {}", objection.unwrap_or_default())
        }
        Loss::Always(reason) => reason,
        Loss::OfObjects(reason) => match first_object(context, live).await {
            Ok(None) => return None,
            Ok(Some(object)) => format!("{reason}; {object} is one such object"),
            Err(error) => {
                format!("{reason}, and whether there are objects is unknown: {error}")
            }
        },
    };
    Some(fault_of(node, ErrorCode::ResourcesFailed, &reason))
}

/// Why the definition must not be deleted, nor made anew.
pub async fn obstacle(context: Context<'_>, live: &Value) -> Option<String> {
    let kind = kind_of(live)?;
    let objects = match fetch::all(context.kubectl, query(&kind), context.deadline.call()).await {
        Ok(objects) => objects,
        Err(error) if error.fault() == Some(ObjectFault::Unserved) => return None,
        Err(error) => {
            return Some(format!(
                "whether others have objects of its kind is unknown: {error}"
            ));
        }
    };
    let foreign: Vec<String> = objects
        .iter()
        .filter(|object| claim::standing(Some(object), context.deployment, None) != Standing::Ours)
        .map(|object| named(&kind, object))
        .collect();
    if foreign.is_empty() {
        return None;
    }
    let more = if foreign.len() > REPORTED {
        ", …"
    } else {
        ""
    };
    Some(format!(
        "{} objects of its kind are not the deployment's and would be deleted with it ({}{more}); delete them first, or abandon the definition",
        foreign.len(),
        foreign[..foreign.len().min(REPORTED)].join(", ")
    ))
}

/// What a change would lose.
#[derive(Debug, PartialEq)]
enum Loss {
    /// Refused in any case.
    Always(String),
    /// Refused while there are objects.
    OfObjects(String),
}

fn loss(live: &Value, asked: &Value) -> Option<Loss> {
    let versions = names(&asked["spec"]["versions"]);
    let stored = live["status"]["storedVersions"].as_array();
    let stored = stored.into_iter().flatten().filter_map(Value::as_str);
    let lost: Vec<&str> = stored
        .filter(|version| !versions.contains(version))
        .collect();
    if !lost.is_empty() && !versions.is_empty() {
        return Some(Loss::Always(format!(
            "objects may be stored in version {} (status.storedVersions), which the new definition leaves out: keep it until they are migrated",
            lost.join(", ")
        )));
    }
    let (before, after) = (&live["spec"]["scope"], &asked["spec"]["scope"]);
    if before != after && before.is_string() && after.is_string() {
        return Some(Loss::OfObjects(format!(
            "its scope would change from {} to {}, which no object survives",
            before.as_str().unwrap_or_default(),
            after.as_str().unwrap_or_default()
        )));
    }
    lost_fields(live, asked)
}

/// Fields that the API server would take out of stored objects, because the schema does not know them any more.
fn lost_fields(live: &Value, asked: &Value) -> Option<Loss> {
    let (before, after) = (storage(live)?, storage(asked)?);
    let converts = asked["spec"]["conversion"]["strategy"] == "Webhook";
    if converts && before["name"] != after["name"] {
        return None;
    }
    let schema = |version: &'_ Value| version["schema"]["openAPIV3Schema"].clone();
    let lost = schema::lost(&schema(before), &schema(after));
    if lost.is_empty() {
        return None;
    }
    let more = if lost.len() > REPORTED { ", …" } else { "" };
    Some(Loss::OfObjects(format!(
        "its stored version {} would lose fields, and its objects what is in them: {}{more}",
        before["name"].as_str().unwrap_or_default(),
        lost[..lost.len().min(REPORTED)].join(", ")
    )))
}

fn names(versions: &Value) -> Vec<&str> {
    let versions = versions.as_array().into_iter().flatten();
    versions
        .filter_map(|version| version["name"].as_str())
        .collect()
}

fn storage(definition: &Value) -> Option<&Value> {
    let mut versions = definition["spec"]["versions"].as_array()?.iter();
    versions.find(|version| version["storage"] == true)
}

/// The kind that it defines, in a version that is served.
fn kind_of(definition: &Value) -> Option<ServedKind> {
    let spec = &definition["spec"];
    let mut versions = spec["versions"].as_array()?.iter();
    let version = versions.find(|version| version["served"] == true)?["name"].as_str()?;
    Some(ServedKind {
        api_version: format!("{}/{version}", spec["group"].as_str()?),
        kind: spec["names"]["kind"].as_str()?.to_owned(),
        resource: spec["names"]["plural"].as_str()?.to_owned(),
        namespaced: spec["scope"] == "Namespaced",
        applicable: true,
    })
}

fn query(kind: &ServedKind) -> Query<'_> {
    Query {
        kind,
        namespace: None,
        selector: None,
        metadata_only: true,
    }
}

async fn first_object(
    context: Context<'_>,
    definition: &Value,
) -> Result<Option<String>, KubectlError> {
    let Some(kind) = kind_of(definition) else {
        return Ok(None);
    };
    let request = PageRequest {
        limit: 1,
        after: None,
    };
    let page = context
        .kubectl
        .list(query(&kind), request, context.deadline.call())
        .await?;
    Ok(page.items.first().map(|object| named(&kind, object)))
}

/// A list of metadata says another kind than the objects have.
fn named(kind: &ServedKind, object: &Value) -> String {
    ObjectRef {
        kind: kind.kind.clone(),
        api_version: kind.api_version.clone(),
        ..object_ref(object)
    }
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn definition(scope: &str, versions: &[(&str, bool, Value)]) -> Value {
        let version = |(name, storage, properties): &(&str, bool, Value)| json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}}});
        let stored: Vec<&str> = versions
            .iter()
            .filter(|version| version.1)
            .map(|version| version.0)
            .collect();
        json!({
            "spec": {"scope": scope, "versions": versions.iter().map(version).collect::<Vec<_>>()},
            "status": {"storedVersions": stored},
        })
    }

    #[test]
    fn what_would_lose_data_is_named_and_what_adds_is_fine() {
        let spec = |fields: Value| json!({"spec": {"type": "object", "properties": fields}});
        let ab = || spec(json!({"a": {"type": "string"}, "b": {"type": "string"}}));
        let live = definition("Namespaced", &[("v1", true, ab())]);
        let said = |asked: Value| match loss(&live, &asked) {
            None => String::new(),
            Some(Loss::Always(reason)) => format!("always: {reason}"),
            Some(Loss::OfObjects(reason)) => format!("objects: {reason}"),
        };
        assert_eq!(said(live.clone()), "");
        let more = spec(json!({"a": {}, "b": {}, "c": {}}));
        assert_eq!(said(definition("Namespaced", &[("v1", true, more)])), "");
        assert_eq!(
            said(definition(
                "Namespaced",
                &[("v1", false, ab()), ("v2", true, ab())]
            )),
            ""
        );
        let gone = said(definition("Namespaced", &[("v2", true, ab())]));
        assert!(
            gone.starts_with("always: objects may be stored in version v1"),
            "{gone}"
        );
        let scope = said(definition("Cluster", &[("v1", true, ab())]));
        assert!(scope.contains("from Namespaced to Cluster"), "{scope}");
        let less = said(definition(
            "Namespaced",
            &[("v1", true, spec(json!({"a": {}})))],
        ));
        assert!(
            less.starts_with("objects: its stored version v1 would lose fields")
                && less.ends_with("spec.b"),
            "{less}"
        );
    }
}
