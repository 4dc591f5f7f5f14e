//! Applies resources as soon as what they depend on is there, and waits until all are ready.
//!
//! A failed resource holds back only what depends on it.

use common::api::deployer::{ResourceReport, ResourceState};
use common::api::error::{ErrorBody, ErrorCode};
use common::model::{AppliedObject, ObjectRef, UpdatePolicy};
use futures::StreamExt;
use serde_json::Value;

use super::batch::{by_size, refuse};
use super::conflicts::{self, Applied, How};
use super::pace::Pace;
use super::work::Work;
use super::{BATCH, CallerGone, Context, Stopped, causes, change, definitions, fetch, replace};
use crate::kubectl::{Cascade, DeleteOptions, KubectlError, Outcomes};
use crate::plan::{self, Plan};

pub struct Converged {
    /// In the order of the plan.
    pub reports: Vec<ResourceReport>,
    /// What the deployment has in the cluster, in the order in which it was applied.
    pub objects: Vec<AppliedObject>,
}

pub async fn converge(
    context: Context<'_>,
    plan: Plan,
    recorded: &[AppliedObject],
) -> Result<Converged, Stopped> {
    let works = plan.nodes.into_iter().map(|node| {
        let uid = recorded
            .iter()
            .find(|old| old.object.is_same_object(&node.object))
            .map(|old| old.uid.clone());
        Work::new(node, uid)
    });
    let mut run = Run {
        context,
        works: works.collect(),
        applied: Vec::new(),
    };
    run.check().await?;
    run.work().await?;
    Ok(run.outcome())
}

struct Run<'a> {
    context: Context<'a>,
    works: Vec<Work>,
    /// In the order in which they were applied.
    applied: Vec<usize>,
}

