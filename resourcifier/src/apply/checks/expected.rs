//! What a caller has seen before it asks (a preview) must still be so: else nothing is touched.
//!
//! Only what the deployment owns counts. Changes of fields that belong to others change nothing of what was shown.

use std::collections::HashSet;

use common::api::deployer::Basis;
use common::api::error::{ErrorBody, ErrorCode};
use common::model::ObjectRef;
use serde_json::Value;

use crate::apply::context::{BATCH, Context, Stopped};
use crate::apply::fetch::read;
use crate::apply::object::ownership;
use crate::plan::{self, Plan};

/// The most objects and fields that the error names.
const REPORTED: usize = 10;

/// Refuses, if an object is not as it was expected. Hooks run, whatever became of their objects.
pub async fn check(context: Context<'_>, plan: &Plan, expected: &[Basis]) -> Result<(), Stopped> {
    let mut changes = Vec::new();
    let nodes = plan.nodes.iter();
    let hooks = nodes.filter(|node| node.metadata.hook.is_some());
    let hooks: HashSet<_> = hooks.map(|node| node.object.identity()).collect();
    let expected: Vec<&Basis> = expected
        .iter()
        .filter(|basis| !hooks.contains(&basis.object.identity()))
        .collect();
    for batch in expected.chunks(BATCH) {
        context.gate.check()?;
        let objects: Vec<&ObjectRef> = batch.iter().map(|basis| &basis.object).collect();
        for (basis, live) in batch.iter().zip(read(context, &objects).await?) {
            let change = match live {
                Ok(live) => change(context, plan, basis, live.as_ref()),
                Err(error) => Some(format!("it cannot be read: {error}")),
            };
            changes.extend(change.map(|change| format!("{}: {change}", basis.object)));
        }
    }
    refused(&changes).map_err(Stopped::Refused)
}

fn refused(changes: &[String]) -> Result<(), ErrorBody> {
    let error = |message: &str| ErrorBody::new(ErrorCode::PreconditionFailed, message);
    match changes {
        [] => Ok(()),
        [one] => Err(error(&format!(
            "nothing was applied, because an object has changed since it was looked at: {one}"
        ))),
        several => {
            let message = format!(
                "nothing was applied, because {} objects have changed since they were looked at; the first: {}",
                several.len(),
                several[0]
            );
            let causes = several.iter().take(REPORTED).map(|change| error(change));
            Err(error(&message).caused_by(causes))
        }
    }
}

/// What has changed, in a sentence.
fn change(
    context: Context<'_>,
    plan: &Plan,
    expected: &Basis,
    live: Option<&Value>,
) -> Option<String> {
    let now = ownership::basis(&expected.object, live, context.deployment);
    let sentence = match (&expected.uid, &now.uid) {
        (None, Some(_)) => "it exists now".to_owned(),
        (Some(_), None) => "it does not exist any more".to_owned(),
        (before, after) if before != after => "another object has its name now".to_owned(),
        _ if expected.owned == now.owned => return None,
        _ => owned_fields(context, plan, expected, live?),
    };
    Some(sentence)
}

fn owned_fields(context: Context<'_>, plan: &Plan, expected: &Basis, live: &Value) -> String {
    let manager = plan::field_manager(context.deployment);
    let mut nodes = plan.nodes.iter();
    let node = nodes.find(|node| node.object.is_same_object(&expected.object));
    let asked = |field: &&ownership::Field| {
        node.is_some_and(|node| {
            field
                .path
                .find(&node.template)
                .is_some_and(|value| !value.is_object())
        })
    };
    let mut taken = Vec::new();
    for (other, fields) in ownership::others(live, &manager) {
        let fields = fields.iter().filter(asked);
        taken.extend(fields.map(|field| format!("{} is of {other:?} now", field.path)));
    }
    taken.truncate(REPORTED);
    match taken.is_empty() {
        true => {
            "fields that the deployment owns have other values, or are its own no longer".to_owned()
        }
        false => format!(
            "fields that the deployment owned have changed: {}",
            taken.join(", ")
        ),
    }
}
