//! The manager's own store: operations end, states are those of rest, manifests never change, types are those of layouts.

use std::collections::BTreeSet;

use common::model::Layout;
use serde_json::Value;

use super::{Point, Violation, violation};
use crate::seen::text;

/// What of a manifest is fixed once it is stored.
const FIXED: [&str; 5] = [
    "createdAt",
    "inputConfig",
    "expandedConfig",
    "layout",
    "resolvedTypes",
];

pub fn violations(point: &Point<'_>) -> Vec<Violation> {
    let mut found = operations(point);
    found.extend(states(point));
    found.extend(manifests(point));
    found.extend(types(point));
    if point.seen.verification["ok"] != true {
        found.push(violation(
            "verify",
            format!("the store is not sound: {}", point.seen.verification),
        ));
    }
    found
}

fn operations(point: &Point<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for operation in &point.seen.operations {
        let id = text(&operation["id"]);
        if operation["status"] != "DONE" {
            found.push(violation(
                "unfinished",
                format!("operation {id} is not done: {operation}"),
            ));
        }
        for error in [&operation["error"], &operation["rollback"]["error"]] {
            if error["code"] == "INTERNAL" {
                found.push(violation(
                    "internal",
                    format!("operation {id} ended with {error}"),
                ));
            }
        }
    }
    found
}

fn states(point: &Point<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for (name, deployment) in &point.seen.deployments {
        let status = text(&deployment["state"]["status"]);
        let latest = deployment["latestManifest"].as_str();
        let is_at_rest = match status.as_str() {
            "Deployed" => latest.is_some(),
            "Failed" => true,
            "Created" => latest.is_none(),
            _ => false,
        };
        if !is_at_rest {
            found.push(violation(
                "state",
                format!("{name} is {status} with {latest:?}, and nothing runs"),
            ));
        }
        for field in ["latestManifest", "deployedManifest", "preview"] {
            let Some(manifest) = deployment[field].as_str() else {
                continue;
            };
            let key = (name.clone(), manifest.to_owned());
            if !point.seen.manifests.contains_key(&key) {
                found.push(violation(
                    "dangling",
                    format!("{name} has no manifest {manifest}, its {field}"),
                ));
            }
        }
    }
    found
}

fn manifests(point: &Point<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for ((deployment, name), first) in &point.known.manifests {
        let key = (deployment.clone(), name.clone());
        let Some(now) = point.seen.manifests.get(&key) else {
            continue;
        };
        let changed = FIXED.iter().filter(|field| first[**field] != now[**field]);
        found.extend(changed.map(|field| {
            let what = format!(
                "{field} of {name} of {deployment} was {} and is {}",
                first[*field], now[*field]
            );
            violation("manifest", what)
        }));
    }
    found
}

/// Name, type, deployment, manifest and path of each instance.
type Instance = [String; 5];

fn types(point: &Point<'_>) -> Vec<Violation> {
    let field = |instance: &Value, name: &str| text(&instance[name]);
    let listed: BTreeSet<Instance> = point
        .seen
        .instances
        .iter()
        .map(|one| ["name", "type", "deployment", "manifest", "path"].map(|name| field(one, name)))
        .collect();
    let mut expected = BTreeSet::new();
    for (name, deployment) in &point.seen.deployments {
        let manifest = text(&deployment["latestManifest"]);
        let Some(content) = point.seen.manifests.get(&(name.clone(), manifest.clone())) else {
            continue;
        };
        let layout: Layout = match serde_json::from_value(content["layout"].clone()) {
            Ok(layout) => layout,
            Err(error) => {
                return vec![violation(
                    "types",
                    format!("no layout in {manifest} of {name}: {error}"),
                )];
            }
        };
        let nodes = layout.walk().into_iter().map(|(path, node)| {
            [
                node.name.to_string(),
                node.type_name.to_string(),
                name.clone(),
                manifest.clone(),
                path.to_string(),
            ]
        });
        expected.extend(nodes);
    }
    let more = listed
        .difference(&expected)
        .map(|one| violation("types", format!("listed, and in no layout: {one:?}")));
    let fewer = expected
        .difference(&listed)
        .map(|one| violation("types", format!("in a layout, and not listed: {one:?}")));
    more.chain(fewer).collect()
}
