//! Deletes objects, backwards through the waves in which they were applied, and waits until they are gone.
//!
//! Only what is surely the deployment's is touched: a recorded object by its UID, any other by its mark.

mod gone;

use std::collections::BTreeMap;

use common::api::deployer::{Action, ResourceReport, ResourceState};
use common::api::error::ErrorCode;
use common::model::{AppliedObject, DeletePolicy, ObjectRef};
use futures::StreamExt;
use serde_json::Value;
use tokio::time::Instant;

use super::fetch::{self, AT_ONCE};
use super::item::{Item, Target};
use super::pace::{PATIENCE, Pace};
use super::permissions::{Need, Verb};
use super::{CallerGone, Context, change, definitions};
use crate::kubectl::{KubectlError, Marks, ObjectFault, Outcomes};
use crate::plan;

const REPLACED: &str = "another object has taken its name since; it is left alone";

/// How objects are now, by their places.
type Looks = Vec<(usize, Result<Option<Value>, KubectlError>)>;

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

/// Looks for the targets; what is gone already, or not the deployment's any more, is left alone.
pub async fn find(context: Context<'_>, targets: Vec<Target>) -> Result<Found<'_>, CallerGone> {
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
    pub fn needs(&self, policy: Option<DeletePolicy>) -> Vec<Need> {
        let items = self.0.items.iter();
        let needs = items.filter_map(|item| {
            let verbs: &[Verb] = match item.policy(policy) {
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

    /// Removes them; `policy` goes over the one of each object. A failure is in the reports, never an early end.
    pub async fn remove(self, policy: Option<DeletePolicy>) -> Result<Removed, CallerGone> {
        let Self(mut run) = self;
        run.abandon(policy).await?;
        run.delete().await?;
        run.tell().await?;
        Ok(outcome(run.items))
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
    async fn patiently(&self, mut indices: Vec<usize>) -> Result<Looks, CallerGone> {
        let (context, started, mut pace) = (self.context, Instant::now(), Pace::new());
        let mut looks = Looks::new();
        loop {
            context.events.listened()?;
            let objects = self.objects(&indices);
            let mut trouble = Vec::new();
            let mut found = |place: usize, outcome: Result<Option<Value>, KubectlError>| {
                let outcome = outcome.map(|live| live.map(change::outline));
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
                (Some(false), _) => item.gone(None, Some(REPLACED)),
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
        let is_abandoned =
            |index: &usize| self.items[*index].policy(policy) == DeletePolicy::Abandon;
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
        let marks = Marks {
            labels,
            annotations: &[plan::RESOURCE, plan::DELETE_POLICY, plan::WAVE],
        };
        let (context, objects) = (self.context, self.objects(indices));
        let calls = objects.iter().map(|object| {
            let within = context.deadline.call();
            context.kubectl.unmark(object, &marks, within)
        });
        let outcomes: Outcomes<()> = futures::stream::iter(calls)
            .buffered(AT_ONCE)
            .collect()
            .await;
        for (&index, outcome) in indices.iter().zip(outcomes) {
            match outcome {
                Ok(()) => self.items[index].gone(Some(Action::Abandoned), None),
                Err(error) => self.items[index].failed_by(&error),
            }
        }
        self.tell().await
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
}
