//! Deletes objects, backwards through the waves in which they were applied, and waits until they are gone.
//!
//! Only what is surely the deployment's is touched: a recorded object by its UID, any other by its mark.

use std::collections::BTreeMap;

use common::api::deployer::{Action, ResourceReport, ResourceState};
use common::api::error::ErrorCode;
use common::model::{AppliedObject, DeletePolicy, ObjectRef};
use futures::StreamExt;
use serde_json::Value;
use tokio::time::Instant;

use super::item::{Item, Target, may_own};
use super::pace::{PATIENCE, Pace};
use super::{BATCH, CallerGone, Context, change, definitions, fetch};
use crate::kubectl::{Cascade, DeleteOptions, KubectlError, Marks, Outcomes};
use crate::plan;

pub struct Removed {
    pub reports: Vec<ResourceReport>,
    /// What is still there.
    pub left: Vec<AppliedObject>,
}

/// What would have been removed, had nothing else failed.
pub fn withheld(targets: Vec<Target>) -> Removed {
    let mut items: Vec<Item> = targets.into_iter().map(Item::new).collect();
    items.iter_mut().for_each(|item| {
        item.skipped("it is kept, because other resources of the deployment are not ready")
    });
    outcome(items)
}

/// Removes the targets; `policy` goes over the one of each object. A failure is in the reports, never an early end.
pub async fn remove(
    context: Context<'_>,
    targets: Vec<Target>,
    policy: Option<DeletePolicy>,
) -> Result<Removed, CallerGone> {
    let mut run = Run {
        context,
        items: targets.into_iter().map(Item::new).collect(),
    };
    run.find().await?;
    run.leave_what_is_not_ours();
    run.abandon(policy).await?;
    run.delete().await?;
    run.tell().await?;
    Ok(outcome(run.items))
}

fn outcome(items: Vec<Item>) -> Removed {
    let items: Vec<Item> = items.into_iter().filter(|item| !item.never_ours).collect();
    Removed {
        left: items.iter().filter_map(Item::record).collect(),
        reports: items.iter().map(Item::report).collect(),
    }
}

struct Run<'a> {
    context: Context<'a>,
    items: Vec<Item>,
}

