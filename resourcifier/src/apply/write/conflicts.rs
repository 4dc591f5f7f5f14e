//! Applying beside others: what happens where another manager owns a field with another value.
//!
//! FAIL names the manager, the field and both values. TAKE forces, but only where there is a conflict. YIELD leaves the
//! fields out that are in conflict, so that they stay theirs. Whether the object may be touched at all is not decided here.

use std::time::Duration;

use common::model::ConflictPolicy;
use common::redact::REDACTED;
use serde_json::Value;

use crate::apply::context::secrets::Secrets;
use crate::apply::object::shown::shown;
use crate::apply::object::{claim, notation};
use crate::kubectl::{
    ApplyOptions, Cause, ClusterApi, KubectlError, ObjectError, ObjectFault, Precondition,
    object_ref,
};
use crate::plan::Path;

/// Leaving fields out may bring other conflicts to light, but not for ever.
const TRIES: usize = 4;
/// The most conflicts that an error names.
const REPORTED: usize = 10;

/// How an object is applied.
#[derive(Debug, Clone, Copy)]
pub struct How<'a> {
    pub manager: &'a str,
    pub policy: ConflictPolicy,
    pub dry_run: bool,
    /// What must still be so when the API server writes.
    pub precondition: Precondition<'a>,
    /// The secret values to redact in both objects.
    pub secrets: &'a Secrets,
}

/// What applying came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// The object as it is now, or would be.
    pub live: Value,
    /// The fields that were left to others, by their place in what was asked for.
    pub yielded: Vec<Path>,
}

/// One field that another manager owns.
struct Conflict<'c> {
    cause: &'c Cause,
    /// Where it is in what is asked for.
    asked: Option<Path>,
    /// What it is there, and in the live object.
    ours: Option<Value>,
    theirs: Option<Value>,
}

/// Applies the object as the policy says.
pub async fn apply(
    kubectl: &dyn ClusterApi,
    object: &Value,
    how: How<'_>,
    within: Duration,
) -> Result<Applied, KubectlError> {
    let (mut asked, mut yielded) = (None, Vec::new());
    let mut force = false;
    for _ in 0..TRIES {
        let options = ApplyOptions {
            manager: how.manager,
            force,
            dry_run: how.dry_run,
            precondition: how.precondition,
        };
        let current = asked.as_ref().unwrap_or(object);
        let error = match kubectl.apply(current, options, within).await {
            Ok(live) => return Ok(Applied { live, yielded }),
            Err(error) if error.conflicts().is_empty() => return Err(error),
            Err(error) => error,
        };
        if how.policy == ConflictPolicy::Take {
            force = true;
            continue;
        }
        let live = kubectl.get(&object_ref(object), within).await?;
        // The API server looks for conflicts first: they may be with another object than the one that was read.
        if is_lost(how.precondition, live.as_ref()) {
            return Err(lost());
        }
        let conflicts = found(error.conflicts(), current, live.as_ref());
        let fields: Option<Vec<Path>> = conflicts.iter().map(|one| one.asked.clone()).collect();
        match fields.filter(|_| how.policy == ConflictPolicy::Yield) {
            None => return Err(conflict_error(&conflicts, object, how.secrets)),
            Some(fields) => {
                asked = Some(without(current, &fields));
                yielded.extend(fields);
            }
        }
    }
    Err(ObjectError {
        fault: ObjectFault::Transient,
        text: "other field managers change it again and again".to_owned(),
        causes: Vec::new(),
    }
    .into())
}

/// Whether the object is another one than the precondition says, or none.
fn is_lost(precondition: Precondition<'_>, live: Option<&Value>) -> bool {
    precondition != Precondition::None && claim::precondition(live) != precondition
}

/// Somebody else wrote first.
pub fn lost() -> KubectlError {
    ObjectError {
        fault: ObjectFault::Changed,
        text: "somebody else has written to it since it was read".to_owned(),
        causes: Vec::new(),
    }
    .into()
}

fn found<'c>(causes: &'c [Cause], asked: &Value, live: Option<&Value>) -> Vec<Conflict<'c>> {
    let conflict = |cause: &'c Cause| {
        let path = notation::resolve(&cause.field, asked);
        let theirs = live.and_then(|live| notation::resolve(&cause.field, live)?.find(live));
        Conflict {
            cause,
            ours: path.as_ref().and_then(|path| path.find(asked)).cloned(),
            theirs: theirs.cloned(),
            asked: path,
        }
    };
    causes.iter().map(conflict).collect()
}

/// The object without these fields; later items of a list go first, so that the places of the others stay.
fn without(object: &Value, fields: &[Path]) -> Value {
    let (mut object, mut fields) = (object.clone(), fields.to_vec());
    fields.sort();
    for field in fields.iter().rev() {
        field.take(&mut object);
    }
    object
}

/// An error that names the conflicts: field, manager and both values.
fn conflict_error(conflicts: &[Conflict<'_>], object: &Value, secrets: &Secrets) -> KubectlError {
    let field = |conflict: &Conflict<'_>| {
        let path = match &conflict.asked {
            Some(path) => path.to_string(),
            None => conflict.cause.field.trim_start_matches('.').to_owned(),
        };
        // Where one side is secret, so is the other: a password of before, or of somebody else.
        let sides = [&conflict.theirs, &conflict.ours];
        let is_secret = sides.into_iter().flatten().any(|one| secrets.hide_in(one));
        let value = |value: &Option<Value>| match (value, &conflict.asked) {
            (Some(_), Some(_)) if is_secret => REDACTED.to_owned(),
            (Some(value), Some(path)) => shown(value, path, object),
            _ => "another value".to_owned(),
        };
        format!(
            "{path} is {} by {:?}, asked for is {}",
            value(&conflict.theirs),
            manager(conflict.cause),
            value(&conflict.ours)
        )
    };
    let mut fields: Vec<String> = conflicts.iter().take(REPORTED).map(field).collect();
    if conflicts.len() > REPORTED {
        fields.push(format!("and {} more", conflicts.len() - REPORTED));
    }
    let text = format!(
        "other field managers own fields that it sets: {}; leave these fields out, or set the resource's conflictPolicy to TAKE or YIELD",
        fields.join("; ")
    );
    ObjectError {
        fault: ObjectFault::Conflict,
        text,
        causes: conflicts
            .iter()
            .map(|conflict| conflict.cause.clone())
            .collect(),
    }
    .into()
}

/// The manager that a conflict is with: `conflict with "kubectl-edit" using apps/v1`.
fn manager(cause: &Cause) -> &str {
    let name = cause.message.split_once('"').map(|(_, rest)| rest);
    let name = name.and_then(|rest| rest.split_once('"'));
    name.map_or("somebody", |(name, _)| name)
}
