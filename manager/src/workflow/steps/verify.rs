//! Finds out whether the objects still are as the preview saw them, before any of it is applied.

use common::api::deployer::{Basis, ResourceDiff};
use common::api::error::{ErrorBody, ErrorCode, Location};
use common::model::Preview;

use crate::store::{StoreError, deployments, manifests};
use crate::workflow::diff;
use crate::workflow::step::{Done, Failure, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let name = run.manifest()?;
    let preview = manifests::preview(run.store(), run.deployment(), name).await?;
    let preview = preview.ok_or_else(|| StoreError::Missing(format!("the preview of {name}")))?;
    let (_, expansion) = run.source().await?;
    let recorded = deployments::objects(run.store(), run.deployment())
        .await?
        .recorded;
    let resources = expansion.expanded_config.resources;
    let request = run.request(
        run.namespace().await?,
        resources,
        expansion.outputs,
        recorded,
    );
    let tools = run.tools;
    let found = diff::diff(&*tools.deployer, &tools.retry, &request, run.deadline).await;
    let found = found.map_err(Failure::clean)?;
    match refusal(&preview, &found.resources) {
        Some(error) => Err(Failure::clean(error).into()),
        None => Ok(Done::default()),
    }
}

fn refusal(preview: &Preview, now: &[ResourceDiff]) -> Option<Box<ErrorBody>> {
    let changed: Vec<_> = preview
        .resources
        .iter()
        .filter_map(|seen| changed(seen, now))
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

fn changed(seen: &ResourceDiff, now: &[ResourceDiff]) -> Option<ErrorBody> {
    let same = |other: &&ResourceDiff| other.basis.object.is_same_object(&seen.basis.object);
    let how = match now.iter().find(same) {
        Some(now) => difference(&seen.basis, &now.basis)?,
        None => "is not affected any more",
    };
    let message = format!("resource '{}' ({}) {how}", seen.name, seen.basis.object);
    let location = Location {
        resource: Some(seen.name.to_string()),
        ..Location::default()
    };
    Some(ErrorBody::new(ErrorCode::PreconditionFailed, message).at(location))
}

fn difference(seen: &Basis, now: &Basis) -> Option<&'static str> {
    match (&seen.uid, &now.uid) {
        (None, Some(_)) => Some("was not there and is now"),
        (Some(_), None) => Some("is gone"),
        (Some(before), Some(after)) if before != after => Some("was replaced by another object"),
        _ if seen.owned != now.owned => Some("has fields of the deployment that were changed"),
        _ => None,
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
        let cases = [
            (basis(Some("1"), "x"), basis(Some("1"), "x"), None),
            (
                basis(None, "x"),
                basis(Some("1"), "x"),
                Some("was not there and is now"),
            ),
            (basis(Some("1"), "x"), basis(None, "x"), Some("is gone")),
            (
                basis(Some("1"), "x"),
                basis(Some("2"), "x"),
                Some("was replaced by another object"),
            ),
            (
                basis(Some("1"), "x"),
                basis(Some("1"), "y"),
                Some("has fields of the deployment that were changed"),
            ),
        ];
        for (seen, now, expected) in cases {
            assert_eq!(difference(&seen, &now), expected);
        }
    }
}
