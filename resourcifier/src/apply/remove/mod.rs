//! Deletes objects, backwards through the waves in which they were applied, and waits until they are gone.
//!
//! Only what is surely the deployment's is touched ([`claim`]), and only as it was read.

mod abandon;
mod gone;
pub mod item;
pub mod namespaces;

use std::collections::{BTreeMap, HashSet};

use common::api::deployer::{Action, ResourceReport, ResourceState};
use common::api::error::{ErrorBody, ErrorCode};
use common::model::{AppliedObject, DeletePolicy, ObjectRef};
use futures::StreamExt;
use serde_json::Value;
use tokio::time::Instant;

use self::abandon::{Abandoned, Leaving};
use self::item::{Item, REPLACED, RemovalTarget};
use crate::apply::checks::permissions::{Need, Verb};
use crate::apply::context::Context;
use crate::apply::context::pace::{PATIENCE, Pace};
use crate::apply::definitions;
use crate::apply::fetch::{self, AT_ONCE};
use crate::apply::object::change;
use crate::apply::object::claim::{self, Standing};
use crate::kubectl::{Halt, KubectlError, ObjectFault, Outcomes};
use crate::plan::Plan;

const NOT_BEGUN: &str = "the operation was stopped before it was deleted";
const RESTORED: &str = "it was there before the deployment: the fields that the deployment had taken have their former values again";
const NOT_RESTORED: &str = "it was there before the deployment and stays; its former values are not known, because they were too large to keep or it was replaced";

/// What becomes of objects that go.
#[derive(Debug, Clone, Copy, Default)]
pub struct Removal {
    /// Overrides the policy of each object.
    pub policy: Option<DeletePolicy>,
    /// What was there before the deployment is not deleted, and gets back what was taken from it.
    pub restore: bool,
    /// A namespace is deleted though others have objects in it.
    pub allow_others: bool,
}

/// How objects are now, by their places.
type Looks = Vec<(usize, Result<Option<Value>, KubectlError>)>;

pub struct Removed {
    pub reports: Vec<ResourceReport>,
    /// What is still there.
    pub left: Vec<AppliedObject>,
}

impl Removed {
    /// Whether nothing is left to be removed.
    pub fn is_done(&self) -> bool {
        let mut states = self.reports.iter().map(|report| report.state);
        states.all(|state| state == ResourceState::Gone)
    }
}

/// What is recorded and not in the plan, in the order in which it is to go.
pub fn superfluous(
    plan: &Plan,
    recorded: &[AppliedObject],
) -> Result<Vec<RemovalTarget>, ErrorBody> {
    let desired: HashSet<_> = plan
        .nodes
        .iter()
        .map(|node| node.object.identity())
        .collect();
    let gone = recorded.iter().rev();
    gone.filter(|old| !desired.contains(&old.object.identity()))
        .map(|old| RemovalTarget::recorded(old.clone()))
        .collect()
}

/// What would have been removed, had the operation not been stopped.
pub fn not_begun(targets: Vec<RemovalTarget>) -> Removed {
    let mut items: Vec<Item> = targets.into_iter().map(Item::new).collect();
    items.iter_mut().for_each(|item| item.skipped(NOT_BEGUN));
    outcome(items)
}

/// What would have been removed, had nothing else failed.
pub fn withheld(targets: Vec<RemovalTarget>) -> Removed {
    let mut items: Vec<Item> = targets.into_iter().map(Item::new).collect();
    items.iter_mut().for_each(|item| {
        item.skipped("it is kept, because other resources of the deployment are not ready")
    });
    outcome(items)
}

/// Looks for the targets; what is gone already, or not the deployment's any more, is left alone.
pub async fn find(context: Context<'_>, targets: Vec<RemovalTarget>) -> Result<Found<'_>, Halt> {
    let mut run = Run {
        context,
        items: targets.into_iter().map(Item::new).collect(),
    };
    run.find().await?;
    run.leave_what_is_not_ours();
    Ok(Found(run))
}

/// Targets that were looked for.
pub struct Found<'a>(Run<'a>);

