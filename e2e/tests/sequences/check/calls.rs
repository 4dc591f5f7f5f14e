//! The calls that reached the API server, from its audit log: each while the operation runs that it names, and none that
//! deletes what the operation is to keep.

use e2e::audit::AuditedWrite;
use jiff::Timestamp;
use serde_json::Value;

use super::{Point, Violation, applies, violation, window};
use crate::model::{Kind, ObjectId};
use crate::seen::text;

pub fn violations(point: &Point<'_>) -> Vec<Violation> {
    let writes = point.writes.iter();
    writes
        .flat_map(|write| [late(point, write), needless(point, write)])
        .flatten()
        .collect()
}

/// A call outside the time of the operation that it names.
fn late(point: &Point<'_>, write: &AuditedWrite) -> Option<Violation> {
    let at: Timestamp = write.received.parse().ok()?;
    let operation = operation(point, write);
    let runs =
        |operation: &Value| window(operation).is_none_or(|(start, end)| start <= at && at <= end);
    if operation.is_some_and(runs) {
        return None;
    }
    let when = match operation {
        Some(operation) => format!("it ended at {}", text(&operation["endTime"])),
        None => "there is none".to_owned(),
    };
    let what = format!(
        "{} of {} {} at {at} for operation {:?}: {when}",
        write.verb,
        write.resource,
        write.name,
        write.operation()
    );
    Some(violation("late call", what))
}

/// The operation that the call was made for.
fn operation<'a>(point: &Point<'a>, write: &AuditedWrite) -> Option<&'a Value> {
    let id = write.operation()?;
    let mut operations = point.seen.operations.iter();
    operations.find(|operation| operation["id"] == id)
}

fn object(point: &Point<'_>, write: &AuditedWrite) -> Option<ObjectId> {
    let mut objects = point.known.objects.iter();
    let named = |object: &&ObjectId| {
        let (_, resource) = object.kind.served(point.names);
        resource == write.resource && object.name(point.names) == write.name
    };
    objects.find(named).copied()
}

/// The deletion of an object that the manifest keeps, and that can be changed in place.
fn needless(point: &Point<'_>, write: &AuditedWrite) -> Option<Violation> {
    let object = object(point, write).filter(|_| write.verb == "delete")?;
    if object.kind.is_immutable() || object.kind == Kind::Pod {
        return None;
    }
    let operation = operation(point, write)?;
    let key = (text(&operation["deployment"]), text(&operation["manifest"]));
    let manifest = point.known.manifests.get(&key)?;
    let mut resources = manifest["expandedConfig"]["resources"].as_array()?.iter();
    let [first, _] = point.names.namespaces();
    let keeps = resources.any(|one| {
        // An object that moves to another namespace keeps its name.
        let namespace = one["properties"]["metadata"]["namespace"].as_str();
        let is_here = namespace.unwrap_or(&first) == write.namespace;
        one["name"] == write.name.as_str() && (is_here || object.kind.is_cluster_wide())
    });
    if !keeps || !applies(operation) || !operation["rollback"].is_null() {
        return None;
    }
    let what = format!(
        "{} {} was deleted by operation {}, whose manifest has it",
        write.resource,
        write.name,
        text(&operation["id"])
    );
    Some(violation("needless deletion", what))
}
