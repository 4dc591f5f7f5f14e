//! Hooks of tests and deletions: they run, and nothing else is applied.

use std::collections::HashSet;

use common::api::deployer::{DeleteHooks, Report, ResourceReport, ResourceState};
use common::api::error::ErrorBody;
use common::model::{AppliedObject, DeletePolicy, ObjectRef};

use super::context::{Context, Known, Stopped};
use super::{Removal, converge, delete};
use crate::plan::Plan;
use crate::plan::hooks::{self, Moment};

/// Group, kind, namespace and name: what identifies an object.
pub type Identity = (String, String, Option<String>, String);

fn identity(object: &ObjectRef) -> Identity {
    let (group, kind, namespace, name) = object.identity();
    let namespace = namespace.map(str::to_owned);
    (
        group.to_owned(),
        kind.to_owned(),
        namespace,
        name.to_owned(),
    )
}

/// All objects of a plan.
pub fn identities(plan: &Plan) -> HashSet<Identity> {
    plan.nodes
        .iter()
        .map(|node| identity(&node.object))
        .collect()
}

/// The part of the plan for this moment.
pub fn selected(context: Context<'_>, plan: Plan, moment: Moment<'_>) -> Result<Plan, ErrorBody> {
    Ok(hooks::select(plan, moment, context.operation)?)
}

/// What stays on record although it is not handled now: hooks that do not run.
pub fn kept(
    recorded: &[AppliedObject],
    whole: &HashSet<Identity>,
    selected: &Plan,
) -> Vec<AppliedObject> {
    let handled = identities(selected);
    let stays = |old: &&AppliedObject| {
        let identity = identity(&old.object);
        whole.contains(&identity) && !handled.contains(&identity)
    };
    recorded.iter().filter(stays).cloned().collect()
}

/// Runs the hooks of this moment. All other objects stay on record.
pub async fn run(
    context: Context<'_>,
    plan: Plan,
    moment: Moment<'_>,
    recorded: &[AppliedObject],
) -> Result<Report, Stopped> {
    let plan = selected(context, plan, moment)?;
    let known = Known {
        recorded,
        expected: &[],
        removal: Removal::default(),
        create_namespace: None,
        preflight: false,
        predecessor: None,
    };
    let observed: HashSet<Identity> = plan
        .nodes
        .iter()
        .filter(|node| node.is_observed)
        .map(|node| identity(&node.object))
        .collect();
    let handled = identities(&plan);
    let others = recorded.iter().filter(|old| {
        let identity = identity(&old.object);
        !handled.contains(&identity) || observed.contains(&identity)
    });
    let others: Vec<AppliedObject> = others.cloned().collect();
    let converged = converge::converge(context, plan, known, Vec::new()).await?;
    let is_observed = |object: &ObjectRef| observed.contains(&identity(object));
    let of_hooks = converged
        .objects
        .into_iter()
        .filter(|own| !is_observed(&own.object));
    let objects = others.into_iter().chain(of_hooks).collect();
    let is_failed = |report: &ResourceReport| report.state == ResourceState::Failed;
    let resources = converged
        .reports
        .into_iter()
        .filter(|report| is_failed(report) || !report.object.as_ref().is_some_and(is_observed));
    let mut report = Report {
        resources: resources.collect(),
        objects,
        ..Report::default()
    };
    report.stopped = !is_done(&report) && context.gate.halted().is_some();
    Ok(report)
}

fn is_done(report: &Report) -> bool {
    let mut states = report.resources.iter().map(|resource| resource.state);
    states.all(|state| matches!(state, ResourceState::Ready | ResourceState::Gone))
}

/// Deletes the deployment, with its hooks before and after. The objects of these hooks stay, so that an interrupted
/// deletion knows that they have run; the caller deletes them.
pub async fn around_delete(
    context: Context<'_>,
    plan: Plan,
    hooks: &DeleteHooks,
    recorded: Vec<AppliedObject>,
    unconfirmed: Vec<(common::model::Resource, ObjectRef)>,
    policy: Removal,
) -> Result<Report, Stopped> {
    // Who keeps the objects wants nothing undone either.
    if policy.policy == Some(DeletePolicy::Abandon) {
        return delete(context, recorded, unconfirmed, policy).await;
    }
    let (first, last) = (Moment::BeforeDelete(hooks), Moment::AfterDelete(hooks));
    let before = run(context, plan.clone(), first, &recorded).await?;
    if !is_done(&before) {
        return Ok(before);
    }
    let after = selected(context, plan.clone(), last)?;
    let own: HashSet<Identity> = ran(&before).chain(after_identities(&after)).collect();
    let is_own = |object: &ObjectRef| own.contains(&identity(object));
    let (of_hooks, others): (Vec<_>, Vec<_>) = before
        .objects
        .into_iter()
        .partition(|old| is_own(&old.object));
    let unconfirmed = unconfirmed.into_iter();
    let unconfirmed = unconfirmed.filter(|(_, object)| !is_own(object)).collect();
    let mut whole = delete(context, others, unconfirmed, policy).await?;
    whole.resources.splice(0..0, before.resources);
    whole.objects.extend(of_hooks);
    if !is_done(&whole) || whole.stopped {
        return Ok(whole);
    }
    let recorded = std::mem::take(&mut whole.objects);
    let after = run(context, plan, last, &recorded).await?;
    whole.resources.extend(after.resources);
    whole.objects = after.objects;
    whole.stopped = after.stopped;
    Ok(whole)
}

fn ran(report: &Report) -> impl Iterator<Item = Identity> {
    let hooks = report
        .resources
        .iter()
        .filter(|resource| resource.hook.is_some());
    hooks.filter_map(|resource| Some(identity(resource.object.as_ref()?)))
}

/// The hooks that are going to run.
fn after_identities(plan: &Plan) -> impl Iterator<Item = Identity> {
    let hooks = plan.nodes.iter().filter(|node| node.run.is_some());
    hooks.map(|node| identity(&node.object))
}
