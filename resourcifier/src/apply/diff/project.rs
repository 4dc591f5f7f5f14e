//! One desired resource: what a write would do to its object, and what the object would be then.

use common::api::deployer::{EdgeReason, ResourceDiff, ResourceIntent};
use serde_json::Value;

use super::attempt::{Tried, attempt, refused};
use super::unknown::{self, Known};
use crate::apply::context::Context;
use crate::apply::object::claim::{self, Claim};
use crate::apply::object::compare::{self, Difference};
use crate::apply::object::fault::fault;
use crate::apply::object::{acquired, change, ownership, unchanged};
use crate::kubectl::KubectlError;
use crate::plan::{self, Node, Reference};

/// A resource that was looked at.
pub struct Projected {
    pub diff: ResourceDiff,
    /// What references to it can go by: the object as it would be, or what is known of one that is not there yet.
    values: Option<Value>,
    /// Whether the object is made, or made anew: nothing can be tried in it, or of its kind, before.
    is_made: bool,
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
                basis: match node.run {
                    // A hook runs, whatever became of its last run.
                    Some(_) => ownership::basis(&node.object, None, context.deployment),
                    None => ownership::basis(&node.object, live, context.deployment),
                },
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
    if node.run.is_some() || node.metadata.is_shared() {
        return None;
    }
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
        None => {
            let is_hosted = is_hosted(node, others);
            attempt(context, node, live.as_ref(), recorded, &known, is_hosted).await
        }
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

/// Whether its namespace and its kind are there already.
fn is_hosted(node: &Node, others: &[Option<Projected>]) -> bool {
    let dependencies = node.dependencies.iter();
    dependencies
        .filter(|dependency| dependency.because == EdgeReason::Host)
        .filter_map(|host| others[host.on].as_ref())
        .all(|host| !host.is_made)
}
