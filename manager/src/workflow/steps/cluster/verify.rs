//! Checks that the objects have not changed since the preview, before any of it is applied.

use std::collections::{BTreeMap, HashMap};

use common::api::deployer::{Basis, FieldChange, ResourceDiff};
use common::api::error::{ErrorBody, ErrorCode, Location};
use common::model::Preview;
use serde_json::Value;

use crate::domain::redaction::Redaction;
use crate::store::{StoreError, manifests};
use crate::workflow::expansion::redacting;
use crate::workflow::step::{Done, Failure, Run, StepError};
use crate::workflow::steps::cluster::diff::differences;

/// The number of fields of an object that the refusal names.
const NAMED: usize = 10;
/// The number of characters that it shows of a value.
const SHOWN: usize = 80;

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let name = run.manifest()?;
    let preview = manifests::preview(run.store(), run.deployment(), name).await?;
    let preview = preview.ok_or_else(|| StoreError::Missing(format!("the preview of {name}")))?;
    let found = differences(run).await?.map_err(Failure::clean)?;
    let redaction = run.redaction().await?;
    // The same options as the preview's, so that the two can be compared field by field.
    let hide = |redaction: &Redaction, now: &mut Vec<ResourceDiff>| {
        now.iter_mut().for_each(|diff| redaction.diff(diff));
    };
    let now = redacting::redacted(&redaction, found.resources, hide).await;
    match refusal(&preview, &now) {
        Some(error) => Err(Failure::clean(error).into()),
        None => Ok(Done::default()),
    }
}

fn refusal(preview: &Preview, now: &[ResourceDiff]) -> Option<Box<ErrorBody>> {
    let now: HashMap<_, _> = now
        .iter()
        .map(|now| (now.basis.object.identity(), now))
        .collect();
    let changed: Vec<_> = preview
        .resources
        .iter()
        .filter_map(|seen| changed(seen, now.get(&seen.basis.object.identity()).copied()))
        .collect();
    if changed.is_empty() {
        return None;
    }
    let message = format!(
        "{} of {} resources have changed since the preview, so nothing was applied; preview again",
        changed.len(),
        preview.resources.len()
    );
    let error = ErrorBody::new(ErrorCode::PreconditionFailed, message);
    Some(Box::new(error.caused_by(changed)))
}

/// `now`: the same object, if there is anything to do to it.
fn changed(seen: &ResourceDiff, now: Option<&ResourceDiff>) -> Option<ErrorBody> {
    let how = match now {
        Some(now) => difference(&seen.basis, &now.basis)?,
        None => Difference::Unaffected,
    };
    let how = match (how, now) {
        (Difference::Fields, Some(now)) => fields(seen, now),
        (how, _) => how.as_str().to_owned(),
    };
    let message = format!("resource '{}' ({}) {how}", seen.name, seen.basis.object);
    let location = Location {
        resource: Some(seen.name.to_string()),
        ..Location::default()
    };
    let error = ErrorBody::new(ErrorCode::PreconditionFailed, message).at(location);
    // The present owner of the field, if the API server reports one.
    let conflict = now.and_then(|now| now.error.clone());
    Some(error.caused_by(conflict.filter(|_| seen.error.is_none())))
}

/// How an object differs from the one that the preview saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Difference {
    Made,
    Gone,
    Replaced,
    Unaffected,
    /// In fields that the deployment owns.
    Fields,
}

impl Difference {
    fn as_str(self) -> &'static str {
        match self {
            Self::Made => "was not there and is now",
            Self::Gone => "is gone",
            Self::Replaced => "was replaced by another object",
            Self::Unaffected => "is not affected any more",
            Self::Fields => {
                "has fields of the deployment that were changed, or are somebody else's now"
            }
        }
    }
}

fn difference(seen: &Basis, now: &Basis) -> Option<Difference> {
    match (&seen.uid, &now.uid) {
        (None, Some(_)) => Some(Difference::Made),
        (Some(_), None) => Some(Difference::Gone),
        (Some(before), Some(after)) if before != after => Some(Difference::Replaced),
        _ if seen.owned != now.owned => Some(Difference::Fields),
        _ => None,
    }
}

