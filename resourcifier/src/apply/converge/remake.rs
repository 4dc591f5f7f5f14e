//! An object that cannot be changed into what is asked for: a create is tried, then the object is deleted, then made anew.
//!
//! Nothing is deleted before the API server has said that it would create the new object.

use common::api::error::ErrorCode;
use common::model::{ObjectRef, UpdatePolicy};
use serde_json::Value;

use super::phase::Event;
use super::{Run, Step};
use crate::apply::context::Context;
use crate::apply::definitions;
use crate::apply::object::{change, claim, replace};
use crate::apply::remove::namespaces;
use crate::apply::write::trial;
use crate::kubectl::{Cascade, DeleteOptions, Deletion, KubectlError};

/// Why the API server does not let the object change, and what came of the try to create it.
pub struct Refused {
    error: KubectlError,
    would_help: Result<bool, KubectlError>,
}

/// Why an object that has to be made anew is still there.
pub enum NotDeleted {
    /// Something would be lost with it.
    Held(String),
    /// It is not as it was read.
    Changed,
    Failed(KubectlError),
}

impl Run<'_> {
    /// Asks whether the API server would create the object that it does not let change.
    pub(super) fn try_anew(&mut self, index: usize, error: KubectlError) {
        let Ok((object, _)) = self.substituted(index) else {
            // A value that it was applied with is gone: it waits for it again.
            self.works[index].troubled(&error);
            return self.put_off(index);
        };
        let context = self.context;
        self.schedule.under_way(index);
        self.steps.push(Box::pin(async move {
            let would_help = trial::create_would_succeed(context, &object).await;
            Step::Tried(index, Refused { error, would_help })
        }));
    }

    pub(super) fn tried(&mut self, index: usize, refused: Refused) {
        let Refused { error, would_help } = refused;
        let work = &mut self.works[index];
        let replaces = work.node.metadata.update_policy == UpdatePolicy::Replace;
        match would_help {
            Ok(_) if replaces => self.replace(index),
            Err(trouble) if trouble.is_transient() => {
                work.troubled(&trouble);
                self.put_off(index);
            }
            would_help => {
                let reason = replace::failure(&work.node, &error, &would_help);
                work.failed(error.code(), &reason);
                self.schedule.back(index);
                self.settled(index);
            }
        }
    }

    pub(super) fn replace(&mut self, index: usize) {
        let work = &self.works[index];
        let object = work.node.object.clone();
        let before = work.before().cloned().unwrap_or_default();
        let context = self.context;
        self.steps.push(Box::pin(async move {
            Step::Deleted(index, delete(context, &object, &before).await)
        }));
    }

    pub(super) fn deleted(&mut self, index: usize, outcome: Result<(), NotDeleted>) {
        let work = &mut self.works[index];
        match outcome {
            Ok(()) => {
                let reason = match work.node.run {
                    Some(_) => "the object of its last run is being deleted",
                    None => {
                        "it cannot be changed and its update policy is REPLACE: the previous object is being deleted"
                    }
                };
                work.on(Event::Deleted);
                work.waits_for(reason);
                return self.put_off(index);
            }
            Err(NotDeleted::Changed) => {
                work.on(Event::Outdated);
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

async fn delete(
    context: Context<'_>,
    object: &ObjectRef,
    before: &Value,
) -> Result<(), NotDeleted> {
    let obstacle = if definitions::is_definition(object) {
        definitions::obstacle(context, before).await
    } else if namespaces::is_namespace(object) {
        namespaces::obstacle(context, &object.name).await
    } else {
        replace::obstacle(before)
    };
    if let Some(reason) = obstacle {
        return Err(NotDeleted::Held(reason));
    }
    let options = DeleteOptions {
        uid: change::uid(before),
        version: claim::version_to_delete(before),
        cascade: Cascade::Foreground,
    };
    let within = context.deadline.call();
    match context.kubectl.delete(object, options, within).await {
        Ok(Deletion::Replaced | Deletion::Changed) => Err(NotDeleted::Changed),
        Ok(_) => Ok(()),
        Err(error) => Err(NotDeleted::Failed(error)),
    }
}
