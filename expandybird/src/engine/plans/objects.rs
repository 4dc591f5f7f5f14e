//! The objects of a plan: those that it makes, and the edits of those that are there already.

use common::api::plan::{ObjectEdit, WantedObject};
use common::manifests::{self, Object, ObjectLocation};
use common::model::DEPLOYMENT_LABEL;
use common::yaml::Pointer;
use expandybird_sfplan::{Action, documents, edit, printed_again};
use serde_json::{Map, Value};

use super::super::{Instance, Placed};
use super::fault::{Fallible, failed};
use super::invalid;

/// What the plan makes, and what it changes of objects that others made.
pub fn divided(
    instance: &Instance<'_>,
    action: Action,
    text: &str,
    found: &Map<String, Value>,
) -> Fallible<(Vec<Object>, Vec<ObjectEdit>)> {
    let texts = documents(action, text);
    let texts = texts.map_err(|error| Box::new(failed(instance.template, &error)))?;
    let (mut objects, mut edits) = (Vec::new(), Vec::new());
    for document in texts {
        let mut value = document.value;
        // A service lives in one namespace, whatever its plan says. Kinds without one ignore it.
        if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.shift_remove("namespace");
        }
        match edited(instance, action, &value, found)? {
            Some(edit) => edits.extend(edit),
            None => {
                let value = printed_again(value);
                let place = ObjectLocation {
                    file: instance.template.path().to_owned(),
                    line: document.line,
                    pointer: Pointer::new(0, ""),
                };
                let unfolded = manifests::unfold(value, place, &mut objects);
                unfolded.map_err(|error| {
                    invalid(instance, format!("the {} template: {error}", action.name()))
                })?;
            }
        }
    }
    Ok((objects, edits))
}

/// The edit of an object that somebody else made; no edit of one that stays as it is. None: the object is the plan's own.
#[expect(clippy::option_option, reason = "the two differ")]
fn edited(
    instance: &Instance<'_>,
    action: Action,
    value: &Value,
    found: &Map<String, Value>,
) -> Fallible<Option<Option<ObjectEdit>>> {
    if action == Action::Provision {
        return Ok(None);
    }
    let Some(live) = found.values().find(|live| is_same(live, value)) else {
        return Ok(None);
    };
    let owner = &live["metadata"]["labels"][DEPLOYMENT_LABEL];
    if instance
        .env
        .get("deployment")
        .is_some_and(|own| own == owner)
    {
        return Ok(None);
    }
    let change = edit(live, value, action == Action::Unbind).map_err(|reason| {
        invalid(
            instance,
            format!("the {} template: {reason}", action.name()),
        )
    })?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(Some(change.map(|change| ObjectEdit {
        object: WantedObject {
            api_version: text(&live["apiVersion"]),
            kind: text(&live["kind"]),
            name: text(&live["metadata"]["name"]),
            namespace: live["metadata"]["namespace"].as_str().map(str::to_owned),
        },
        patch: change.patch,
        back: match action {
            // What an unbind took away stays away, whatever comes after it.
            Action::Unbind => Value::Object(Map::new()),
            _ => change.back,
        },
    })))
}

fn is_same(live: &Value, value: &Value) -> bool {
    let group = |value: &Value| {
        let version = value["apiVersion"].as_str().unwrap_or_default();
        version.split_once('/').map(|(group, _)| group.to_owned())
    };
    live["kind"] == value["kind"]
        && live["metadata"]["name"] == value["metadata"]["name"]
        && group(live) == group(value)
}

/// The objects as resources. The plan of the deployment knows the order of kinds.
pub fn placed(objects: Vec<Object>, bytes: usize) -> Vec<Placed> {
    let share = bytes / objects.len().max(1);
    let placed = objects.into_iter().map(|object| Placed {
        object,
        metadata: Map::new(),
        hook: None,
        bytes: share,
    });
    placed.collect()
}
