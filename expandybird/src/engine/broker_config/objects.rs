//! From steps to resources in their order: a step begins when all objects of the step before it are ready, and when
//! their checks hold.

use common::manifests::{self, Object, ObjectLocation};
use common::model::Import;
use common::yaml::{Limits, Pointer, TextLocations};
use expandybird_brokerconfig::{Check, PlacedObject, Processed};
use serde_json::{Map, Value, json};

use super::super::EngineError;

/// An object, with what its step says about it.
struct Placed {
    step: usize,
    metadata: Map<String, Value>,
}

/// The resources and the outputs of an instance or a binding.
pub fn configuration(
    file: &Import,
    document: usize,
    processed: Processed,
) -> Result<Value, EngineError> {
    let places = TextLocations::new(&file.content, &Limits::DEFAULT);
    let (mut objects, mut placed): (Vec<Object>, Vec<Placed>) = (Vec::new(), Vec::new());
    for object in processed.objects {
        let pointer = Pointer::new(document, object.pointer.as_str());
        let place = ObjectLocation {
            file: file.path().to_owned(),
            line: places.find(&pointer).map_or(1, |place| place.line),
            pointer,
        };
        let (metadata, step) = (metadata(&object), object.step);
        manifests::unfold(object.value, place, &mut objects)?;
        placed.resize_with(objects.len(), || Placed {
            step,
            metadata: metadata.clone(),
        });
    }
    for check in processed.checks {
        wait(&mut placed, &check);
    }
    let named = manifests::named(objects)?;
    let resources = resources(named, placed);
    let outputs = processed.outputs.into_iter();
    let outputs: Vec<_> = outputs
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect();
    Ok(json!({"resources": resources, "outputs": outputs}))
}

fn resources(named: Vec<(String, Object)>, placed: Vec<Placed>) -> Vec<Value> {
    let names: Vec<(String, usize)> = named
        .iter()
        .zip(&placed)
        .map(|((name, _), placed)| (name.clone(), placed.step))
        .collect();
    let resources = named.into_iter().zip(placed);
    let resources = resources.map(|((name, object), placed)| {
        let mut metadata = placed.metadata;
        let first = before(&names, placed.step);
        if !first.is_empty() {
            metadata.insert("dependsOn".to_owned(), json!(first));
        }
        json!({"name": name, "type": object.kind, "metadata": metadata, "properties": object.value})
    });
    resources.collect()
}

/// The objects of the last step before this one that has any.
fn before(names: &[(String, usize)], step: usize) -> Vec<&str> {
    let last = names.iter().map(|(_, one)| *one);
    let last = last.filter(|one| *one < step).max();
    let of_last = names.iter().filter(|(_, one)| Some(*one) == last);
    of_last.map(|(name, _)| name.as_str()).collect()
}

/// An object that is there already belongs to somebody else, unless all instances share it.
fn metadata(object: &PlacedObject) -> Map<String, Value> {
    let (key, value) = match object.is_singleton {
        true => ("singleton", json!(true)),
        false => ("createPolicy", json!("CREATE")),
    };
    Map::from_iter([(key.to_owned(), value)])
}

/// The last object of the step, or of the steps before it, is ready when the check holds.
fn wait(placed: &mut [Placed], check: &Check) {
    let mut placed = placed.iter_mut().rev();
    let Some(last) = placed.find(|placed| placed.step <= check.step) else {
        return;
    };
    let wanted = json!({
        "name": check.name,
        "apiVersion": check.api_version,
        "kind": check.kind,
        "namespace": check.namespace,
        "object": check.object,
        "type": check.condition,
        "status": check.status,
        "timeoutMs": u64::try_from(check.timeout.as_millis()).unwrap_or(u64::MAX),
    });
    match last
        .metadata
        .get_mut("readyWhen")
        .and_then(Value::as_array_mut)
    {
        Some(checks) => checks.push(wanted),
        None => drop(
            last.metadata
                .insert("readyWhen".to_owned(), json!([wanted])),
        ),
    }
}
