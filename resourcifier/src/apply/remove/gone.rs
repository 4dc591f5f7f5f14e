//! Asks for the deletion of objects, and waits until they are gone.

use common::api::deployer::{Action, ResourceState};
use common::api::error::ErrorCode;
use futures::StreamExt;
use serde_json::Value;

use super::item::{REPLACED, may_own};
use super::{Removal, Run};
use crate::apply::context::pace::Pace;
use crate::apply::definitions::shared;
use crate::apply::fetch::AT_ONCE;
use crate::apply::object::change;
use crate::apply::object::claim::{self, Standing};
use crate::kubectl::{Cascade, DeleteOptions, Deletion, KubectlError, ObjectFault};

impl Run<'_> {
    /// Many at once. What owns others stays until those are gone; all else goes in the background.
    pub(super) async fn ask_for_deletion(&mut self, indices: &[usize]) {
        let outcomes: Vec<_> = {
            let calls = indices.iter().map(|&index| self.ask(index));
            futures::stream::iter(calls)
                .buffered(AT_ONCE)
                .collect()
                .await
        };
        for (&index, outcome) in indices.iter().zip(outcomes) {
            self.asked(index, outcome);
        }
        self.tell().await;
    }

    async fn ask(&self, index: usize) -> Result<Deletion, KubectlError> {
        let item = &self.items[index];
        let options = DeleteOptions {
            uid: item.uid(),
            version: item.version(),
            cascade: match may_own(&item.target.object) {
                true => Cascade::Foreground,
                false => Cascade::Background,
            },
        };
        let within = self.context.deadline.call();
        let kubectl = self.context.kubectl;
        kubectl.delete(&item.target.object, options, within).await
    }

    fn asked(&mut self, index: usize, outcome: Result<Deletion, KubectlError>) {
        let item = &mut self.items[index];
        match outcome {
            Ok(Deletion::Gone | Deletion::Missing) => item.gone(Some(Action::Deleted), None),
            Ok(Deletion::Replaced) => item.gone(None, Some(REPLACED)),
            Err(KubectlError::Halted(_)) => {}
            Err(error) if error.fault() == Some(ObjectFault::Unserved) => {
                item.gone(Some(Action::Deleted), None);
            }
            Err(error) if !error.is_transient() => item.failed_by(&error),
            // Whether it was asked for is not known after an error, and whose it is not after a change: the wait finds out,
            // and asks again.
            Ok(Deletion::Asked | Deletion::Changed) | Err(_) => {
                item.state = ResourceState::Deleting
            }
        }
    }

    /// Ends early if the gate closes: what is being deleted is then reported as that.
    pub(super) async fn wait_until_gone(&mut self, wave: &[usize], removal: Removal) {
        let mut pace = Pace::new();
        loop {
            let waiting = self.deleting(wave);
            if waiting.is_empty() {
                return self.tell().await;
            }
            let Ok(looks) = self.patiently(waiting.clone()).await else {
                return self.tell().await;
            };
            for (index, outcome) in looks {
                self.looked(index, outcome);
            }
            self.tell().await;
            self.ask_again(&waiting, removal).await;
            if self.context.deadline.is_over() {
                waiting.iter().for_each(|&index| self.too_late(index));
                return self.tell().await;
            }
            if !self.deleting(&waiting).is_empty() {
                pace.rest(self.context.deadline).await;
            }
        }
    }

    fn deleting(&self, indices: &[usize]) -> Vec<usize> {
        let is_deleting = |index: &usize| self.items[*index].state == ResourceState::Deleting;
        indices.iter().copied().filter(is_deleting).collect()
    }

    fn looked(&mut self, index: usize, outcome: Result<Option<Value>, KubectlError>) {
        let deployment = self.context.deployment;
        let item = &mut self.items[index];
        match outcome {
            Ok(Some(live)) => {
                let is_same = change::uid(&live) == item.uid();
                let standing = claim::standing(Some(&live), deployment, item.uid());
                match standing {
                    Standing::Ours => {
                        item.reason = change::holders(&live);
                        item.live = Some(live);
                        item.is_of_uid();
                    }
                    // It was deleted, and somebody else has used the name since.
                    _ if !is_same => item.gone(Some(Action::Deleted), None),
                    standing => item.left_alone(&standing),
                }
            }
            Ok(None) => item.gone(Some(Action::Deleted), None),
            // The kind went meanwhile, and all objects with it.
            Err(error) if error.fault() == Some(ObjectFault::Unserved) => {
                item.gone(Some(Action::Deleted), None);
            }
            Err(error) if error.is_transient() => item.reason = Some(error.to_string()),
            Err(error) => item.failed_by(&error),
        }
    }

    /// Objects that were to be deleted and show no sign of it: the call was lost with the API server.
    ///
    /// What another deployment shares since then is not asked for again: it stays.
    async fn ask_again(&mut self, waiting: &[usize], removal: Removal) {
        let is_untouched = |index: &usize| {
            let item = &self.items[*index];
            item.state == ResourceState::Deleting
                && !item.live.as_ref().is_some_and(change::is_terminating)
        };
        let stays = |index: &usize| {
            let live = self.items[*index].live.as_ref();
            let deployment = self.context.deployment;
            live.is_some_and(|live| !shared::may_go(live, removal.policy, deployment))
        };
        let untouched = waiting.iter().copied().filter(is_untouched);
        let (joined, mut untouched): (Vec<usize>, Vec<usize>) = untouched.partition(stays);
        for index in &joined {
            self.items[*index].state = ResourceState::Pending;
        }
        if !joined.is_empty() {
            self.abandon(removal).await;
        }
        let is_last = |index: &usize| self.items[*index].is_pending();
        untouched.extend(joined.into_iter().filter(is_last));
        self.ask_for_deletion(&untouched).await;
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
