//! Labels, records and manifests say the same of a deployed deployment, and its objects have the values that were asked
//! for. Nothing is left of one that does not exist.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Point, Violation, applies, succeeded, violation, window};
use crate::model::ObjectId;
use crate::model::object::{kind_of, value_in};
use crate::seen::{Live, text};

/// Kubernetes kind, namespace, name.
type Key = (String, String, String);

pub fn violations(point: &Point<'_>) -> Vec<Violation> {
    let disturbed = disturbed(point);
    let mut found = Vec::new();
    for (name, deployment) in &point.seen.deployments {
        if deployment["state"]["status"] == "Deployed" {
            found.extend(deployed(point, name, deployment, &disturbed));
        }
    }
    for live in &point.seen.objects {
        found.extend(left(point, live));
    }
    found
}

/// The objects that others changed after their deployment was applied last.
fn disturbed(point: &Point<'_>) -> BTreeMap<Key, ObjectId> {
    let mut found = BTreeMap::new();
    for (&object, &at) in &point.known.disturbed {
        let after = |operation: &&Value| {
            let begun = window(operation).is_some_and(|(start, _)| start > at);
            begun && applies(operation) && succeeded(operation) && !yields(point, operation)
        };
        let deployments = match object.owner {
            Some(owner) => vec![point.names.deployment(owner)],
            // Which of several deployments has it is not known: it is compared once each of them is applied again.
            None => point.seen.deployments.keys().cloned().collect(),
        };
        let applied = deployments
            .iter()
            .all(|deployment| point.operations(deployment).any(|one| after(&one)));
        if !applied {
            found.insert(key(point, object), object);
        }
    }
    found
}

/// Whether fields of others may have been left to them.
fn yields(point: &Point<'_>, operation: &Value) -> bool {
    let Some(asked) = point.known.asked.get(&text(&operation["id"])) else {
        return operation["type"] != "CORRECT";
    };
    let items = asked.configuration.as_ref().map(|asked| &asked.items);
    asked.options.policies.conflict == Some("YIELD")
        || items.is_none_or(|items| {
            let mut items = items.iter();
            items.any(|item| item.policies.conflict == Some("YIELD"))
        })
}

fn key(point: &Point<'_>, object: ObjectId) -> Key {
    let namespace = object.kind.namespace(point.names, object.second);
    (
        object.kind.kubernetes().to_owned(),
        namespace.unwrap_or_default(),
        object.name(point.names),
    )
}

fn deployed(
    point: &Point<'_>,
    name: &str,
    deployment: &Value,
    disturbed: &BTreeMap<Key, ObjectId>,
) -> Vec<Violation> {
    let manifest = text(&deployment["latestManifest"]);
    let Some(content) = point.seen.manifests.get(&(name.to_owned(), manifest)) else {
        return Vec::new();
    };
    let wanted = wanted(point, content);
    let labelled: BTreeMap<Key, &Live> = point
        .seen
        .objects
        .iter()
        .filter(|live| live.deployment.as_deref() == Some(name))
        .filter(|live| !is_copy(point, live) || wanted.contains_key(&key_of(live)))
        .map(|live| (key_of(live), live))
        .collect();
    let records = point.seen.records.get(name).map_or(&[][..], Vec::as_slice);
    let recorded: BTreeSet<Key> = records.iter().map(record).collect();
    let mut found = Vec::new();
    let all: BTreeSet<&Key> = wanted
        .keys()
        .chain(labelled.keys())
        .chain(&recorded)
        .collect();
    for key in all {
        if disturbed.contains_key(key) {
            continue;
        }
        let (is_wanted, is_recorded) = (wanted.contains_key(key), recorded.contains(key));
        let is_labelled = labelled.contains_key(key);
        if !(is_wanted && is_recorded && is_labelled) {
            let what = format!(
                "{name} is Deployed; {key:?}: in its manifest {is_wanted}, recorded {is_recorded}, with its label {is_labelled}"
            );
            found.push(violation("record", what));
            continue;
        }
        let live = labelled
            .get(key)
            .and_then(|live| value_in(&key.0, &live.object));
        let wanted = wanted.get(key).copied().flatten();
        if wanted.is_some() && live != wanted {
            let what = format!("{name} is Deployed; {key:?} should be {wanted:?} and is {live:?}");
            found.push(violation("value", what));
        }
    }
    found
}

/// The objects of a manifest with their values; none where the manifest hides it.
fn wanted(point: &Point<'_>, manifest: &Value) -> BTreeMap<Key, Option<u32>> {
    let resources = manifest["expandedConfig"]["resources"].as_array();
    let resources = resources.into_iter().flatten();
    let object = |resource: &Value| {
        let kind = kind_of(&text(&resource["type"]))?;
        let properties = &resource["properties"];
        let namespace = properties["metadata"]["namespace"].as_str();
        let namespace = namespace.map(str::to_owned);
        let namespace = namespace.or_else(|| kind.namespace(point.names, false));
        let kind = kind.kubernetes();
        let name = text(&resource["name"]);
        let key = (kind.to_owned(), namespace.unwrap_or_default(), name);
        Some((key, value_in(kind, properties)))
    };
    resources.filter_map(object).collect()
}

fn record(record: &Value) -> Key {
    (
        text(&record["kind"]),
        text(&record["namespace"]),
        text(&record["name"]),
    )
}

fn key_of(live: &Live) -> Key {
    (
        live.kind.to_owned(),
        live.namespace.clone(),
        live.name.clone(),
    )
}

/// Whether somebody else made it, with a deployment's label on it.
fn is_copy(point: &Point<'_>, live: &Live) -> bool {
    let mut foreign = point.known.foreign.iter();
    foreign.any(|foreign| foreign.uid == live.uid && foreign.label.is_some())
}

/// An object that should have gone with its deployment.
fn left(point: &Point<'_>, live: &Live) -> Option<Violation> {
    let key = key_of(live);
    if is_copy(point, live) {
        return None;
    }
    if let Some(deployment) = &live.deployment {
        let exists = point.seen.deployments.contains_key(deployment);
        let what = format!("{key:?} has the label of {deployment}, which does not exist");
        return (!exists).then(|| violation("left over", what));
    }
    let mut objects = point.known.objects.iter();
    let object = objects.find(|object| self::key(point, **object) == key)?;
    let owner = point.names.deployment(object.owner?);
    let is_explained = point
        .known
        .foreign
        .iter()
        .any(|foreign| foreign.uid == live.uid)
        || point.known.abandoned.contains(object)
        || point.known.disturbed.contains_key(object)
        || point.seen.deployments.contains_key(&owner);
    let what = format!(
        "{key:?} is there without a label, {owner} does not exist, and nobody abandoned it"
    );
    (!is_explained).then(|| violation("left over", what))
}
