//! Asks for the deletion of objects, and waits until they are gone.

use common::api::deployer::{Action, ResourceState};
use common::api::error::ErrorCode;
use futures::StreamExt;
use serde_json::Value;

use super::{REPLACED, Run};
use crate::apply::fetch::AT_ONCE;
use crate::apply::item::may_own;
use crate::apply::pace::Pace;
use crate::apply::{CallerGone, change};
use crate::kubectl::{Cascade, DeleteOptions, Deletion, KubectlError};

impl Run<'_> {
    /// Many at once. What owns others stays until those are gone; all else goes in the background.
    pub(super) async fn ask_for_deletion(&mut self, indices: &[usize]) -> Result<(), CallerGone> {
        self.context.events.listened()?;
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
        self.tell().await
    }

    async fn ask(&self, index: usize) -> Result<Deletion, KubectlError> {
        let item = &self.items[index];
        let options = DeleteOptions {
            uid: item.uid(),
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
            Err(error) if !error.is_transient() => item.failed_by(&error),
            // Whether it was asked for is not known after an error: the wait finds out, and asks again.
            Ok(Deletion::Asked) | Err(_) => item.state = ResourceState::Deleting,
        }
    }

    pub(super) async fn wait_until_gone(&mut self, wave: &[usize]) -> Result<(), CallerGone> {
        let mut pace = Pace::new();
        loop {
            let waiting = self.deleting(wave);
            if waiting.is_empty() {
                return self.tell().await;
            }
            for (index, outcome) in self.patiently(waiting.clone()).await? {
                self.looked(index, outcome);
            }
            self.tell().await?;
            self.ask_again(&waiting).await?;
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
        let item = &mut self.items[index];
        match outcome {
            Ok(Some(live)) if change::uid(&live) == item.uid() => {
                item.reason = change::holders(&live);
                item.live = Some(live);
            }
            Ok(_) => item.gone(Some(Action::Deleted), None),
            Err(error) if error.is_transient() => item.reason = Some(error.to_string()),
            Err(error) => item.failed_by(&error),
        }
    }

    /// Objects that were to be deleted and show no sign of it: the call was lost with the API server.
    async fn ask_again(&mut self, waiting: &[usize]) -> Result<(), CallerGone> {
        let is_untouched = |index: &usize| {
            let item = &self.items[*index];
            item.state == ResourceState::Deleting
                && !item.live.as_ref().is_some_and(change::is_terminating)
        };
        let untouched: Vec<usize> = waiting.iter().copied().filter(is_untouched).collect();
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