/// The changed fields, each with its old and new value. A field that neither side reports has no name.
fn fields(seen: &ResourceDiff, now: &ResourceDiff) -> String {
    let (then, now) = (by_path(&seen.changes), by_path(&now.changes));
    let of_then = then.iter().filter_map(|(path, was)| match now.get(path) {
        Some(is) => {
            (was.before != is.before).then(|| field(path, was.before.as_ref(), is.before.as_ref()))
        }
        None => Some(field(path, was.before.as_ref(), was.after.as_ref())),
    });
    // The preview had nothing to change there: the field had the wanted value.
    let of_now = now.iter().filter(|(path, _)| !then.contains_key(*path));
    let of_now = of_now.map(|(path, is)| field(path, is.after.as_ref(), is.before.as_ref()));
    let mut reported: Vec<String> = of_then.chain(of_now).collect();
    let more = reported.len().saturating_sub(NAMED);
    reported.truncate(NAMED);
    match (reported.is_empty(), more) {
        (true, _) => Difference::Fields.as_str().to_owned(),
        (false, 0) => format!("was changed: {}", reported.join(", ")),
        (false, more) => format!("was changed: {}, and {more} more", reported.join(", ")),
    }
}

fn by_path(changes: &[FieldChange]) -> BTreeMap<&str, &FieldChange> {
    let changes = changes.iter();
    changes
        .map(|change| (change.path.as_str(), change))
        .collect()
}

fn field(path: &str, was: Option<&Value>, is: Option<&Value>) -> String {
    format!("{path} was {} and is {}", excerpt(was), excerpt(is))
}

fn excerpt(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "absent".to_owned();
    };
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn basis(uid: Option<&str>, owned: &str) -> Basis {
        let object = json!({"apiVersion": "v1", "kind": "Pod", "name": "a"});
        serde_json::from_value(json!({"object": object, "uid": uid, "owned": owned})).unwrap()
    }

    #[test]
    fn an_object_is_as_it_was_seen_or_told_how_it_differs() {
        let (one, gone) = (basis(Some("1"), "x"), basis(None, "x"));
        let cases = [
            (&one, &one, None),
            (&gone, &one, Some(Difference::Made)),
            (&one, &gone, Some(Difference::Gone)),
            (&one, &basis(Some("2"), "x"), Some(Difference::Replaced)),
            (&one, &basis(Some("1"), "y"), Some(Difference::Fields)),
        ];
        for (seen, now, expected) in cases {
            assert_eq!(difference(seen, now), expected);
        }
    }

    fn diff(owned: &str, changes: serde_json::Value) -> ResourceDiff {
        let diff = json!({
            "name": "a", "type": "Pod", "intent": "UPDATE", "basis": basis(Some("1"), owned), "changes": changes,
        });
        serde_json::from_value(diff).unwrap()
    }

    fn said(seen: serde_json::Value, now: serde_json::Value) -> String {
        changed(&diff("x", seen), Some(&diff("y", now)))
            .unwrap()
            .message
    }

    #[test]
    fn a_refusal_names_the_fields_with_what_they_were_and_are() {
        let change = |before, after| json!([{"path": "spec.a", "before": before, "after": after}]);
        let both = said(change(1, 3), change(2, 3));
        assert_eq!(
            both,
            "resource 'a' (Pod a) was changed: spec.a was 1 and is 2"
        );
        let unseen = said(json!([]), change(2, 1));
        assert!(unseen.ends_with("spec.a was 1 and is 2"), "{unseen}");
        let there = said(change(1, 3), json!([]));
        assert!(there.ends_with("spec.a was 1 and is 3"), "{there}");
        let made = said(json!([]), json!([{"path": "spec.b", "after": "c"}]));
        assert!(made.ends_with("spec.b was \"c\" and is absent"), "{made}");
    }

    #[test]
    fn a_refusal_is_short_and_admits_what_it_cannot_name() {
        let secret = json!([{"path": "data.a", "before": "(redacted)", "after": "(redacted)"}]);
        let hidden = said(secret.clone(), secret);
        assert!(
            hidden.ends_with("changed, or are somebody else's now"),
            "{hidden}"
        );
        let long = "ä".repeat(10_000);
        let many = (0..100)
            .map(|n| json!({"path": format!("spec.f{n}"), "before": long, "after": "b"}))
            .collect();
        let many = said(json!([]), serde_json::Value::Array(many));
        assert!(many.ends_with("and 90 more"), "{many}");
        assert!(many.chars().count() < 2_000, "{many}");
    }
}