impl Run<'_> {
    /// Looks for every object, and refuses the whole if one may not be touched.
    async fn check(&mut self) -> Result<(), Stopped> {
        let served = |work: &Work| self.context.catalog.current(&work.node.object).is_some();
        let indices: Vec<usize> = (0..self.works.len())
            .filter(|&index| served(&self.works[index]))
            .collect();
        let mut faults = Vec::new();
        for batch in indices.chunks(BATCH) {
            self.context.events.listened()?;
            let outcomes = self.get(batch).await;
            for (&index, outcome) in batch.iter().zip(outcomes) {
                let outcome = match outcome {
                    Err(error) if error.is_transient() => return Err(ErrorBody::from(error).into()),
                    outcome => outcome,
                };
                faults.extend(self.checked(index, outcome).err());
            }
        }
        for work in &self.works {
            faults.extend(definitions::fault(self.context, &work.node, work.before()).await);
        }
        refuse(faults).map_err(Stopped::Refused)
    }

    fn checked(
        &mut self,
        index: usize,
        outcome: Result<Option<Value>, KubectlError>,
    ) -> Result<(), ErrorBody> {
        let work = &mut self.works[index];
        let live = outcome
            .map_err(|error| work.fault(error.code(), &format!("it cannot be read: {error}")))?;
        let policy = work.node.metadata.create_policy;
        let claim = change::claim(
            live.as_ref(),
            self.context.deployment,
            work.recorded.as_deref(),
            policy,
        );
        claim.map_err(|refusal| work.fault(ErrorCode::ResourcesFailed, &refusal.to_string()))?;
        work.before = Some(live);
        Ok(())
    }

    async fn get(&self, indices: &[usize]) -> Outcomes<Option<Value>> {
        let objects: Vec<ObjectRef> = indices
            .iter()
            .map(|&index| self.works[index].node.object.clone())
            .collect();
        fetch::each(self.context.kubectl, &objects, self.context.deadline.call()).await
    }

    async fn work(&mut self) -> Result<(), CallerGone> {
        let mut pace = Pace::new();
        loop {
            let standing = self.standing();
            self.skip_dependants();
            self.apply_what_can_be().await?;
            self.look().await?;
            self.tell().await?;
            if !self.works.iter().any(Work::is_unfinished) {
                return Ok(());
            }
            if self.context.deadline.is_over() {
                self.give_up().await;
                return self.tell().await;
            }
            match standing == self.standing() {
                true => pace.rest(self.context.deadline).await,
                false => pace.hurry(),
            }
        }
    }

    /// How many stand where: as long as it changes, others may have become possible.
    fn standing(&self) -> Vec<ResourceState> {
        self.works.iter().map(|work| work.state).collect()
    }

    async fn tell(&mut self) -> Result<(), CallerGone> {
        self.context.events.listened()?;
        for work in &mut self.works {
            if let Some(report) = work.news() {
                self.context.events.resource(report).await?;
            }
        }
        Ok(())
    }

    fn skip_dependants(&mut self) {
        for index in self.by_wave() {
            let failed = self.works[index]
                .node
                .dependencies
                .iter()
                .find(|dependency| self.works[dependency.on].has_failed());
            let Some(dependency) =
                failed.filter(|_| self.works[index].state == ResourceState::Pending)
            else {
                continue;
            };
            let name = self.works[dependency.on].node.resource.name.to_string();
            self.works[index].skipped(&name);
        }
    }

    fn by_wave(&self) -> Vec<usize> {
        let mut indices: Vec<usize> = (0..self.works.len()).collect();
        indices.sort_by_key(|&index| self.works[index].node.wave);
        indices
    }

    async fn apply_what_can_be(&mut self) -> Result<(), CallerGone> {
        let mut possible: Vec<usize> = (0..self.works.len())
            .filter(|&index| self.is_possible(index))
            .collect();
        possible.sort_by_key(|&index| plan::rank(&self.works[index].node.object));
        for batch in possible.chunks(BATCH) {
            self.context.events.listened()?;
            self.look_before(batch).await;
            let (indices, objects) = self.objects(batch);
            for (indices, objects) in by_size(indices, objects) {
                self.apply(&indices, &objects).await;
            }
            self.tell().await?;
            if self.context.deadline.is_over() {
                break;
            }
        }
        Ok(())
    }

    fn is_possible(&self, index: usize) -> bool {
        let work = &self.works[index];
        let is_there = |dependency: &plan::Dependency| {
            let other = &self.works[dependency.on];
            if dependency.ready {
                other.state == ResourceState::Ready
            } else {
                other.is_in_cluster()
            }
        };
        work.state == ResourceState::Pending && work.node.dependencies.iter().all(is_there)
    }

    /// Looks for the objects of a batch that are not known yet: their kind is new, or their predecessor has to go first.
    async fn look_before(&mut self, batch: &[usize]) {
        let unknown: Vec<usize> = batch
            .iter()
            .copied()
            .filter(|&index| self.works[index].before.is_none())
            .collect();
        if unknown.is_empty() {
            return;
        }
        let outcomes = self.get(&unknown).await;
        for (index, outcome) in unknown.into_iter().zip(outcomes) {
            match outcome {
                Err(error) if error.is_transient() => {
                    self.works[index].troubled(error.code(), &error.to_string())
                }
                outcome => {
                    if let Err(fault) = self.checked(index, outcome) {
                        self.works[index].failed(fault.code, &fault.message);
                    }
                }
            }
        }
    }

    /// The objects of a batch that can go now, their references replaced.
    fn objects(&mut self, batch: &[usize]) -> (Vec<usize>, Vec<Value>) {
        let mut ready = (Vec::new(), Vec::new());
        for &index in batch {
            if self.works[index].state != ResourceState::Pending
                || self.works[index].before.is_none()
            {
                continue;
            }
            if self.works[index]
                .before()
                .is_some_and(change::is_terminating)
            {
                let held = self.works[index]
                    .before()
                    .map(change::finalizers)
                    .unwrap_or_default()
                    .join(", ");
                self.works[index].before = None;
                self.works[index].waits_for(format!(
                    "the object of before is being deleted; finalizers: [{held}]"
                ));
                continue;
            }
            match self.substituted(index) {
                Ok((object, properties)) => {
                    self.works[index].final_properties = properties;
                    ready.0.push(index);
                    ready.1.push(object);
                }
                Err(reference) => {
                    self.works[index].waits_for(format!("{reference} has no value yet"))
                }
            }
        }
        ready
    }

    /// The object and the properties with all values, or the first reference without one.
    fn substituted(&self, index: usize) -> Result<(Value, Option<Value>), String> {
        let node = &self.works[index].node;
        let value = |reference: &plan::Reference| {
            reference
                .path
                .find(self.works[reference.target].live.as_ref()?)
        };
        if let Some(missing) = node
            .references
            .iter()
            .find(|reference| value(reference).is_none())
        {
            return Err(missing.text.clone());
        }
        let lookup = |text: &str| {
            node.references
                .iter()
                .find(|reference| reference.text == text)
                .and_then(value)
                .cloned()
        };
        let properties = node
            .resource
            .properties
            .as_ref()
            .filter(|_| !node.references.is_empty());
        Ok((
            plan::substitute(&node.template, &lookup),
            properties.map(|properties| plan::substitute(properties, &lookup)),
        ))
    }

    async fn apply(&mut self, indices: &[usize], objects: &[Value]) {
        let manager = plan::field_manager(self.context.deployment);
        let within = self.context.deadline.call();
        let calls = indices.iter().zip(objects).map(|(&index, object)| {
            let how = How {
                manager: &manager,
                policy: self.works[index].node.metadata.conflict_policy,
                dry_run: false,
            };
            conflicts::apply(self.context.kubectl, object, how, within)
        });
        let outcomes: Outcomes<Applied> = futures::stream::iter(calls)
            .buffered(fetch::AT_ONCE)
            .collect()
            .await;
        for (&index, outcome) in indices.iter().zip(outcomes) {
            match outcome {
                Ok(applied) => {
                    self.applied.push(index);
                    self.works[index].applied(applied.live);
                }
                Err(error) => self.refused(index, &error).await,
            }
        }
    }

    async fn refused(&mut self, index: usize, error: &KubectlError) {
        let work = &mut self.works[index];
        let replaceable = work.node.metadata.update_policy == UpdatePolicy::Replace
            && !work.replaced
            && work.before().is_some();
        match error {
            _ if error.is_transient() => work.troubled(error.code(), &error.to_string()),
            _ if replaceable && replace::would_help(error) => self.replace(index).await,
            _ => work.failed(error.code(), &error.to_string()),
        }
    }

    /// Deletes an object that cannot be changed into what is asked for; it is made anew once it is gone.
    async fn replace(&mut self, index: usize) {
        if let Some(reason) = self.obstacle(index).await {
            let work = &mut self.works[index];
            let reason = format!("it cannot be changed, and must not be replaced: {reason}");
            return work.failed(ErrorCode::ResourcesFailed, &reason);
        }
        let object = self.works[index].node.object.clone();
        let options = DeleteOptions {
            uid: self.works[index].before().and_then(change::uid),
            cascade: Cascade::Foreground,
        };
        let within = self.context.deadline.call();
        let outcome = self.context.kubectl.delete(&object, options, within).await;
        let work = &mut self.works[index];
        match outcome {
            Ok(_) => {
                (work.replaced, work.before) = (true, None);
                work.waits_for("it cannot be changed and its update policy is REPLACE: the object of before is being deleted");
            }
            Err(error) => work.failed(error.code(), &format!("it cannot be replaced: {error}")),
        }
    }

    /// Why the object must not be deleted, though it has to be made anew.
    async fn obstacle(&self, index: usize) -> Option<String> {
        let before = self.works[index].before()?;
        match definitions::is_definition(&self.works[index].node.object) {
            true => definitions::obstacle(self.context, before).await,
            false => replace::obstacle(before),
        }
    }

    /// Looks how those stand that are not ready, and those of which a value is waited for.
    async fn look(&mut self) -> Result<(), CallerGone> {
        let awaited = self.awaited();
        for batch in awaited.chunks(BATCH) {
            self.context.events.listened()?;
            let outcomes = self.get(batch).await;
            for (&index, outcome) in batch.iter().zip(outcomes) {
                self.looked(index, outcome);
            }
        }
        Ok(())
    }

    fn awaited(&self) -> Vec<usize> {
        let valueless =
            |index: &usize| self.is_possible(*index) && self.works[*index].before.is_some();
        let targets: Vec<usize> = (0..self.works.len())
            .filter(valueless)
            .flat_map(|index| {
                self.works[index]
                    .node
                    .references
                    .iter()
                    .map(|reference| reference.target)
            })
            .collect();
        (0..self.works.len())
            .filter(|index| {
                self.works[*index].state == ResourceState::Applied || targets.contains(index)
            })
            .collect()
    }

    fn looked(&mut self, index: usize, outcome: Result<Option<Value>, KubectlError>) {
        let work = &mut self.works[index];
        match outcome {
            Ok(Some(live)) => work.observed(live),
            Ok(None) => work.failed(
                ErrorCode::ResourcesFailed,
                "it was deleted by somebody else while it was waited for",
            ),
            Err(_) if work.state == ResourceState::Ready => {}
            Err(error) if error.is_transient() => work.troubled(error.code(), &error.to_string()),
            Err(error) => work.failed(error.code(), &error.to_string()),
        }
    }

    /// The time is over: everything unfinished says what it waited for.
    async fn give_up(&mut self) {
        let seconds = self.context.deadline.total().as_secs_f32();
        for index in 0..self.works.len() {
            if !self.works[index].is_unfinished() {
                continue;
            }
            let cause = match &self.works[index].live {
                Some(live) => causes::of(self.context, live).await,
                None => None,
            };
            let work = &mut self.works[index];
            let state = if work.state == ResourceState::Applied {
                "is not ready"
            } else {
                "could not be applied"
            };
            let reason = work
                .reason()
                .unwrap_or("what it depends on is not ready")
                .to_owned();
            let cause = cause.map(|cause| format!("; {cause}")).unwrap_or_default();
            work.failed(
                ErrorCode::Timeout,
                &format!("it {state} after {seconds} s: {reason}{cause}"),
            );
        }
    }

    fn outcome(self) -> Converged {
        let mut order = self.applied.clone();
        order.extend((0..self.works.len()).filter(|index| !self.applied.contains(index)));
        let deployment = self.context.deployment.as_str();
        Converged {
            objects: order
                .into_iter()
                .filter_map(|index| self.works[index].record(deployment))
                .collect(),
            reports: self.works.iter().map(Work::report).collect(),
        }
    }
}
