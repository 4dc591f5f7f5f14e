//! From manifests and hooks to objects in their order: `crds/`, manifests by their kinds, hooks.
//!
//! When hooks run, and what waits for what, is decided by the plan of an operation.

use std::collections::HashSet;

use common::manifests::{self, Object, ObjectLocation};
use common::model::{Hook as HookOf, HookDeletePolicy, HookEvent};
use common::yaml::Pointer;
use expandybird_chart::{Event, File, Hook, Manifest};
use serde_json::{Map, Value, json};

use super::super::{EngineError, Placed};
use super::fault::invalid;

type Fallible<T> = Result<T, Box<EngineError>>;

const KEEP: &str = "helm.sh/resource-policy";
const DEFINITION: &str = "CustomResourceDefinition";

/// All objects of a chart.
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
    for manifest in manifests {
        let (metadata, bytes) = (kept(&manifest.value), manifest.text.len());
        let placed = objects(manifest)?.into_iter().map(|object| Placed {
            object,
            metadata: metadata.clone(),
            hook: None,
            bytes,
        });
        all.extend(placed);
    }
    for hook in in_turn(hooks) {
        let (bytes, of) = (hook.manifest.text.len(), hook_of(&hook));
        for object in objects(hook.manifest)? {
            // Helm never deletes definitions, and neither do those of `crds/` go.
            let is_definition = object.kind == DEFINITION;
            all.push(Placed {
                object,
                metadata: match is_definition {
                    true => shared(),
                    false => Map::from_iter([("hook".to_owned(), json!(of))]),
                },
                hook: (!is_definition).then(|| of.clone()),
                bytes,
            });
        }
    }
    Ok(without_twins(all, warnings))
}

/// The objects of a file in `crds/`. Deployments share definitions, and they stay: all objects of their kinds would go,
/// too.
fn definitions(file: &File) -> Fallible<Vec<Placed>> {
    let refused = |reason: String| Box::new(invalid(&file.name, reason));
    let text = String::from_utf8_lossy(&file.data);
    let read = manifests::read(&file.name, &text);
    let objects = read.map_err(|error| refused(error.to_string()))?;
    let placed = objects.into_iter().map(|object| Placed {
        metadata: match object.kind == DEFINITION {
            true => shared(),
            false => Map::from_iter([("deletePolicy".to_owned(), json!("ABANDON"))]),
        },
        object,
        hook: None,
        bytes: file.data.len(),
    });
    Ok(placed.collect())
}

fn shared() -> Map<String, Value> {
    let entries = [("deletePolicy", json!("ABANDON")), ("shared", json!(true))];
    let entries = entries.into_iter();
    entries
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// Helm keeps objects with this annotation.
fn kept(object: &Value) -> Map<String, Value> {
    let annotations = object.pointer("/metadata/annotations");
    let policy = annotations.and_then(|all| all.get(KEEP)?.as_str());
    let keeps = policy.is_some_and(|policy| policy.trim().eq_ignore_ascii_case("keep"));
    let policy = keeps.then(|| ("deletePolicy".to_owned(), json!("ABANDON")));
    policy.into_iter().collect()
}

/// By weight, then by name.
fn in_turn(mut hooks: Vec<Hook>) -> Vec<Hook> {
    hooks.sort_by(|a, b| (a.weight, &a.manifest.name).cmp(&(b.weight, &b.manifest.name)));
    hooks
}

fn hook_of(hook: &Hook) -> HookOf {
    let policies = hook.delete_policies.iter();
    let mut policies: Vec<_> = policies.filter_map(|text| policy(text)).collect();
    // What Helm does with words that it does not know, too.
    if hook.delete_policies.is_empty() {
        policies.push(HookDeletePolicy::BeforeHookCreation);
    }
    HookOf {
        events: hook
            .events
            .iter()
            .map(|event| self::event(*event))
            .collect(),
        weight: hook.weight,
        delete_policies: policies,
    }
}

fn policy(text: &str) -> Option<HookDeletePolicy> {
    match text {
        "before-hook-creation" => Some(HookDeletePolicy::BeforeHookCreation),
        "hook-succeeded" => Some(HookDeletePolicy::HookSucceeded),
        "hook-failed" => Some(HookDeletePolicy::HookFailed),
        _ => None,
    }
}

fn event(event: Event) -> HookEvent {
    match event {
        Event::PreInstall => HookEvent::PreInstall,
        Event::PostInstall => HookEvent::PostInstall,
        Event::PreDelete => HookEvent::PreDelete,
        Event::PostDelete => HookEvent::PostDelete,
        Event::PreUpgrade => HookEvent::PreUpgrade,
        Event::PostUpgrade => HookEvent::PostUpgrade,
        Event::PreRollback => HookEvent::PreRollback,
        Event::PostRollback => HookEvent::PostRollback,
        Event::Test => HookEvent::Test,
    }
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

/// Some charts have one object as a hook and as a manifest, or a definition in several places: Helm makes it twice. Here
/// the first one is enough.
fn without_twins(all: Vec<Placed>, warnings: &mut Vec<String>) -> Vec<Placed> {
    let identity = |placed: &Placed| placed.object.identity().map(str::to_owned);
    let mut met = HashSet::new();
    let mut is_new = |placed: &Placed| {
        let is_new = met.insert(identity(placed));
        let may_twice = placed.hook.is_none() && placed.object.kind != DEFINITION;
        if !is_new && !may_twice {
            let file = &placed.object.place.file;
            let kind = &placed.object.kind;
            warnings.push(format!(
                "{file}: a {kind} is left out, because the chart has the same object before"
            ));
        }
        // Two equal objects that are no hooks are the chart's mistake, and refused later.
        is_new || may_twice
    };
    all.into_iter().filter(|placed| is_new(placed)).collect()
}
