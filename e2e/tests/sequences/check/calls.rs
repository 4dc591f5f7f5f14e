//! The calls that reached the API server, from its audit log: each within an operation of its deployment, and none that
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

/// A call that no operation of its deployment explains.
fn late(point: &Point<'_>, write: &AuditedWrite) -> Option<Violation> {
    let at: Timestamp = write.received.parse().ok()?;
    let manager = write.field_manager.as_deref();
    let of_manager = manager.and_then(|manager| manager.strip_prefix("dm-"));
    let owner = of_manager
        .map(str::to_owned)
        .or_else(|| owner(point, write));
    let running = |operation: &Value| {
        let is_its = owner
            .as_deref()
            .is_none_or(|owner| operation["deployment"] == owner);
        is_its && window(operation).is_none_or(|(start, end)| start <= at && at <= end)
    };
    if point.seen.operations.iter().any(running) {
        return None;
    }
    let ended = point.seen.operations.iter().rfind(|operation| {
        let is_its = owner
            .as_deref()
            .is_none_or(|owner| operation["deployment"] == owner);
        is_its && window(operation).is_some_and(|(_, end)| end < at)
    });
    let ended = ended.map(|operation| {
        format!(
            "{} {} ended at {}",
            text(&operation["type"]),
            text(&operation["id"]),
            text(&operation["endTime"])
        )
    });
    let what = format!(
        "{} of {} {} of {owner:?} at {at}, and none of its operations runs; {}",
        write.verb,
        write.resource,
        write.name,
        ended.unwrap_or_default()
    );
    Some(violation("late call", what))
}

/// The deployment that alone asks for the object.
fn owner(point: &Point<'_>, write: &AuditedWrite) -> Option<String> {
    object(point, write)?
        .owner
        .map(|owner| point.names.deployment(owner))
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
    let at: Timestamp = write.received.parse().ok()?;
    let mut running =
        point.seen.operations.iter().filter(|operation| {
            window(operation).is_some_and(|(start, end)| start <= at && at <= end)
        });
    let keeps = |operation: &Value| {
        let is_own = object
            .owner
            .is_none_or(|owner| operation["deployment"] == point.names.deployment(owner));
        let key = (text(&operation["deployment"]), text(&operation["manifest"]));
        let Some(manifest) = point.known.manifests.get(&key) else {
            return false;
        };
        let resources = manifest["expandedConfig"]["resources"].as_array();
        let named = resources.into_iter().flatten().any(|one| {
            // An object that moves to another namespace keeps its name.
            let elsewhere = one["properties"]["metadata"]["namespace"]
                .as_str()
                .is_some_and(|namespace| namespace != write.namespace);
            one["name"] == write.name.as_str() && !elsewhere
        });
        is_own && applies(operation) && operation["rollback"].is_null() && named
    };
    // With several at work, another one may have deleted it.
    let first = running.next()?;
    if running.next().is_some() || !keeps(first) {
        return None;
    }
    let what = format!(
        "{} {} was deleted by operation {}, whose manifest has it",
        write.resource,
        write.name,
        text(&first["id"])
    );
    Some(violation("needless deletion", what))
}
