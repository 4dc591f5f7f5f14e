//! From manifests and hooks to objects in their order.
//!
//! ```text
//! crds/ ─► hooks before ─► manifests ─► hooks after
//! ```
//!
//! The plan of a deployment knows the order of kinds. Hooks are objects like others, but one after the other.

use std::collections::HashSet;

use common::manifests::{self, Object, ObjectLocation};
use common::yaml::Pointer;
use expandybird_chart::{Event, File, Hook, Manifest};
use serde_json::{Value, json};

use super::super::{EngineError, Placed};
use super::fault::invalid;

type Fallible<T> = Result<T, Box<EngineError>>;

const KEEP: &str = "helm.sh/resource-policy";

/// When a hook runs, as far as deployments have such a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Before,
    After,
}

/// All objects of a chart. Hooks that a deployment does not run become warnings.
pub fn placed(
    crds: Vec<File>,
    manifests: Vec<Manifest>,
    hooks: Vec<Hook>,
    warnings: &mut Vec<String>,
) -> Fallible<Vec<Placed>> {
    let mut all = Vec::new();
    for file in crds {
        all.extend(definitions(&file)?);
    }
    let (before, after) = in_phases(hooks, warnings);
    chain(before, &[], &mut all)?;
    let gate = all.len().checked_sub(1).filter(|&last| all[last].is_hook);
    let first = all.len();
    for manifest in manifests {
        let (metadata, bytes) = (kept(&manifest.value), manifest.text.len());
        for object in objects(manifest)? {
            let after = gate.into_iter().collect();
            let metadata = metadata.clone();
            all.push(Placed {
                object,
                metadata,
                after,
                is_hook: false,
                bytes,
            });
        }
    }
    let own: Vec<usize> = (first..all.len()).collect();
    chain(after, &own, &mut all)?;
    Ok(without_twins(all, warnings))
}

/// The objects of a file in `crds/`. They stay when the deployment goes: all objects of their kinds would go, too.
fn definitions(file: &File) -> Fallible<Vec<Placed>> {
    let refused = |reason: String| Box::new(invalid(&file.name, reason));
    let text = String::from_utf8_lossy(&file.data);
    let read = manifests::read(&file.name, &text);
    let objects = read.map_err(|error| refused(error.to_string()))?;
    let placed = objects.into_iter().map(|object| Placed {
        object,
        metadata: Some(json!({"deletePolicy": "ABANDON"})),
        after: Vec::new(),
        is_hook: false,
        bytes: file.data.len(),
    });
    Ok(placed.collect())
}

/// Helm keeps objects with this annotation.
fn kept(object: &Value) -> Option<Value> {
    let annotations = object.pointer("/metadata/annotations")?;
    let policy = annotations.get(KEEP)?.as_str()?;
    let keeps = policy.trim().eq_ignore_ascii_case("keep");
    keeps.then(|| json!({"deletePolicy": "ABANDON"}))
}

/// The hooks of each phase, in the order of their weights and names.
fn in_phases(mut hooks: Vec<Hook>, warnings: &mut Vec<String>) -> (Vec<Hook>, Vec<Hook>) {
    hooks.sort_by(|a, b| (a.weight, &a.manifest.name).cmp(&(b.weight, &b.manifest.name)));
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for hook in hooks {
        match phase(&hook.events) {
            Some(Phase::Before) => before.push(hook),
            Some(Phase::After) => after.push(hook),
            None if hook.events == [Event::Test] => {}
            None => {
                let events: Vec<_> = hook.events.iter().map(|event| event.text()).collect();
                let Manifest { path, name, .. } = &hook.manifest;
                let events = events.join(", ");
                warnings.push(format!(
                    "{path}: the hook '{name}' is left out: a deployment runs no hooks for {events}"
                ));
            }
        }
    }
    (before, after)
}

fn phase(events: &[Event]) -> Option<Phase> {
    let has = |wanted: &[Event]| events.iter().any(|event| wanted.contains(event));
    if has(&[Event::PreInstall, Event::PreUpgrade]) {
        return Some(Phase::Before);
    }
    has(&[Event::PostInstall, Event::PostUpgrade]).then_some(Phase::After)
}

/// Hooks, each after the one before it, the first one after these objects.
fn chain(hooks: Vec<Hook>, after: &[usize], all: &mut Vec<Placed>) -> Fallible<()> {
    let mut after = after.to_vec();
    for hook in hooks {
        let bytes = hook.manifest.text.len();
        for object in objects(hook.manifest)? {
            let last = all.len();
            all.push(Placed {
                object,
                // A job cannot be changed: a new one takes its place.
                metadata: Some(json!({"updatePolicy": "REPLACE"})),
                after,
                is_hook: true,
                bytes,
            });
            after = vec![last];
        }
    }
    Ok(())
}

/// The objects of a manifest; none of one that has comments only.
fn objects(manifest: Manifest) -> Fallible<Vec<Object>> {
    let mut found = Vec::new();
    if manifest.value.is_null() {
        return Ok(found);
    }
    let place = ObjectLocation {
        file: manifest.path,
        line: manifest.line,
        pointer: Pointer::new(0, ""),
    };
    let unfolded = manifests::unfold(manifest.value, place, &mut found);
    unfolded.map_err(|error| Box::new(error.into()))?;
    Ok(found)
}

/// Some charts have one object as a hook and as a manifest: Helm makes it twice. Here the manifest is enough.
fn without_twins(all: Vec<Placed>, warnings: &mut Vec<String>) -> Vec<Placed> {
    let identity = |placed: &Placed| placed.object.identity().map(str::to_owned);
    let manifests = all.iter().filter(|placed| !placed.is_hook);
    let manifests: HashSet<_> = manifests.map(identity).collect();
    let mut moved = Vec::with_capacity(all.len());
    let mut kept: Vec<Placed> = Vec::with_capacity(all.len());
    for mut placed in all {
        if placed.is_hook && manifests.contains(&identity(&placed)) {
            let file = &placed.object.place.file;
            warnings.push(format!(
                "{file}: a hook is left out, because the chart has the same {} as an object",
                placed.object.kind
            ));
            // What waits for it waits for what it waits for.
            moved.push(Err(placed.after));
            continue;
        }
        placed.after = resolved(&placed.after, &moved);
        moved.push(Ok(kept.len()));
        kept.push(placed);
    }
    kept
}

/// The new places of objects, by their old ones.
fn resolved(after: &[usize], moved: &[Result<usize, Vec<usize>>]) -> Vec<usize> {
    let mut places = Vec::new();
    for index in after {
        match moved.get(*index) {
            Some(Ok(place)) => places.push(*place),
            Some(Err(others)) => places.extend(resolved(others, moved)),
            None => {}
        }
    }
    places
}