impl Run<'_> {
    async fn tell(&mut self) -> Result<(), CallerGone> {
        self.context.events.listened()?;
        for report in self.items.iter_mut().filter_map(Item::news) {
            self.context.events.resource(report).await?;
        }
        Ok(())
    }

    fn pending(&self) -> Vec<usize> {
        (0..self.items.len())
            .filter(|&index| self.items[index].is_pending())
            .collect()
    }

    /// Finds the live objects. A kind that is not served any more has none.
    async fn find(&mut self) -> Result<(), CallerGone> {
        for item in &mut self.items {
            match self.context.catalog.current(&item.target.object) {
                Some(kind) => item.target.object.api_version.clone_from(&kind.api_version),
                None => item.missing(),
            }
        }
        let pending = self.pending();
        for batch in pending.chunks(BATCH) {
            for (&index, outcome) in batch.iter().zip(self.patiently(batch).await?) {
                match outcome {
                    Ok(Some(live)) => self.items[index].live = Some(live),
                    Ok(None) => self.items[index].missing(),
                    Err(error) => self.items[index].failed_by(&error),
                }
            }
        }
        Ok(())
    }

    /// Reads objects, with patience for a cluster that is away.
    async fn patiently(&self, batch: &[usize]) -> Result<Outcomes<Option<Value>>, CallerGone> {
        let objects: Vec<ObjectRef> = batch
            .iter()
            .map(|&index| self.items[index].target.object.clone())
            .collect();
        let (started, mut pace) = (Instant::now(), Pace::new());
        loop {
            self.context.events.listened()?;
            let within = self.context.deadline.call();
            let outcomes = fetch::each(self.context.kubectl, &objects, within).await;
            let is_trouble = |outcome: &Result<_, KubectlError>| {
                outcome
                    .as_ref()
                    .err()
                    .is_some_and(KubectlError::is_transient)
            };
            let is_final = !outcomes.iter().any(is_trouble);
            if is_final || self.context.deadline.is_over() || started.elapsed() >= PATIENCE {
                return Ok(outcomes);
            }
            pace.rest(self.context.deadline).await;
        }
    }

    fn leave_what_is_not_ours(&mut self) {
        let deployment = self.context.deployment.as_str();
        for item in self.items.iter_mut().filter(|item| item.is_pending()) {
            let Some(live) = &item.live else { continue };
            let owner = change::owner(live);
            let is_recorded = item
                .target
                .uid
                .as_deref()
                .map(|uid| Some(uid) == change::uid(live));
            match (is_recorded, owner) {
                (None, Some(owner)) if owner == deployment => {}
                (None, _) => {
                    item.never_ours = true;
                    item.gone(None, None);
                }
                (Some(false), _) => item.gone(
                    None,
                    Some("another object has taken its name since; it is left alone"),
                ),
                (Some(true), Some(owner)) if owner != deployment => {
                    let reason = format!("it belongs to deployment {owner} now and is left alone");
                    item.gone(None, Some(&reason));
                }
                (Some(true), _) => {}
            }
        }
    }

    /// Leaves objects in the cluster and takes the marks off, so that another deployment can take them over.
    async fn abandon(&mut self, policy: Option<DeletePolicy>) -> Result<(), CallerGone> {
        let policy_of =
            |item: &Item| policy.or_else(|| item.live.as_ref().map(change::delete_policy));
        let is_abandoned =
            |index: &usize| policy_of(&self.items[*index]) == Some(DeletePolicy::Abandon);
        let is_labelled = |index: &usize| {
            self.items[*index]
                .live
                .as_ref()
                .is_some_and(change::is_labelled_by_us)
        };
        let abandoned = self.pending().into_iter().filter(is_abandoned);
        let (labelled, others): (Vec<usize>, Vec<usize>) = abandoned.partition(is_labelled);
        self.unmark(&labelled, &[plan::DEPLOYMENT, plan::MANAGED_BY])
            .await?;
        self.unmark(&others, &[plan::DEPLOYMENT]).await
    }

    async fn unmark(&mut self, indices: &[usize], labels: &[&str]) -> Result<(), CallerGone> {
        let annotations = &[plan::RESOURCE, plan::DELETE_POLICY, plan::WAVE];
        for batch in indices.chunks(BATCH) {
            self.context.events.listened()?;
            let marks = Marks {
                labels,
                annotations,
            };
            for (index, object) in batch.iter().copied().zip(self.objects(batch)) {
                let within = self.context.deadline.call();
                match self.context.kubectl.unmark(&object, &marks, within).await {
                    Ok(()) => self.items[index].gone(Some(Action::Abandoned), None),
                    Err(error) => self.items[index].failed_by(&error),
                }
            }
        }
        Ok(())
    }

    fn objects(&self, batch: &[usize]) -> Vec<ObjectRef> {
        batch
            .iter()
            .map(|&index| self.items[index].target.object.clone())
            .collect()
    }

    /// The last wave first. What failed holds back the waves before it: something of it may need them to go.
    async fn delete(&mut self) -> Result<(), CallerGone> {
        let mut waves: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for index in self.pending() {
            waves
                .entry(self.items[index].wave())
                .or_default()
                .push(index);
        }
        let mut held_back = false;
        for wave in waves.into_values().rev() {
            if held_back {
                wave.iter().for_each(|&index| {
                    self.items[index].skipped("what depends on it could not be deleted")
                });
                continue;
            }
            self.delete_wave(&wave).await?;
            held_back = wave
                .iter()
                .any(|&index| self.items[index].state == ResourceState::Failed);
        }
        Ok(())
    }

    async fn delete_wave(&mut self, wave: &[usize]) -> Result<(), CallerGone> {
        self.spare_definitions(wave).await;
        let pending = |index: &usize| self.items[*index].is_pending();
        let wave: Vec<usize> = wave.iter().copied().filter(pending).collect();
        self.ask_for_deletion(&wave).await?;
        self.wait_until_gone(&wave).await
    }

    /// With a definition go all objects of its kind: it stays as long as others have some.
    async fn spare_definitions(&mut self, wave: &[usize]) {
        for &index in wave {
            let item = &self.items[index];
            let Some(live) = item
                .live
                .as_ref()
                .filter(|_| definitions::is_definition(&item.target.object))
            else {
                continue;
            };
            if let Some(reason) = definitions::obstacle(self.context, live).await {
                self.items[index].failed(ErrorCode::ResourcesFailed, &reason);
            }
        }
    }

    async fn ask_for_deletion(&mut self, indices: &[usize]) -> Result<(), CallerGone> {
        let (owning, plain): (Vec<usize>, Vec<usize>) = indices
            .iter()
            .copied()
            .partition(|&index| may_own(&self.items[index].target.object));
        for (indices, cascade) in [(owning, Cascade::Foreground), (plain, Cascade::Background)] {
            for batch in indices.chunks(BATCH) {
                self.context.events.listened()?;
                self.ask(batch, cascade).await;
            }
        }
        Ok(())
    }

    async fn ask(&mut self, batch: &[usize], cascade: Cascade) {
        let within = self.context.deadline.call();
        let outcomes: Vec<_> = {
            let calls = batch.iter().map(|&index| {
                let item = &self.items[index];
                let options = DeleteOptions {
                    uid: item.uid(),
                    cascade,
                };
                self.context
                    .kubectl
                    .delete(&item.target.object, options, within)
            });
            futures::stream::iter(calls)
                .buffered(fetch::AT_ONCE)
                .collect()
                .await
        };
        for (&index, outcome) in batch.iter().zip(outcomes) {
            match outcome {
                Err(error) if !error.is_transient() => self.items[index].failed_by(&error),
                // Whether it was asked for is not known after an error: the wait finds out, and asks again.
                _ => self.items[index].state = ResourceState::Deleting,
            }
        }
    }

    async fn wait_until_gone(&mut self, wave: &[usize]) -> Result<(), CallerGone> {
        let mut pace = Pace::new();
        loop {
            let waiting: Vec<usize> = wave
                .iter()
                .copied()
                .filter(|&index| self.items[index].state == ResourceState::Deleting)
                .collect();
            if waiting.is_empty() {
                return self.tell().await;
            }
            for batch in waiting.chunks(BATCH) {
                for (&index, outcome) in batch.iter().zip(self.patiently(batch).await?) {
                    self.looked(index, outcome);
                }
            }
            self.tell().await?;
            self.ask_again(&waiting).await?;
            if self.context.deadline.is_over() {
                waiting.iter().for_each(|&index| self.too_late(index));
                return self.tell().await;
            }
            if waiting
                .iter()
                .any(|&index| self.items[index].state == ResourceState::Deleting)
            {
                pace.rest(self.context.deadline).await;
            }
        }
    }

    fn looked(&mut self, index: usize, outcome: Result<Option<Value>, KubectlError>) {
        let item = &mut self.items[index];
        match outcome {
            Ok(Some(live)) if change::uid(&live) == item.uid() => {
                item.reason = match (
                    change::is_terminating(&live),
                    change::finalizers(&live).join(", "),
                ) {
                    (true, held) if held == "foregroundDeletion" => {
                        Some("it waits for its dependants to go".to_owned())
                    }
                    (true, held) if !held.is_empty() => Some(format!("finalizers hold it: {held}")),
                    _ => None,
                };
                item.live = Some(live);
            }
            Ok(_) => item.gone(Some(Action::Deleted), None),
            Err(error) if error.is_transient() => item.reason = Some(error.to_string()),
            Err(error) => item.failed_by(&error),
        }
    }

    /// Objects that were to be deleted and show no sign of it: the call was lost with the API server.
    async fn ask_again(&mut self, waiting: &[usize]) -> Result<(), CallerGone> {
        let is_untouched = |item: &Item| {
            item.state == ResourceState::Deleting
                && !item.live.as_ref().is_some_and(change::is_terminating)
        };
        let untouched: Vec<usize> = waiting
            .iter()
            .copied()
            .filter(|&index| is_untouched(&self.items[index]))
            .collect();
        self.ask_for_deletion(&untouched).await
    }

    fn too_late(&mut self, index: usize) {
        let item = &mut self.items[index];
        if item.state == ResourceState::Deleting {
            let reason = item
                .reason
                .clone()
                .unwrap_or_else(|| "the API server has not removed it".to_owned());
            let seconds = self.context.deadline.total().as_secs_f32();
            item.failed(
                ErrorCode::Timeout,
                &format!("it is not gone after {seconds} s: {reason}"),
            );
        }
    }
}
