//! Applies resources as soon as what they depend on is there, many at once, and waits until all are ready.
//!
//! ```text
//!            ┌─ look for it ─┐                                 ┌─ a change is watched ─┐
//! possible ──┼─ apply it ────┼─► in the cluster, not ready ────┼─ it is looked at ─────┼─► ready
//!    ▲       └─ delete it ───┘      │                          └───────────────────────┘     │
//!    └──────── its dependants ◄─────┴────────────────────────────────────────────────────────┘
//! ```
//! Everything here is one task: what is under way are calls, and what they bring is an [`phase::Event`] of one [`Work`]. A failed resource
//! holds back only what depends on it.

mod check;
mod conditions;
mod judge;
mod look;
mod phase;
mod preflight;
mod probe;
mod put;
mod remake;
mod schedule;
mod special;
mod watch;
mod work;

use std::collections::{HashMap, HashSet};

use common::api::deployer::{ResourceReport, ResourceState};
use common::model::{AppliedObject, ObjectRef};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use serde_json::Value;
use tokio::time::Instant;

use self::conditions::{Conditions, Look};
use self::judge::Judge;
use self::remake::{NotDeleted, Refused};
use self::schedule::Schedule;
use self::watch::{Group, Watches};
use self::work::Work;
use crate::apply::checks::permissions::{Grants, Need};
use crate::apply::context::pace::Pace;
use crate::apply::context::{Context, Known, Stopped};
use crate::apply::fetch::AT_ONCE;
use crate::apply::readiness::Readiness;
use crate::apply::write::namespace;
use crate::kubectl::{KubectlError, Watch};
use crate::plan::{self, Plan, Reference};

pub struct Converged {
    /// In the order of the plan.
    pub reports: Vec<ResourceReport>,
    /// What the deployment has in the cluster, in the order in which it was applied.
    pub objects: Vec<AppliedObject>,
}

pub async fn converge(
    context: Context<'_>,
    plan: Plan,
    known: Known<'_>,
    removal: Vec<Need>,
) -> Result<Converged, Stopped> {
    let mut run = Run::new(context, plan, known.recorded);
    run.check(removal).await?;
    if let Some(namespace) = known.create_namespace {
        namespace::ensure(context, namespace).await?;
    }
    if known.preflight {
        run.preflight().await?;
    }
    run.work().await;
    Ok(run.outcome())
}

struct Run<'a> {
    context: Context<'a>,
    manager: String,
    works: Vec<Work>,
    /// The place of each object among the works.
    places: HashMap<ObjectRef, usize>,
    grants: Grants,
    schedule: Schedule,
    steps: FuturesUnordered<BoxFuture<'a, Step>>,
    watches: Watches<'a>,
    pace: Pace,
    next_look: Instant,
    is_looking: bool,
    judge: Judge,
    conditions: Conditions,
    /// In the order in which they were applied.
    applied: Vec<usize>,
    /// The resources that may have something new to report.
    news: Vec<usize>,
    /// The references that were asked about, each with the resource that has it.
    probed: HashSet<(usize, String)>,
}

/// What a call brought.
enum Step {
    LookedFor(usize, Result<Option<Value>, KubectlError>),
    Put(usize, Result<Value, KubectlError>),
    /// A create was tried, because the API server does not let the object change.
    Tried(usize, Refused),
    Deleted(usize, Result<(), NotDeleted>),
    LookedAt(Vec<(usize, Result<Option<Value>, KubectlError>)>),
    Watched(Group, Result<Watch, KubectlError>),
    Judged(Vec<(usize, Option<Readiness>)>),
    Conditions(Vec<Look>),
    /// Whether the reference of the resource can never have a value.
    Probed(usize, Reference, bool),
}

impl<'a> Run<'a> {
    fn new(context: Context<'a>, plan: Plan, recorded: &[AppliedObject]) -> Self {
        let uids: HashMap<_, &str> = recorded
            .iter()
            .map(|old| (old.object.identity(), old.uid.as_str()))
            .collect();
        let mut works: Vec<Work> = plan
            .nodes
            .into_iter()
            .map(|node| {
                let uid = uids
                    .get(&node.object.identity())
                    .map(|uid| (*uid).to_owned());
                Work::new(node, uid)
            })
            .collect();
        for index in 0..works.len() {
            for target in works[index].node.references.clone() {
                works[target.target].is_referenced = true;
            }
        }
        let objects = works.iter().map(|work| work.node.object.clone());
        Self {
            context,
            manager: plan::field_manager(context.deployment),
            places: objects.zip(0..).collect(),
            grants: Grants::of(works.iter().map(|work| &work.node.object)),
            schedule: Schedule::new(&works),
            works,
            steps: FuturesUnordered::new(),
            watches: Watches::new(context),
            pace: Pace::new(),
            next_look: Instant::now(),
            is_looking: false,
            judge: Judge::new(),
            conditions: Conditions::new(),
            applied: Vec::new(),
            news: Vec::new(),
            probed: HashSet::new(),
        }
    }

