//! One object's dry run: what a write would make of it, or why it would fail.

use std::borrow::Cow;

use common::api::deployer::ResourceIntent;
use common::api::error::{ErrorBody, ErrorCode};
use common::model::UpdatePolicy;
use serde_json::Value;

use super::unknown::Known;
use crate::apply::context::Context;
use crate::apply::definitions;
use crate::apply::definitions::shared::{self, Sharing};
use crate::apply::object::claim::{self, Claim};
use crate::apply::object::compare::{self, Difference};
use crate::apply::object::fault::fault;
use crate::apply::object::{replace, unchanged};
use crate::apply::write::conflicts::{self, How};
use crate::apply::write::trial;
use crate::kubectl::{KubectlError, ObjectFault, Precondition};
use crate::plan::{self, Node};

/// What the dry run came to.
pub struct Tried {
    pub intent: ResourceIntent,
    pub differences: Vec<Difference>,
    pub values: Option<Value>,
    pub error: Option<ErrorBody>,
}

/// `is_hosted` says whether its namespace and its kind are there already.
pub async fn attempt(
    context: Context<'_>,
    node: &Node,
    live: Option<&Value>,
    recorded: Option<&str>,
    known: &Known,
    is_hosted: bool,
) -> Tried {
    if node.run.is_some() && live.is_some() {
        return Tried {
            intent: ResourceIntent::Replace,
            ..created(known, None)
        };
    }
    if node.metadata.is_shared() && live.is_some() {
        return shared_object(context, node, live, known).await;
    }
    let policy = node.metadata.create_policy;
    let standing = claim::standing(live, context.deployment, recorded);
    let claim = match claim::claim(standing, policy, false) {
        Ok(claim) => claim,
        Err(refusal) => {
            let intent = match live {
                Some(_) => ResourceIntent::None,
                None => ResourceIntent::Create,
            };
            let error = fault(node, ErrorCode::ResourcesFailed, &refusal.to_string());
            return refused(intent, live.cloned(), error);
        }
    };
    if !is_hosted || context.catalog.current(&node.object).is_none() {
        return created(known, None);
    }
    if let Some(fault) = definitions::fault(context, node, live).await {
        return refused(ResourceIntent::Update, live.cloned(), fault);
    }
    dry_run(context, node, live, claim, known).await
}

/// An object that deployments share.
async fn shared_object(
    context: Context<'_>,
    node: &Node,
    live: Option<&Value>,
    known: &Known,
) -> Tried {
    let sharing = shared::sharing_of(
        live,
        node.metadata.singleton,
        &known.object,
        context.deployment,
    );
    let refused_by = |reason: &str| {
        let error = fault(node, ErrorCode::ResourcesFailed, reason);
        refused(ResourceIntent::None, live.cloned(), error)
    };
    match sharing {
        Err(reason) => refused_by(&reason),
        Ok(Sharing::Write) => match definitions::fault(context, node, live).await {
            Some(fault) => refused(ResourceIntent::Update, live.cloned(), fault),
            None => dry_run(context, node, live, Claim::Update, known).await,
        },
        Ok(_) => Tried {
            intent: ResourceIntent::None,
            differences: Vec::new(),
            values: live.cloned(),
            error: None,
        },
    }
}

async fn dry_run(
    context: Context<'_>,
    node: &Node,
    live: Option<&Value>,
    claim: Claim,
    known: &Known,
) -> Tried {
    let manager = match node.metadata.is_shared() {
        true => plan::SHARED_MANAGER.to_owned(),
        false => plan::field_manager(context.deployment),
    };
    let asked = match node.metadata.is_shared() {
        true => shared::with_sharers(&known.object, live),
        false => Cow::Borrowed(&known.object),
    };
    let how = How {
        manager: &manager,
        policy: node.metadata.conflict_policy,
        dry_run: true,
        precondition: Precondition::None,
        secrets: context.events.secrets(),
    };
    let within = context.deadline.call();
    let outcome = conflicts::apply(context.kubectl, &asked, how, within).await;
    match (live, outcome) {
        (None, Ok(_)) => created(known, None),
        (None, Err(error)) => created(known, write_error(node, known, &error, &Ok(false))),
        (Some(live), Ok(applied)) => changed(claim, live, applied.live),
        // A user who may only read it changes nothing either.
        (Some(live), Err(error))
            if error.fault() == Some(ObjectFault::Forbidden)
                && unchanged::is_unchanged(&known.object, live, &manager) =>
        {
            changed(claim, live, live.clone())
        }
        (Some(live), Err(error)) => unchangeable(context, node, known, live, &error).await,
    }
}

/// An object that is made, with what the configuration says of it.
fn created(known: &Known, error: Option<ErrorBody>) -> Tried {
    Tried {
        intent: ResourceIntent::Create,
        differences: compare::differences(None, Some(&known.object)),
        values: Some(known.object.clone()),
        error,
    }
}

fn changed(claim: Claim, live: &Value, result: Value) -> Tried {
    let differences = compare::differences(Some(live), Some(&result));
    let intent = match (claim, differences.is_empty()) {
        (Claim::Acquire, _) => ResourceIntent::Acquire,
        (_, true) => ResourceIntent::None,
        (_, false) => ResourceIntent::Update,
    };
    Tried {
        intent,
        differences,
        values: Some(result),
        error: None,
    }
}

/// The API server refuses the change: the object is replaced, if that is its policy and a new object would be accepted, or the
/// write would fail.
async fn unchangeable(
    context: Context<'_>,
    node: &Node,
    known: &Known,
    live: &Value,
    error: &KubectlError,
) -> Tried {
    let overlaid = compare::overlaid(live, &known.object);
    let differences = compare::differences(Some(live), Some(&overlaid));
    let would_help = match replace::may_help(error) {
        true => trial::create_would_succeed(context, &known.object).await,
        false => Ok(false),
    };
    if node.metadata.update_policy == UpdatePolicy::Replace && would_help == Ok(true) {
        let obstacle = replace::obstacle(live);
        return Tried {
            intent: ResourceIntent::Replace,
            differences,
            values: Some(known.object.clone()),
            error: obstacle.map(|reason| fault(node, ErrorCode::ResourcesFailed, &reason)),
        };
    }
    Tried {
        intent: ResourceIntent::Update,
        differences,
        values: Some(live.clone()),
        error: write_error(node, known, error, &would_help),
    }
}

/// The error that a write would meet. Where values are not known yet, what is invalid without them says nothing.
fn write_error(
    node: &Node,
    known: &Known,
    error: &KubectlError,
    would_help: &Result<bool, KubectlError>,
) -> Option<ErrorBody> {
    let is_invalid = matches!(error, KubectlError::Object(error) if !error.causes.is_empty());
    let is_moot = !known.unknown.is_empty() && is_invalid && error.conflicts().is_empty();
    (!is_moot).then(|| {
        fault(
            node,
            error.code(),
            &replace::failure(node, error, would_help),
        )
    })
}

pub fn refused(intent: ResourceIntent, values: Option<Value>, error: ErrorBody) -> Tried {
    Tried {
        intent,
        differences: Vec::new(),
        values,
        error: Some(error),
    }
}
