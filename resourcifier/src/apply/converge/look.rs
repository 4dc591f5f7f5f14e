//! How the objects that are waited for look now: by watches, and by reads where nobody watches.

use common::api::deployer::ResourceState;
use common::api::error::ErrorCode;
use common::model::ObjectRef;
use serde_json::Value;

use super::phase::Event;
use super::watch::Seen;
use super::work::Work;
use super::{Run, Step};
use crate::apply::fetch;
use crate::kubectl::KubectlError;

impl Run<'_> {
    /// Looks at those that are waited for and that nobody watches; and those that were put off may try again.
    pub(super) fn look(&mut self) {
        self.schedule.try_again(&self.works);
        self.next_look = self.pace.slower();
        self.judge();
        self.look_at_conditions();
        let awaited = self.awaited();
        let indices = self.watches.unwatched(&self.works, awaited);
        self.watch();
        if indices.is_empty() {
            return;
        }
        self.is_looking = true;
        let objects: Vec<ObjectRef> = indices
            .iter()
            .map(|&index| self.works[index].node.object.clone())
            .collect();
        let context = self.context;
        self.steps.push(Box::pin(async move {
            let mut looks = Vec::new();
            let mut found = |place: usize, outcome| looks.push((indices[place], outcome));
            fetch::many(context, &objects, &mut found).await;
            Step::LookedAt(looks)
        }));
    }

    /// Those that are not ready, and those of which a value is waited for.
    fn awaited(&self) -> Vec<usize> {
        let mut awaited: Vec<usize> = (0..self.works.len())
            .filter(|&index| self.works[index].state() == ResourceState::Applied)
            .collect();
        let waiting = |work: &&Work| work.state() == ResourceState::Pending;
        awaited.extend(self.works.iter().filter(waiting).filter_map(Work::awaits));
        awaited.sort_unstable();
        awaited.dedup();
        awaited
    }

    pub(super) fn watch(&mut self) {
        for (group, open) in self.watches.openings() {
            self.steps
                .push(Box::pin(async move { Step::Watched(group, open.await) }));
        }
    }

    pub(super) fn seen(&mut self, seen: Seen) {
        let Some(&index) = self.places.get(&seen.object) else {
            return;
        };
        let work = &self.works[index];
        if !work.is_of_interest() || work.uid() != seen.uid.as_deref() {
            return;
        }
        match seen.live {
            Some(live) if !work.is_news(&live) => {}
            live => self.looked_at(index, Ok(live)),
        }
    }

    pub(super) fn looked_at(&mut self, index: usize, outcome: Result<Option<Value>, KubectlError>) {
        let work = &mut self.works[index];
        if !work.is_in_cluster() {
            return;
        }
        match outcome {
            Ok(Some(live)) => work.on(Event::Observed(live)),
            Ok(None) => work.failed(
                ErrorCode::ResourcesFailed,
                "it was deleted by somebody else while it was waited for",
            ),
            Err(_) if work.state() == ResourceState::Ready => {}
            Err(error) if error.is_transient() => work.troubled(&error),
            Err(error) => work.failed(error.code(), &error.to_string()),
        }
        self.settled(index);
    }
}
