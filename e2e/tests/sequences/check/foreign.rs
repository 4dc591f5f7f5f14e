//! What others made is theirs: it is as they left it, unless a deployment was allowed to acquire it.

use serde_json::Value;

use super::{Point, Violation, applies, violation, window};
use crate::known::Foreign;
use crate::model::object::value_in;
use crate::seen::text;

pub fn violations(point: &Point<'_>) -> Vec<Violation> {
    let all = point.known.foreign.iter();
    let theirs = all.filter(|foreign| !may_be_acquired(point, foreign));
    theirs
        .filter_map(|foreign| touched(point, foreign))
        .collect()
}

fn touched(point: &Point<'_>, foreign: &Foreign) -> Option<Violation> {
    let name = foreign.object.name(point.names);
    let kind = foreign.object.kind.kubernetes();
    let mut objects = point.seen.objects.iter();
    let live = objects.find(|live| live.uid == foreign.uid);
    let Some(live) = live else {
        let what = format!(
            "{kind} {name}, which somebody else made, is gone, and nobody was allowed to acquire it"
        );
        return Some(violation("of others", what));
    };
    let value = value_in(kind, &live.object);
    let is_theirs = value == Some(foreign.value) && live.deployment == foreign.label;
    let what = format!(
        "{kind} {name}, which somebody else made with {}, is {value:?} with the label {:?}, and nobody was allowed to acquire it",
        foreign.value, live.deployment
    );
    (!is_theirs).then(|| violation("of others", what))
}

/// Whether an operation that ran after it was made asked for it with a policy that takes what is nobody's.
fn may_be_acquired(point: &Point<'_>, foreign: &Foreign) -> bool {
    let since = |operation: &&Value| window(operation).is_none_or(|(_, end)| end >= foreign.made);
    let mut operations = point.seen.operations.iter().filter(since);
    operations.any(|operation| applies(operation) && claims(point, operation, foreign))
}

/// Whether an operation, or the manifest of an earlier one that it went back to, asked for it.
fn claims(point: &Point<'_>, operation: &Value, foreign: &Foreign) -> bool {
    let rollback = &operation["rollback"];
    let is_undone = rollback.is_object() && rollback["error"].is_null();
    let asked_before = || {
        let mut before = point.seen.operations.iter().filter(|other| {
            other["deployment"] == operation["deployment"]
                && text(&other["startTime"]) < text(&operation["startTime"])
        });
        before.any(|other| applies(other) && asks(point, other, foreign))
    };
    rollback.is_object() && asked_before() || !is_undone && asks(point, operation, foreign)
}

fn asks(point: &Point<'_>, operation: &Value, foreign: &Foreign) -> bool {
    let deployment = text(&operation["deployment"]);
    let own = foreign
        .object
        .owner
        .map(|owner| point.names.deployment(owner));
    if own.is_some_and(|own| own != deployment) {
        return false;
    }
    let Some(asked) = point.known.asked.get(&text(&operation["id"])) else {
        return point.known.objects.contains(&foreign.object);
    };
    let Some(configuration) = &asked.configuration else {
        return point.known.objects.contains(&foreign.object);
    };
    let mut items = configuration.items.iter();
    items.any(|item| {
        let policy = asked.options.policies.create.or(item.policies.create);
        item.object == foreign.object && policy != Some("CREATE")
    })
}
