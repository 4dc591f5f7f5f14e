//! What a write would do, told before anybody does it: the API server's own dry run beside the live object.
//!
//! Nothing is changed. Wave by wave, so that a value that another resource is going to have can be put in.

mod permitted;
mod project;
mod prune;
pub mod unknown;

use common::api::deployer::{DiffReport, ResourceDiff};
use common::api::error::ErrorBody;
use common::model::{AppliedObject, DeletePolicy, ObjectRef};
use futures::StreamExt;
use serde_json::Value;

use self::project::Projected;
use super::{BATCH, Context, Stopped, fetch};
use crate::kubectl::Outcomes;
use crate::plan::{Node, Plan};

/// Every desired resource in its order, then what would be pruned; `delete` goes over the policy of each object.
pub async fn diff(
    context: Context<'_>,
    plan: &Plan,
    recorded: &[AppliedObject],
    delete: Option<DeletePolicy>,
) -> Result<DiffReport, Stopped> {
    let mut run = Run {
        context,
        plan,
        recorded,
        projected: plan.nodes.iter().map(|_| None).collect(),
    };
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
    resources.extend(prune::diffs(context, plan, recorded, delete).await?);
    permitted::add_missing(context, plan, &mut resources)
        .await
        .map_err(ErrorBody::from)?;
    Ok(DiffReport { resources })
}

struct Run<'a> {
    context: Context<'a>,
    plan: &'a Plan,
    recorded: &'a [AppliedObject],
    /// In the order of the plan; there once its wave was looked at.
    projected: Vec<Option<Projected>>,
}

impl Run<'_> {
    async fn project(&mut self, wave: usize) -> Result<(), Stopped> {
        let nodes = self.plan.nodes.iter().enumerate();
        let indices: Vec<usize> = nodes
            .filter(|(_, node)| node.wave == wave)
            .map(|(index, _)| index)
            .collect();
        for batch in indices.chunks(BATCH) {
            self.context.events.listened()?;
            let objects: Vec<&ObjectRef> = batch
                .iter()
                .map(|&index| &self.plan.nodes[index].object)
                .collect();
            let lives = read(self.context, &objects).await?;
            let found = self.project_batch(batch, lives).await;
            for (&index, projected) in batch.iter().zip(found) {
                self.projected[index] = Some(projected);
            }
        }
        Ok(())
    }

    async fn project_batch(
        &self,
        batch: &[usize],
        lives: Outcomes<Option<Value>>,
    ) -> Vec<Projected> {
        let calls = batch.iter().zip(lives).map(|(&index, live)| {
            let node = &self.plan.nodes[index];
            let recorded = self.recorded_uid(node);
            project::project(self.context, node, live, recorded, &self.projected)
        });
        futures::stream::iter(calls)
            .buffered(fetch::AT_ONCE)
            .collect()
            .await
    }

    fn recorded_uid(&self, node: &Node) -> Option<&str> {
        self.recorded
            .iter()
            .find(|old| old.object.is_same_object(&node.object))
            .map(|old| old.uid.as_str())
    }
}

/// The live objects; of a kind that is not served there are none. A cluster that is away ends it.
pub async fn read(
    context: Context<'_>,
    objects: &[&ObjectRef],
) -> Result<Outcomes<Option<Value>>, ErrorBody> {
    let served: Vec<Option<ObjectRef>> = objects
        .iter()
        .map(|object| context.catalog.served(object))
        .collect();
    let wanted: Vec<ObjectRef> = served.iter().flatten().cloned().collect();
    let mut outcomes = fetch::each(context.kubectl, &wanted, context.deadline.call())
        .await
        .into_iter();
    let mut found = Vec::with_capacity(objects.len());
    for object in served {
        let outcome = object.and_then(|_| outcomes.next()).unwrap_or(Ok(None));
        match outcome {
            Err(error) if error.is_transient() => return Err(error.into()),
            outcome => found.push(outcome),
        }
    }
    Ok(found)
}