    async fn work(&mut self) {
        (0..self.works.len()).for_each(|index| self.offer(index));
        loop {
            let halted = self.context.gate.halted();
            if halted.is_none() {
                self.start();
            }
            self.tell().await;
            if !self.works.iter().any(Work::is_unfinished) {
                return self.explain().await;
            }
            if halted.is_some() {
                return self.break_off().await;
            }
            if self.context.deadline.is_over() {
                self.finish_calls().await;
                self.explain().await;
                self.give_up().await;
                return self.tell().await;
            }
            self.wait().await;
        }
    }

    /// What is under way is not lost: the record must say what became of it.
    async fn finish_calls(&mut self) {
        while let Some(step) = self.steps.next().await {
            self.arrived(step);
        }
    }

    /// The gate is closed: nothing more is begun, and what is under way ends soon.
    async fn break_off(&mut self) {
        self.finish_calls().await;
        for index in 0..self.works.len() {
            if self.works[index].state() == ResourceState::Pending {
                self.works[index].not_begun();
                self.news.push(index);
            }
        }
        self.tell().await;
    }

    /// Until something happens, or the next look or the end is due.
    async fn wait(&mut self) {
        tokio::select! {
            // What is due at the end is not begun any more, and no flood of changes holds back a look.
            biased;
            () = tokio::time::sleep_until(self.context.deadline.at()) => {}
            _ = self.context.gate.closed() => {}
            Some(step) = self.steps.next() => {
                self.arrived(step);
                // What else is there already is taken along, so that news go out together.
                while let Some(Some(step)) = futures::FutureExt::now_or_never(self.steps.next()) {
                    self.arrived(step);
                }
            }
            () = tokio::time::sleep_until(self.next_look), if !self.is_looking => self.look(),
            Some(seen) = self.watches.next() => self.seen(seen),
        }
    }

    fn arrived(&mut self, step: Step) {
        match step {
            Step::LookedFor(index, outcome) => self.looked_for(index, outcome),
            Step::Put(index, outcome) => self.put(index, outcome),
            Step::Tried(index, refused) => self.tried(index, refused),
            Step::Deleted(index, outcome) => self.deleted(index, outcome),
            Step::LookedAt(looks) => {
                self.is_looking = false;
                for (index, outcome) in looks {
                    self.looked_at(index, outcome);
                }
            }
            Step::Watched(group, outcome) => self.watches.opened(group, outcome),
            Step::Judged(verdicts) => self.judged(verdicts),
            Step::Conditions(looks) => self.looked_at_conditions(looks),
            Step::Probed(index, reference, is_impossible) => {
                self.probed(index, &reference, is_impossible);
            }
        }
    }

    /// Sends what can go on its way, as far as there is room.
    fn start(&mut self) {
        while self.steps.len() < AT_ONCE {
            let Some(index) = self.schedule.next() else {
                return;
            };
            self.go_on(index);
        }
    }

    /// Starts a resource, if its dependencies are met now.
    fn offer(&mut self, index: usize) {
        self.schedule.offer(index, &self.works);
    }

    /// Its state changed: those that depend on it can go, or never can.
    fn settled(&mut self, index: usize) {
        self.pace.hurry();
        self.next_look = self.next_look.min(self.pace.next());
        self.news.push(index);
        let mut changed = vec![index];
        while let Some(index) = changed.pop() {
            for dependant in self.schedule.dependants(index).to_vec() {
                if self.works[dependant].state() != ResourceState::Pending {
                    continue;
                }
                if self.works[index].has_failed() && !self.schedule.is_under_way(dependant) {
                    let name = self.works[index].node.resource.name.to_string();
                    let is_hook = self.works[index].node.run.is_some();
                    self.works[dependant].skipped(&name, is_hook);
                    self.news.push(dependant);
                    changed.push(dependant);
                } else {
                    self.offer(dependant);
                }
            }
        }
    }

    async fn tell(&mut self) {
        for index in std::mem::take(&mut self.news) {
            if let Some(report) = self.works[index].news() {
                self.context.events.resource(report).await;
            }
        }
    }

    fn outcome(self) -> Converged {
        let mut is_applied = vec![false; self.works.len()];
        self.applied
            .iter()
            .for_each(|&index| is_applied[index] = true);
        let others = (0..self.works.len()).filter(|&index| !is_applied[index]);
        let order: Vec<usize> = self.applied.iter().copied().chain(others).collect();
        Converged {
            objects: order
                .into_iter()
                .filter_map(|index| self.works[index].record())
                .collect(),
            reports: self.works.iter().map(Work::report).collect(),
        }
    }
}
