//! One resource on its way into the cluster: what its next call is, and what came of the one before.

use common::api::deployer::ResourceState;
use serde_json::Value;

use super::phase::{Event, Next, Pending};
use super::{Run, Step, special};
use crate::apply::definitions::shared;
use crate::apply::object::acquired::Taken;
use crate::apply::object::{change, claim, replace};
use crate::apply::write::acquire;
use crate::apply::write::conflicts::{self, How};
use crate::kubectl::{KubectlError, ObjectFault, PatchOptions};
use crate::plan;

impl Run<'_> {
    /// Begins the next call, or settles what needs none.
    pub(super) fn go_on(&mut self, index: usize) {
        match self.works[index].next() {
            Some(Next::Read) => {
                self.works[index].on(Event::Outdated);
                self.look_for(index);
            }
            Some(Next::Wait(reason)) => {
                self.works[index].waits_for(reason);
                self.works[index].on(Event::Outdated);
                self.put_off(index);
            }
            Some(Next::Nothing) => {
                self.works[index].on(Event::Unchanged);
                self.is_in(index);
            }
            Some(Next::Delete) => self.replace(index),
            Some(Next::Write) if self.works[index].joins() => self.join(index),
            Some(Next::Write) => self.write(index),
            None => self.schedule.back(index),
        }
    }

    /// Applies it, if all values that it refers to are known.
    fn write(&mut self, index: usize) {
        match self.substituted(index) {
            Ok((object, properties)) => {
                self.works[index].final_properties = properties;
                self.apply(index, object);
            }
            Err(reference) => {
                self.works[index].on(Event::Waits {
                    reason: format!("{} has no value yet", reference.text),
                    on: Some(reference.target),
                });
                self.put_off(index);
                self.probe(index, &reference);
            }
        }
    }

    /// It tries again with the next look, unless it has run out of patience.
    pub(super) fn put_off(&mut self, index: usize) {
        self.schedule.put_off(index);
        match self.works[index].has_failed() {
            true => self.settled(index),
            false => self.news.push(index),
        }
    }

    /// It is not known yet: its kind is new, or its predecessor had to go first.
    fn look_for(&mut self, index: usize) {
        let object = self.works[index].node.object.clone();
        let context = self.context;
        self.steps.push(Box::pin(async move {
            let within = context.deadline.call();
            Step::LookedFor(index, context.kubectl.get(&object, within).await)
        }));
    }

    pub(super) fn looked_for(
        &mut self,
        index: usize,
        outcome: Result<Option<Value>, KubectlError>,
    ) {
        match outcome {
            Err(error) if self.may_pass(index, &error) => {
                self.works[index].troubled(&error);
                self.put_off(index);
            }
            outcome => {
                self.schedule.back(index);
                match self.checked(index, outcome) {
                    Ok(()) => self.offer(index),
                    Err(failure) => {
                        self.works[index].on(Event::Failed(failure));
                        self.settled(index);
                    }
                }
            }
        }
    }

    /// The object and the properties with all values, or the first reference without one.
    pub(super) fn substituted(
        &self,
        index: usize,
    ) -> Result<(Value, Option<Value>), plan::Reference> {
        let node = &self.works[index].node;
        let value =
            |reference: &plan::Reference| reference.path.find(self.works[reference.target].live()?);
        if let Some(missing) = node
            .references
            .iter()
            .find(|reference| value(reference).is_none())
        {
            return Err(missing.clone());
        }
        let secrets = self.context.events.secrets();
        for reference in &node.references {
            if let Some(live) = self.works[reference.target].live() {
                secrets.learn(reference, live);
            }
        }
        let found = |text: &str| {
            let mut references = node.references.iter();
            references.find(|reference| reference.text == text)
        };
        let lookup = |text: &str| value(found(text)?).cloned();
        // A text that contains a value of a Secret is reported as it was written.
        let public = |text: &str| {
            let reference = found(text).filter(|reference| !reference.is_secret)?;
            value(reference).cloned()
        };
        let properties = node
            .resource
            .properties
            .as_ref()
            .filter(|_| !node.references.is_empty());
        Ok((
            plan::substitute(&node.template, &lookup),
            properties.map(|properties| plan::substitute(properties, &public)),
        ))
    }

    fn apply(&mut self, index: usize, object: Value) {
        let context = self.context;
        let manager = special::manager(&self.works[index].node, &self.manager).to_owned();
        let object = match self.works[index].node.metadata.is_shared() {
            true => shared::with_sharers(&object, self.works[index].before()).into_owned(),
            false => object,
        };
        let policy = self.works[index].node.metadata.conflict_policy;
        let before = self.works[index].before().map(change::identity);
        let was_there = self.works[index].pending().is_some_and(Pending::was_there);
        self.steps.push(Box::pin(async move {
            let how = How {
                manager: &manager,
                policy,
                dry_run: false,
                precondition: claim::precondition(before.as_ref()),
                secrets: context.events.secrets(),
            };
            let within = context.deadline.call();
            let applied = match (was_there, &before) {
                (true, Some(_)) => acquire::apply(context.kubectl, &object, how, within).await,
                // It was made anew: what it had before is gone, but not that it was there.
                (true, None) => {
                    let object = Taken::default().write_on(object);
                    conflicts::apply(context.kubectl, &object, how, within).await
                }
                (false, _) => conflicts::apply(context.kubectl, &object, how, within).await,
            };
            Step::Put(index, applied.map(|applied| applied.live))
        }));
    }

    /// Begins to share the object, and leaves it as it is otherwise.
    fn join(&mut self, index: usize) {
        let object = self.works[index].node.object.clone();
        let before = self.works[index].before().cloned();
        let context = self.context;
        self.steps.push(Box::pin(async move {
            let options = PatchOptions {
                manager: plan::MANAGER,
                precondition: claim::precondition(before.as_ref()),
            };
            let patch = shared::patch(context.deployment, true);
            let within = context.deadline.call();
            let joined = context.kubectl.patch(&object, &patch, options, within);
            Step::Put(
                index,
                joined
                    .await
                    .and_then(|live| live.ok_or_else(conflicts::lost)),
            )
        }));
    }

    pub(super) fn put(&mut self, index: usize, outcome: Result<Value, KubectlError>) {
        self.schedule.back(index);
        match outcome {
            Ok(live) => {
                self.works[index].on(Event::Written(live));
                self.is_in(index);
            }
            Err(error) => self.refused(index, error),
        }
    }

    /// It is in the cluster as it should be, and ready or watched.
    fn is_in(&mut self, index: usize) {
        self.schedule.back(index);
        self.applied.push(index);
        self.settled(index);
        if self.works[index].state() == ResourceState::Applied {
            self.watches.want(&self.works[index]);
            self.watch();
        }
    }

    /// Whether the same call may succeed a little later: a binding that was just made takes a moment to count.
    fn may_pass(&self, index: usize, error: &KubectlError) -> bool {
        let is_forbidden = error.fault() == Some(ObjectFault::Forbidden);
        error.is_transient() || (is_forbidden && self.may_be_granted(index))
    }

    fn refused(&mut self, index: usize, error: KubectlError) {
        if error.is_lost_race() {
            return self.lost_race(index, &error);
        }
        let may_pass = self.may_pass(index, &error);
        let work = &mut self.works[index];
        let may_be_anew = work.may_be_made_anew();
        if may_pass {
            work.troubled(&error);
            self.put_off(index);
        } else if may_be_anew && replace::may_help(&error) {
            self.try_anew(index, error);
        } else {
            work.failed(error.code(), &error.to_string());
            self.settled(index);
        }
    }

    /// Somebody else wrote first: the object is read, and decided about, again.
    pub(super) fn lost_race(&mut self, index: usize, error: &KubectlError) {
        let work = &mut self.works[index];
        match work.lost_race() {
            true => self.offer(index),
            false => {
                work.troubled(error);
                self.put_off(index);
            }
        }
    }
}