impl Found<'_> {
    /// What their removal takes.
    pub fn needs(&self, policy: Removal) -> Vec<Need> {
        let items = self.0.items.iter();
        let needs = items.filter_map(|item| {
            let verbs: &[Verb] = match item.policy(policy, self.0.context.deployment) {
                // It could not be read.
                _ if item.state == ResourceState::Failed => &[Verb::Get, Verb::Delete],
                _ if !item.is_pending() => return None,
                DeletePolicy::Delete => &[Verb::Delete],
                DeletePolicy::Abandon => &[Verb::Patch],
            };
            Some(Need::all(&item.target.name, &item.target.object, verbs))
        });
        needs.flatten().collect()
    }

    /// Removes them. A failure is in the reports, never an early end.
    pub async fn remove(self, policy: Removal) -> Removed {
        let Self(mut run) = self;
        run.abandon(policy).await;
        run.delete(policy).await;
        if run.context.gate.halted().is_some() {
            let pending = run.items.iter_mut().filter(|item| item.is_pending());
            pending.for_each(|item| item.skipped(NOT_BEGUN));
        }
        run.tell().await;
        outcome(run.items)
    }
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
    async fn tell(&mut self) {
        for report in self.items.iter_mut().filter_map(Item::news) {
            self.context.events.resource(report).await;
        }
    }

    fn pending(&self) -> Vec<usize> {
        (0..self.items.len())
            .filter(|&index| self.items[index].is_pending())
            .collect()
    }

    /// Finds the live objects. A kind that is not served any more has none.
    async fn find(&mut self) -> Result<(), Halt> {
        for item in &mut self.items {
            match self.context.catalog.current(&item.target.object) {
                Some(kind) => item.target.object.api_version.clone_from(&kind.api_version),
                None => item.missing(),
            }
        }
        for (index, outcome) in self.patiently(self.pending()).await? {
            match outcome {
                Ok(Some(live)) => self.items[index].live = Some(live),
                Ok(None) => self.items[index].missing(),
                // For as long as it was asked: the kind went with its definition.
                Err(error) if error.fault() == Some(ObjectFault::Unserved) => {
                    self.items[index].missing();
                }
                Err(error) => self.items[index].failed_by(&error),
            }
        }
        Ok(())
    }

    /// Reads objects, with patience for a cluster that is away. Of most objects the metadata will do.
    async fn patiently(&self, mut indices: Vec<usize>) -> Result<Looks, Halt> {
        let (context, started, mut pace) = (self.context, Instant::now(), Pace::new());
        let mut looks = Looks::new();
        loop {
            context.gate.check()?;
            let objects = self.objects(&indices);
            let outline = |live| change::outline(live, context.deployment);
            let mut trouble = Vec::new();
            let mut found = |place: usize, outcome: Result<Option<Value>, KubectlError>| {
                let outcome = outcome.map(|live| live.map(outline));
                match outcome {
                    Err(error) if error.is_transient() => {
                        trouble.push((indices[place], Err(error)));
                    }
                    outcome => looks.push((indices[place], outcome)),
                }
            };
            fetch::many(context, &objects, &mut found).await;
            let is_over = context.deadline.is_over() || started.elapsed() >= PATIENCE;
            if trouble.is_empty() || is_over {
                looks.extend(trouble);
                return Ok(looks);
            }
            indices = trouble.into_iter().map(|(index, _)| index).collect();
            pace.rest(context.deadline).await;
        }
    }

    fn leave_what_is_not_ours(&mut self) {
        let deployment = self.context.deployment;
        for item in self.items.iter_mut().filter(|item| item.is_pending()) {
            let recorded = item.target.uid.as_deref();
            match claim::standing(item.live.as_ref(), deployment, recorded) {
                // The record may be older than the object.
                Standing::Ours => item.is_of_uid(),
                standing => item.left_alone(&standing),
            }
        }
    }

    /// Leaves objects in the cluster, so that another deployment can take them over.
    async fn abandon(&mut self, policy: Removal) {
        let deployment = self.context.deployment;
        let is_abandoned =
            |index: &usize| self.items[*index].policy(policy, deployment) == DeletePolicy::Abandon;
        let indices: Vec<usize> = self.pending().into_iter().filter(is_abandoned).collect();
        let context = self.context;
        let outcomes: Outcomes<Abandoned> = {
            let calls = indices.iter().map(|&index| {
                let target = &self.items[index].target;
                let leaving = Leaving {
                    object: &target.object,
                    recorded: target.uid.as_deref(),
                    restore: policy.restore,
                    policy: policy.policy,
                };
                leaving.abandon(context)
            });
            futures::stream::iter(calls)
                .buffered(AT_ONCE)
                .collect()
                .await
        };
        for (&index, outcome) in indices.iter().zip(outcomes) {
            match outcome {
                Ok(Abandoned::Done) => self.items[index].gone(Some(Action::Abandoned), None),
                Ok(Abandoned::Restored) => {
                    self.items[index].gone(Some(Action::Abandoned), Some(RESTORED));
                }
                Ok(Abandoned::NotRestored) => {
                    self.items[index].gone(Some(Action::Abandoned), Some(NOT_RESTORED));
                }
                Ok(Abandoned::Missing) => self.items[index].missing(),
                Ok(Abandoned::NotOurs) => self.items[index].gone(None, Some(REPLACED)),
                // It stays pending, and is deleted.
                Ok(Abandoned::Last(live)) => {
                    self.items[index].live = Some(change::outline(*live, deployment));
                }
                Err(KubectlError::Halted(_)) => {}
                Err(error) => self.items[index].failed_by(&error),
            }
        }
        self.tell().await;
    }

    fn objects(&self, batch: &[usize]) -> Vec<ObjectRef> {
        batch
            .iter()
            .map(|&index| self.items[index].target.object.clone())
            .collect()
    }

    /// The last wave first. What failed holds back the waves before it: something of it may need them to go.
    async fn delete(&mut self, removal: Removal) {
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
            self.delete_wave(&wave, removal).await;
            if self.context.gate.halted().is_some() {
                return;
            }
            held_back = wave
                .iter()
                .any(|&index| self.items[index].state == ResourceState::Failed);
        }
    }

    async fn delete_wave(&mut self, wave: &[usize], removal: Removal) {
        self.spare_others(wave, removal).await;
        let pending = |index: &usize| self.items[*index].is_pending();
        let wave: Vec<usize> = wave.iter().copied().filter(pending).collect();
        self.ask_for_deletion(&wave).await;
        self.wait_until_gone(&wave, removal).await;
    }

    /// With a definition go all objects of its kind, and with a namespace all in it: they stay as long as others have some.
    async fn spare_others(&mut self, wave: &[usize], removal: Removal) {
        for &index in wave {
            let item = &self.items[index];
            let object = &item.target.object;
            let reason = match &item.live {
                Some(live) if definitions::is_definition(object) => {
                    definitions::obstacle(self.context, live).await
                }
                Some(live)
                    if namespaces::is_namespace(object)
                        && !removal.allow_others
                        && !change::is_terminating(live) =>
                {
                    namespaces::obstacle(self.context, &object.name).await
                }
                _ => None,
            };
            if let Some(reason) = reason {
                self.items[index].failed(ErrorCode::ResourcesFailed, &reason);
            }
        }
    }
}
