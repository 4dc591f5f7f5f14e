//! Ends what a former tool owns of the deployment's objects: the entries of its field managers go, and the values stay.
//!
//! It comes after the apply, because an object must never be without an owner: the API server would then say that
//! `before-first-apply` owns all its fields. It can be done again, so an interrupted operation ends it later.

use common::api::deployer::{Report, ResourceState};
use common::api::error::{ErrorBody, Location};
use common::model::{ObjectRef, Predecessor};
use futures::StreamExt;
use serde_json::{Value, json};

use crate::apply::context::{Context, race};
use crate::apply::fetch::AT_ONCE;
use crate::apply::object::{change, claim};
use crate::kubectl::{KubectlError, PatchOptions};
use crate::plan;

/// Ends it for all objects of the report. One that stays with the former tool has failed.
pub async fn end(context: Context<'_>, predecessor: Predecessor, report: &mut Report) {
    let calls = report.resources.iter_mut().map(|resource| async move {
        let Some(object) = resource.object.clone() else {
            return;
        };
        let ended = race::repeated(async || once(context, predecessor, &object).await);
        if let Err(error) = ended.await {
            let message = format!(
                "resource {} ({object}): the fields that {predecessor:?} owns cannot be taken from it: {error}",
                resource.name
            );
            let location = Location {
                resource: Some(resource.name.to_string()),
                ..Location::default()
            };
            resource.state = ResourceState::Failed;
            resource.error = Some(ErrorBody::new(error.code(), message).at(location));
        }
    });
    futures::stream::iter(calls)
        .buffer_unordered(AT_ONCE)
        .collect::<()>()
        .await;
}

async fn once(
    context: Context<'_>,
    predecessor: Predecessor,
    object: &ObjectRef,
) -> Result<(), KubectlError> {
    let within = context.deadline.call();
    let Some(live) = context.kubectl.get(object, within).await? else {
        return Ok(());
    };
    // A definition that deployments share may be one of other releases, too.
    let is_own = change::owner(&live) == Some(context.deployment.as_str());
    let Some(left) = without(&live, predecessor).filter(|_| is_own) else {
        return Ok(());
    };
    let options = PatchOptions {
        manager: plan::MANAGER,
        precondition: claim::precondition(Some(&live)),
    };
    let patch = json!({"metadata": {"managedFields": left}});
    let within = context.deadline.call();
    let patched = context.kubectl.patch(object, &patch, options, within);
    patched.await.map(drop)
}

/// The entries without those of the tool; `None` if it has none, or if there are no others.
fn without(live: &Value, predecessor: Predecessor) -> Option<Vec<Value>> {
    let entries = live["metadata"]["managedFields"].as_array()?;
    let is_theirs = |entry: &&Value| {
        let manager = entry["manager"].as_str().unwrap_or_default();
        predecessor.field_managers().contains(&manager) && entry.get("subresource").is_none()
    };
    let left: Vec<Value> = entries
        .iter()
        .filter(|entry| !is_theirs(entry))
        .cloned()
        .collect();
    (left.len() < entries.len() && !left.is_empty()).then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(entries: Value) -> Option<Vec<String>> {
        let live = json!({"metadata": {"managedFields": entries}});
        let left = without(&live, Predecessor::Helm)?;
        let name = |entry: &Value| entry["manager"].as_str().map(str::to_owned);
        Some(left.iter().filter_map(name).collect())
    }

    #[test]
    fn only_the_entries_of_the_former_tool_go_and_never_all() {
        let entry = |name: &str| json!({"manager": name, "operation": "Update"});
        let status = json!({"manager": "helm", "operation": "Update", "subresource": "status"});
        let cases = [
            (
                json!([entry("helm"), entry("dm-web")]),
                Some(vec!["dm-web"]),
            ),
            (
                json!([entry("dm-web"), entry("helm3"), entry("kubectl-edit")]),
                Some(vec!["dm-web", "kubectl-edit"]),
            ),
            (json!([entry("dm-web"), entry("helmsman")]), None),
            (json!([entry("dm-web"), status]), None),
            (json!([entry("helm")]), None),
            (json!([]), None),
        ];
        for (entries, expected) in cases {
            let expected: Option<Vec<String>> =
                expected.map(|names| names.into_iter().map(str::to_owned).collect());
            assert_eq!(left(entries.clone()), expected, "{entries}");
        }
    }
}
