//! What of a write the caller may not do, resource by resource.

use common::api::deployer::{ResourceDiff, ResourceIntent};
use common::api::error::{ErrorBody, ErrorCode, Location};

use crate::apply::checks::permissions::{self, Grants, Need, Verb};
use crate::apply::context::Context;
use crate::kubectl::{KubectlError, remedy};
use crate::plan::Plan;

/// Fills in the missing permissions of each resource, and the error that they mean.
pub async fn add_missing(
    context: Context<'_>,
    plan: &Plan,
    diffs: &mut [ResourceDiff],
) -> Result<(), KubectlError> {
    let grants = Grants::of(plan.nodes.iter().map(|node| &node.object));
    let (mut needs, mut places) = (Vec::new(), Vec::new());
    for (place, diff) in diffs.iter().enumerate() {
        let of_diff = Need::all(
            &diff.name,
            &diff.basis.object,
            verbs(diff, place < plan.nodes.len()),
        );
        if grants.may_reach(&diff.basis.object) {
            continue;
        }
        for need in of_diff {
            needs.push(need);
            places.push(place);
        }
    }
    let lacking = permissions::lacking(context, &needs).await?;
    for (place, access) in places.into_iter().zip(lacking) {
        diffs[place].missing_permissions.extend(access);
    }
    for diff in diffs.iter_mut() {
        put_error(&permissions::who(context), diff);
    }
    Ok(())
}

fn verbs(diff: &ResourceDiff, is_desired: bool) -> &'static [Verb] {
    match diff.intent {
        // It cannot be read.
        ResourceIntent::None if is_forbidden(diff) && is_desired => &[Verb::Get, Verb::Patch],
        ResourceIntent::None if is_forbidden(diff) => &[Verb::Get, Verb::Delete],
        ResourceIntent::None => &[],
        ResourceIntent::Create => &[Verb::Get, Verb::Patch, Verb::Create],
        ResourceIntent::Update | ResourceIntent::Acquire | ResourceIntent::Abandon => {
            &[Verb::Patch]
        }
        ResourceIntent::Replace => &[Verb::Delete, Verb::Patch, Verb::Create],
        ResourceIntent::Delete => &[Verb::Delete],
    }
}

fn is_forbidden(diff: &ResourceDiff) -> bool {
    diff.error
        .as_ref()
        .is_some_and(|error| error.code == ErrorCode::Forbidden)
}

/// Makes the missing permissions the error of the diff, unless it has another error.
fn put_error(who: &str, diff: &mut ResourceDiff) {
    let Some(first) = diff.missing_permissions.first() else {
        return;
    };
    if diff.error.is_some() && !is_forbidden(diff) {
        return;
    }
    let missing = diff.missing_permissions.iter();
    let missing: Vec<String> = missing.map(ToString::to_string).collect();
    let message = format!(
        "resource {} ({}): {who} may not {}; {}",
        diff.name,
        diff.basis.object,
        missing.join(", nor "),
        remedy(first)
    );
    diff.error = Some(ErrorBody::new(ErrorCode::Forbidden, message).at(Location {
        resource: Some(diff.name.to_string()),
        ..Location::default()
    }));
}
