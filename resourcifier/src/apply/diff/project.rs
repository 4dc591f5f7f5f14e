//! One desired resource: what a write would do to its object, and what the object would be then.

use common::api::deployer::{EdgeReason, ResourceDiff, ResourceIntent};
use common::api::error::{ErrorBody, ErrorCode};
use common::model::UpdatePolicy;
use serde_json::Value;

use super::unknown::{self, Known};
use crate::apply::context::Context;
use crate::apply::definitions;
use crate::apply::object::claim::{self, Claim};
use crate::apply::object::compare::{self, Difference};
use crate::apply::object::fault::fault;
use crate::apply::object::{acquired, change, ownership, replace, unchanged};
use crate::apply::write::conflicts::{self, How};
use crate::apply::write::trial;
use crate::kubectl::{KubectlError, ObjectFault, Precondition};
use crate::plan::{self, Node, Reference};

/// A resource that was looked at.
pub struct Projected {
    pub diff: ResourceDiff,
    /// What references to it can go by: the object as it would be, or what is known of one that is not there yet.
    values: Option<Value>,
    /// Whether the object is made, or made anew: nothing can be tried in it, or of its kind, before.
    is_made: bool,
}

/// What the dry run came to.
struct Tried {
    intent: ResourceIntent,
    differences: Vec<Difference>,
    values: Option<Value>,
    error: Option<ErrorBody>,
}

impl Projected {
    /// Nobody refers to them.
    pub fn forget_values(&mut self) {
        self.values = None;
    }

    fn new(
        context: Context<'_>,
        node: &Node,
        live: Option<&Value>,
        tried: Tried,
        known: &Known,
    ) -> Self {
        let is_known = |difference: &Difference| {
            let mut unknown = known.unknown.iter();
            !unknown.any(|path| path.holds(&difference.path) || difference.path.holds(path))
        };
        let differences = tried.differences.into_iter().filter(is_known).collect();
        Self {
            is_made: matches!(
                tried.intent,
                ResourceIntent::Create | ResourceIntent::Replace
            ),
            values: tried.values,
            diff: ResourceDiff {
                name: node.resource.name.clone(),
                type_name: node.resource.type_name.clone(),
                intent: tried.intent,
                basis: ownership::basis(&node.object, live, context.deployment),
                changes: compare::field_changes(differences, &known.object),
                unknown: Vec::new(),
                missing_permissions: Vec::new(),
                error: tried.error,
            },
        }
    }
}

/// A resource that an apply would find as it asks for, so that it would write nothing. None, where that is in doubt, and of
/// one that takes values of others.
pub fn unchanged(
    context: Context<'_>,
    node: &Node,
    live: &Value,
    recorded: Option<&str>,
) -> Option<Projected> {
    let manager = plan::field_manager(context.deployment);
    let policy = node.metadata.create_policy;
    let standing = claim::standing(Some(live), context.deployment, recorded);
    let is_unchanged = node.references.is_empty()
        && !change::is_terminating(live)
        && claim::claim(standing, policy, false) == Ok(Claim::Update)
        && unchanged::is_unchanged(
            &acquired::carried(&node.template, Some(live)),
            live,
            &manager,
        );
    is_unchanged.then(|| {
        let tried = Tried {
            intent: ResourceIntent::None,
            differences: Vec::new(),
            values: Some(live.clone()),
            error: None,
        };
        Projected::new(context, node, Some(live), tried, &Known::default())
    })
}

/// Projects one resource; those that it depends on have been projected.
pub async fn project(
    context: Context<'_>,
    node: &Node,
    live: Result<Option<Value>, KubectlError>,
    recorded: Option<&str>,
    others: &[Option<Projected>],
) -> Projected {
    let lookup = |text: &str| value_of(node, text, others);
    let mut unknown: Vec<String> = Vec::new();
    for Reference { text, .. } in &node.references {
        if !unknown.contains(text) && lookup(text).is_none() {
            unknown.push(text.clone());
        }
    }
    let (live, failed) = match live {
        Ok(live) => (live.filter(|live| !change::is_terminating(live)), None),
        Err(error) => (None, Some(error)),
    };
    let template = acquired::carried(&node.template, live.as_ref());
    let known = unknown::fill(&template, live.as_ref(), &lookup);
    learn(context, node, live.as_ref(), &known, others);
    let tried = match failed {
        Some(error) => {
            let reason = format!("it cannot be read: {error}");
            refused(
                ResourceIntent::None,
                None,
                fault(node, error.code(), &reason),
            )
        }
        None => attempt(context, node, live.as_ref(), recorded, &known, others).await,
    };
    let mut projected = Projected::new(context, node, live.as_ref(), tried, &known);
    projected.diff.unknown = unknown;
    projected
}

/// The value that a reference is going to have; one of a Secret is looked up only when it is applied.
fn value_of(node: &Node, text: &str, others: &[Option<Projected>]) -> Option<Value> {
    let mut references = node.references.iter();
    let reference = references.find(|reference| reference.text == text)?;
    let values = others[reference.target].as_ref()?.values.as_ref()?;
    let value = reference.path.find(values).cloned();
    value.filter(|_| !reference.is_secret)
}

/// What the dry run may quote: what is in the place of the values of Secrets, and those themselves, which others may hold.
fn learn(
    context: Context<'_>,
    node: &Node,
    live: Option<&Value>,
    known: &Known,
    others: &[Option<Projected>],
) {
    let secrets = context.events.secrets();
    for reference in &node.references {
        let target = others[reference.target].as_ref();
        if let Some(target) = target.and_then(|target| target.values.as_ref()) {
            secrets.learn(reference, target);
        }
    }
    if let Some(live) = live {
        secrets.learn_former(node, live, &known.unknown);
    }
}

async fn attempt(
    context: Context<'_>,
    node: &Node,
    live: Option<&Value>,
    recorded: Option<&str>,
    known: &Known,
    others: &[Option<Projected>],
) -> Tried {
    let policy = node.metadata.create_policy;
    let standing = claim::standing(live, context.deployment, recorded);
    let claim = match claim::claim(standing, policy, false) {
        Ok(claim) => claim,
        Err(refusal) => {
            let intent = if live.is_some() {
                ResourceIntent::None
            } else {
                ResourceIntent::Create
            };
            let error = fault(node, ErrorCode::ResourcesFailed, &refusal.to_string());
            return refused(intent, live.cloned(), error);
        }
    };
    let hosts = node
        .dependencies
        .iter()
        .filter(|dependency| dependency.because == EdgeReason::Host);
    let is_hosted = hosts
        .filter_map(|host| others[host.on].as_ref())
        .all(|host| !host.is_made);
    if !is_hosted || context.catalog.current(&node.object).is_none() {
        return created(known, None);
    }
    if let Some(fault) = definitions::fault(context, node, live).await {
        return refused(ResourceIntent::Update, live.cloned(), fault);
    }
    let manager = plan::field_manager(context.deployment);
    let how = How {
        manager: &manager,
        policy: node.metadata.conflict_policy,
        dry_run: true,
        precondition: Precondition::None,
        secrets: context.events.secrets(),
    };
    let within = context.deadline.call();
    let outcome = conflicts::apply(context.kubectl, &known.object, how, within).await;
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

fn refused(intent: ResourceIntent, values: Option<Value>, error: ErrorBody) -> Tried {
    Tried {
        intent,
        differences: Vec::new(),
        values,
        error: Some(error),
    }
}
