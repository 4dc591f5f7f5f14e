//! One resource on its way into the cluster: what its next call is, and what came of the one before.

use common::api::deployer::ResourceState;
use common::api::error::ErrorCode;
use common::model::{ObjectRef, UpdatePolicy};
use serde_json::Value;

use super::{Run, Step};
use crate::apply::conflicts::{self, How};
use crate::apply::{Context, change, definitions, replace};
use crate::kubectl::{Cascade, DeleteOptions, KubectlError, ObjectFault};
use crate::plan;

impl Run<'_> {
    /// Begins the next call, or settles what needs none.
    pub(super) fn go_on(&mut self, index: usize) {
        let work = &mut self.works[index];
        let Some(before) = &work.before else {
            return self.look_for(index);
        };
        if let Some(before) = before
            .as_ref()
            .filter(|before| change::is_terminating(before))
        {
            let held = change::finalizers(before).join(", ");
            work.waits_for(format!(
                "the object of before is being deleted; finalizers: [{held}]"
            ));
            work.before = None;
            return self.put_off(index);
        }
        if let Some(verdict) = work.unchanged.take() {
            work.found(verdict);
            return self.is_in(index);
        }
        match self.substituted(index) {
            Ok((object, properties)) => {
                self.works[index].final_properties = properties;
                self.apply(index, object);
            }
            Err(reference) => {
                let work = &mut self.works[index];
                work.waits_for(format!("{} has no value yet", reference.text));
                work.awaits = Some(reference.target);
                self.put_off(index);
            }
        }
    }

    /// It tries again with the next look, unless it has run out of patience.
    fn put_off(&mut self, index: usize) {
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
                    Err(fault) => {
                        self.works[index].failed_with(fault);
                        self.settled(index);
                    }
                }
            }
        }
    }

    /// The object and the properties with all values, or the first reference without one.
    fn substituted(&self, index: usize) -> Result<(Value, Option<Value>), plan::Reference> {
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
            return Err(missing.clone());
        }
        let secrets = self.context.events.secrets();
        for reference in &node.references {
            if let Some(live) = &self.works[reference.target].live {
                secrets.learn(reference, live);
            }
        }
        let found = |text: &str| {
            let mut references = node.references.iter();
            references.find(|reference| reference.text == text)
        };
        let lookup = |text: &str| value(found(text)?).cloned();
        // A text with a value of a Secret in it is told as it was written.
        let told = |text: &str| {
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
            properties.map(|properties| plan::substitute(properties, &told)),
        ))
    }

    fn apply(&mut self, index: usize, object: Value) {
        let (context, manager) = (self.context, self.manager.clone());
        let policy = self.works[index].node.metadata.conflict_policy;
        self.steps.push(Box::pin(async move {
            let how = How {
                manager: &manager,
                policy,
                dry_run: false,
                secrets: context.events.secrets(),
            };
            let within = context.deadline.call();
            let applied = conflicts::apply(context.kubectl, &object, how, within).await;
            Step::Put(index, applied.map(|applied| applied.live))
        }));
    }

    pub(super) fn put(&mut self, index: usize, outcome: Result<Value, KubectlError>) {
        self.schedule.back(index);
        match outcome {
            Ok(live) => {
                self.works[index].applied(live);
                self.is_in(index);
            }
            Err(error) => self.refused(index, &error),
        }
    }

    /// It is in the cluster as it should be, and ready or watched.
    fn is_in(&mut self, index: usize) {
        self.schedule.back(index);
        self.applied.push(index);
        self.settled(index);
        if self.works[index].state == ResourceState::Applied {
            self.watches.want(&self.works[index]);
            self.watch();
        }
    }

    /// Whether the same call may succeed a little later: a binding that was just made takes a moment to count.
    fn may_pass(&self, index: usize, error: &KubectlError) -> bool {
        let is_forbidden = error.fault() == Some(ObjectFault::Forbidden);
        error.is_transient() || (is_forbidden && self.may_be_granted(index))
    }

    fn refused(&mut self, index: usize, error: &KubectlError) {
        let may_pass = self.may_pass(index, error);
        let work = &mut self.works[index];
        let replaceable = work.node.metadata.update_policy == UpdatePolicy::Replace
            && !work.replaced
            && work.before().is_some();
        if may_pass {
            work.troubled(error);
            self.put_off(index);
        } else if replaceable && replace::would_help(error) {
            self.replace(index);
        } else {
            let told = replace::told(&work.node, error);
            work.failed(error.code(), &told);
            self.settled(index);
        }
    }

    /// Deletes an object that cannot be changed into what is asked for; it is made anew once it is gone.
    fn replace(&mut self, index: usize) {
        let work = &self.works[index];
        let object = work.node.object.clone();
        let before = work.before().cloned().unwrap_or_default();
        let context = self.context;
        self.schedule.under_way(index);
        self.steps.push(Box::pin(async move {
            Step::Deleted(index, delete(context, &object, &before).await)
        }));
    }

    pub(super) fn deleted(&mut self, index: usize, outcome: Result<(), NotDeleted>) {
        let work = &mut self.works[index];
        match outcome {
            Ok(()) => {
                (work.replaced, work.before) = (true, None);
                work.waits_for("it cannot be changed and its update policy is REPLACE: the object of before is being deleted");
                return self.put_off(index);
            }
            Err(NotDeleted::Failed(error)) if error.is_transient() => {
                work.troubled(&error);
                return self.put_off(index);
            }
            Err(NotDeleted::Failed(error)) => {
                work.failed(error.code(), &format!("it cannot be replaced: {error}"));
            }
            Err(NotDeleted::Held(reason)) => {
                let reason = format!("it cannot be changed, and must not be replaced: {reason}");
                work.failed(ErrorCode::ResourcesFailed, &reason);
            }
        }
        self.schedule.back(index);
        self.settled(index);
    }
}

/// Why an object that has to be made anew is still there.
pub enum NotDeleted {
    /// Something would be lost with it.
    Held(String),
    Failed(KubectlError),
}

async fn delete(
    context: Context<'_>,
    object: &ObjectRef,
    before: &Value,
) -> Result<(), NotDeleted> {
    let obstacle = match definitions::is_definition(object) {
        true => definitions::obstacle(context, before).await,
        false => replace::obstacle(before),
    };
    if let Some(reason) = obstacle {
        return Err(NotDeleted::Held(reason));
    }
    let options = DeleteOptions {
        uid: change::uid(before),
        cascade: Cascade::Foreground,
    };
    let deleted = context
        .kubectl
        .delete(object, options, context.deadline.call())
        .await;
    deleted.map(drop).map_err(NotDeleted::Failed)
}
