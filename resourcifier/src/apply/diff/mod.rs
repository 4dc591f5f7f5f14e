//! What a write would do, before anybody does it: the API server's own dry run beside the live object, for every object
//! that an apply would not leave as it is.
//!
//! Nothing is changed. Wave by wave, so that a value that another resource is going to have can be put in.

mod attempt;
pub mod drift;
mod permitted;
mod project;
mod prune;
mod unknown;

use std::collections::HashMap;

use common::api::deployer::{DiffReport, Hooks, ResourceDiff};
use common::api::error::ErrorBody;
use common::model::{AppliedObject, ObjectRef};
use futures::StreamExt;
use serde_json::Value;

use self::project::Projected;
use crate::apply::context::{BATCH, Context, Stopped};
use crate::apply::remove::{Removal, superfluous};
use crate::apply::{fetch, hooks};
use crate::kubectl::KubectlError;
use crate::plan::hooks::Moment;
use crate::plan::{Node, Plan};

/// Every desired resource in its order, then what would be pruned. Hooks that would not run are left out.
pub async fn diff(
    context: Context<'_>,
    plan: Plan,
    recorded: &[AppliedObject],
    removal: Removal,
    hooks: Option<&Hooks>,
) -> Result<DiffReport, Stopped> {
    let superfluous = superfluous(&plan, recorded)?;
    let plan = &hooks::selected(context, plan, Moment::Apply(hooks))?;
    let mut run = Run::new(context, plan, recorded);
    let waves = plan.nodes.iter().map(|node| node.wave + 1).max();
    for wave in 0..waves.unwrap_or_default() {
        run.project(wave).await?;
    }
    let mut resources: Vec<ResourceDiff> = run
        .projected
        .into_iter()
        .flatten()
        .map(|projected| projected.diff)
        .collect();
    resources.extend(prune::diffs(context, superfluous, removal).await?);
    permitted::add_missing(context, plan, &mut resources)
        .await
        .map_err(ErrorBody::from)?;
    Ok(DiffReport { resources })
}

struct Run<'a> {
    context: Context<'a>,
    plan: &'a Plan,
    /// The UID on record of each object.
    recorded: HashMap<Identity<'a>, &'a str>,
    /// Whether others refer to the values of each resource.
    is_referenced: Vec<bool>,
    /// In the order of the plan; there once its wave was looked at.
    projected: Vec<Option<Projected>>,
}

/// Group, kind, namespace and name: what identifies an object.
type Identity<'a> = (&'a str, &'a str, Option<&'a str>, &'a str);

/// What was found of the object of one resource, by its place in the plan.
type Found = (usize, Result<Option<Value>, KubectlError>);

impl<'a> Run<'a> {
    fn new(context: Context<'a>, plan: &'a Plan, recorded: &'a [AppliedObject]) -> Self {
        let mut is_referenced = vec![false; plan.nodes.len()];
        for reference in plan.nodes.iter().flat_map(|node| &node.references) {
            is_referenced[reference.target] = true;
        }
        let recorded = recorded.iter();
        Self {
            context,
            plan,
            recorded: recorded
                .map(|old| (old.object.identity(), old.uid.as_str()))
                .collect(),
            is_referenced,
            projected: plan.nodes.iter().map(|_| None).collect(),
        }
    }

    async fn project(&mut self, wave: usize) -> Result<(), Stopped> {
        let nodes = self.plan.nodes.iter().enumerate();
        let indices: Vec<usize> = nodes
            .filter(|(_, node)| node.wave == wave)
            .map(|(index, _)| index)
            .collect();
        for (index, found) in self.look_at(&indices).await? {
            self.projected[index] = Some(found);
        }
        Ok(())
    }

    /// Those that an apply would leave as they are need no dry run, and are dropped as soon as they are read.
    async fn look_at(&self, indices: &[usize]) -> Result<Vec<(usize, Projected)>, Stopped> {
        self.context.gate.check()?;
        let served = |index: &usize| self.context.catalog.served(&self.plan.nodes[*index].object);
        let (objects, places): (Vec<ObjectRef>, Vec<usize>) = indices
            .iter()
            .filter_map(|index| Some((served(index)?, *index)))
            .unzip();
        let unserved = indices.iter().filter(|index| served(index).is_none());
        let mut others: Vec<Found> = unserved.map(|index| (*index, Ok(None))).collect();
        let (mut projected, mut trouble) = (Vec::new(), None);
        let mut found = |place: usize, outcome: Result<Option<Value>, KubectlError>| {
            let index = places[place];
            match outcome {
                Err(error) if error.is_transient() => trouble = Some(error),
                Ok(Some(live)) => match self.unchanged(index, &live) {
                    Some(unchanged) => projected.push((index, unchanged)),
                    None => others.push((index, Ok(Some(live)))),
                },
                outcome => others.push((index, outcome)),
            }
        };
        fetch::many(self.context, &objects, &mut found).await;
        if let Some(error) = trouble {
            return Err(ErrorBody::from(error).into());
        }
        projected.extend(self.tried(others).await?);
        Ok(projected)
    }

    fn unchanged(&self, index: usize, live: &Value) -> Option<Projected> {
        let node = &self.plan.nodes[index];
        let recorded = self.recorded_uid(node);
        let mut found = project::unchanged(self.context, node, live, recorded)?;
        if !self.is_referenced[index] {
            found.forget_values();
        }
        Some(found)
    }

    /// By dry runs, as many at once as an API server is quick with.
    async fn tried(&self, mut found: Vec<Found>) -> Result<Vec<(usize, Projected)>, Stopped> {
        found.sort_unstable_by_key(|(index, _)| *index);
        let mut tried = Vec::with_capacity(found.len());
        let mut found = found.into_iter();
        loop {
            let batch: Vec<Found> = found.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return Ok(tried);
            }
            self.context.gate.check()?;
            let calls = batch.into_iter().map(async |(index, live)| {
                let node = &self.plan.nodes[index];
                let recorded = self.recorded_uid(node);
                let projected =
                    project::project(self.context, node, live, recorded, &self.projected).await;
                (index, projected)
            });
            let calls: Vec<_> = calls.collect();
            let calls = futures::stream::iter(calls).buffered(fetch::AT_ONCE);
            tried.extend(calls.collect::<Vec<_>>().await);
        }
    }

    fn recorded_uid(&self, node: &Node) -> Option<&str> {
        self.recorded.get(&node.object.identity()).copied()
    }
}
