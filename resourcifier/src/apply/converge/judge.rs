//! Those that do not become ready: what others say about them, and, in the end, why.

use std::time::Duration;

use common::api::deployer::ResourceState;
use common::api::error::ErrorCode;
use futures::StreamExt;
use tokio::time::Instant;

use super::phase::Event;
use super::{Run, Step};
use crate::apply::cause::{self, Causes, evidence};
use crate::apply::readiness::Readiness;

/// Others are asked this often, and for this many at a time: each costs some calls.
const EVERY: Duration = Duration::from_secs(1);
const AT_A_TIME: usize = 64;
/// Resources that are looked into at once.
const AT_ONCE: usize = 8;
/// How many resources are reported with their causes.
const EXPLAINED: usize = 50;

/// Who is judged next, and when.
pub(super) struct Judge {
    next: Instant,
    from: usize,
    is_busy: bool,
}

impl Judge {
    pub(super) fn new() -> Self {
        Self {
            next: Instant::now() + EVERY / 2,
            from: 0,
            is_busy: false,
        }
    }
}

impl Run<'_> {
    /// Asks others about those that are waited for, in turn.
    pub(super) fn judge(&mut self) {
        if self.judge.is_busy || Instant::now() < self.judge.next {
            return;
        }
        let count = self.works.len();
        let waiting: Vec<_> = (0..count)
            .map(|step| (self.judge.from + step) % count)
            .filter(|&index| self.works[index].state() == ResourceState::Applied)
            .filter_map(|index| Some((index, self.works[index].live().cloned()?)))
            .take(AT_A_TIME)
            .collect();
        let Some((last, _)) = waiting.last() else {
            return;
        };
        self.judge.from = (last + 1) % count;
        self.judge.is_busy = true;
        let context = self.context;
        self.steps.push(Box::pin(async move {
            let calls = futures::stream::iter(waiting).map(|(index, live)| async move {
                (index, evidence::of(context.kubectl, &live).await)
            });
            Step::Judged(calls.buffered(AT_ONCE).collect().await)
        }));
    }

    pub(super) fn judged(&mut self, verdicts: Vec<(usize, Option<Readiness>)>) {
        self.judge.is_busy = false;
        self.judge.next = Instant::now() + EVERY;
        for (index, verdict) in verdicts {
            let is_waited_for = self.works[index].state() == ResourceState::Applied;
            if let Some(verdict) = verdict.filter(|_| is_waited_for) {
                self.works[index].on(Event::Judged(verdict));
                self.settled(index);
            }
        }
    }

    /// The time is over: everything unfinished says what it waited for.
    pub(super) async fn give_up(&mut self) {
        let unfinished = (0..self.works.len()).filter(|&index| self.works[index].is_unfinished());
        let unfinished: Vec<usize> = unfinished.collect();
        let total = self.context.deadline.total();
        for (index, causes) in self.causes(unfinished, ErrorCode::Timeout).await {
            self.works[index].too_late(total, causes);
            self.news.push(index);
        }
    }

    /// What failed after it was applied says why.
    pub(super) async fn explain(&mut self) {
        let unwell = (0..self.works.len()).filter(|&index| self.works[index].is_unwell());
        let unwell: Vec<usize> = unwell.collect();
        for (index, causes) in self.causes(unwell, ErrorCode::ResourcesFailed).await {
            self.works[index].on(Event::Explained(causes));
        }
    }

    async fn causes(&self, indices: Vec<usize>, code: ErrorCode) -> Vec<(usize, Causes)> {
        let kubectl = self.context.kubectl;
        let calls = indices.into_iter().enumerate().map(|(nth, index)| {
            let live = self.works[index].live();
            (index, live.filter(|_| nth < EXPLAINED).cloned())
        });
        let calls: Vec<_> = calls.collect();
        futures::stream::iter(calls)
            .map(|(index, live)| async move {
                match live {
                    Some(live) => (index, cause::of(kubectl, &live, code).await),
                    None => (index, Causes::default()),
                }
            })
            .buffered(AT_ONCE)
            .collect()
            .await
    }
}
