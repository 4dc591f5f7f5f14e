//! Small commits that wait at the same time are made in one transaction.
//!
//! etcd takes some milliseconds for a transaction, whatever its size. While some are under way, further commits wait, and
//! the next transaction makes as many of them as fit. Alone, a commit waits for nobody. Commits that a caller waits for only
//! wait for each other. Commits that add to numbers go one after another: they would wait for each other's numbers anyway.
//!
//! A transaction makes its commits as if one came after the other ([`Joint::admits`]). If an expectation of one of them
//! does not hold, each is made for itself.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::join_all;
use tokio::sync::oneshot;

use super::Size;
use crate::store::kv::etcd::Shared;
use crate::store::kv::etcd::client::refusal::failed;
use crate::store::kv::{Commit, Key, KvError};

/// Transactions that are under way at once, with commits that a caller waits for. With more, each would have fewer commits,
/// and all of them together would cost so much more that callers wait longer.
const URGENT: usize = 1;
/// The same, of the steps of operations. Two use the time in which etcd makes one durable; more would join less.
const OTHERS: usize = 2;

/// The commits that wait.
#[derive(Debug)]
pub struct Queues {
    counting: Queue,
    urgent: Queue,
    others: Queue,
}

#[derive(Debug, Clone, Copy)]
enum Lane {
    Counting,
    Urgent,
    Others,
}

impl Lane {
    fn of(commit: &Commit) -> Self {
        match (commit.add.is_empty(), commit.is_urgent) {
            (false, _) => Self::Counting,
            (true, true) => Self::Urgent,
            (true, false) => Self::Others,
        }
    }
}

#[derive(Debug)]
struct Queue {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waiting>,
    flights: usize,
}

#[derive(Debug)]
struct Waiting {
    commit: Commit,
    done: oneshot::Sender<Result<(), KvError>>,
}

impl Queues {
    pub fn new() -> Self {
        Self {
            counting: Queue::new(1),
            urgent: Queue::new(URGENT),
            others: Queue::new(OTHERS),
        }
    }

    fn of(&self, lane: Lane) -> &Queue {
        match lane {
            Lane::Counting => &self.counting,
            Lane::Urgent => &self.urgent,
            Lane::Others => &self.others,
        }
    }
}

impl Queue {
    fn new(most: usize) -> Self {
        Self {
            most,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the caller must start a flight.
    fn push(&self, waiting: Waiting) -> bool {
        let mut state = self.state();
        state.waiting.push_back(waiting);
        let starts = state.flights < self.most;
        state.flights += usize::from(starts);
        starts
    }

    /// The next commits to make in one transaction. None: the flight has ended.
    fn next(&self) -> Option<Vec<Waiting>> {
        let mut state = self.state();
        let Some(first) = state.waiting.pop_front() else {
            state.flights -= 1;
            return None;
        };
        let mut joint = Joint::default();
        joint.add(&first.commit);
        let mut batch = vec![first];
        while let Some(next) = state.waiting.front()
            && joint.admits(&next.commit)
        {
            joint.add(&next.commit);
            batch.extend(state.waiting.pop_front());
        }
        Some(batch)
    }
}

impl Shared {
    /// In a task of its own: it must not end halfway because one of its callers has gone away.
    pub async fn commit_joined(self: &Arc<Self>, commit: Commit) -> Result<(), KvError> {
        let (done, outcome) = oneshot::channel();
        let lane = Lane::of(&commit);
        if self.queues.of(lane).push(Waiting { commit, done }) {
            let shared = Arc::clone(self);
            tokio::spawn(async move {
                while let Some(batch) = shared.queues.of(lane).next() {
                    shared.make(batch).await;
                }
            });
        }
        let ended = |_| failed("written", &"the manager ends");
        outcome.await.map_err(ended)?
    }

    async fn make(&self, batch: Vec<Waiting>) {
        let (commits, callers): (Vec<_>, Vec<_>) =
            batch.into_iter().map(|one| (one.commit, one.done)).unzip();
        let outcomes = match commits.as_slice() {
            [commit] => vec![self.commit_small(commit).await],
            commits => self.together(commits).await,
        };
        for (caller, outcome) in callers.into_iter().zip(outcomes) {
            // The caller may have gone away.
            let _ = caller.send(outcome);
        }
    }

    async fn together(&self, commits: &[Commit]) -> Vec<Result<(), KvError>> {
        match self.commit_small(&joined(commits)).await {
            // Of one of them, or of etcd about one of them.
            Err(KvError::Conflict | KvError::Failed { .. }) => {
                join_all(commits.iter().map(|commit| self.commit_small(commit))).await
            }
            outcome => vec![outcome; commits.len()],
        }
    }
}

/// What the commits of a transaction write, as far as a further one has to know it.
#[derive(Debug, Default)]
struct Joint {
    size: Size,
    put: BTreeSet<Key>,
    deleted: BTreeSet<Key>,
    deleted_prefixes: Vec<Key>,
    counted: BTreeSet<Key>,
}

impl Joint {
    /// Whether all of them together are the same as one after the other, and fit into one transaction.
    fn admits(&self, next: &Commit) -> bool {
        let written = |key: &Key| self.put.contains(key) || self.deleted.contains(key);
        let is_gone = |key: &Key| {
            let mut prefixes = self.deleted_prefixes.iter();
            self.deleted.contains(key) || prefixes.any(|prefix| key.starts_with(prefix))
        };
        let is_touched = |key: &Key| written(key) || self.counted.contains(key) || is_gone(key);
        let touches_below = |prefix: &Key| {
            let below = |keys: &BTreeSet<Key>| {
                let first = keys.range(prefix.clone()..).next();
                first.is_some_and(|key| key.starts_with(prefix))
            };
            below(&self.put) || below(&self.counted)
        };
        (self.size + Size::of(next)).fits()
            && !next.expect.iter().any(|(key, _)| is_touched(key))
            // The last put of a key wins. A delete would win over a later put.
            && !next.put.iter().any(|(key, _)| is_gone(key) || self.counted.contains(key))
            && !next.delete.iter().any(|key| self.counted.contains(key))
            && !next.delete_prefix.iter().any(touches_below)
            && !next.add.iter().any(|(key, _)| written(key) || is_gone(key))
    }

    fn add(&mut self, next: &Commit) {
        self.size = self.size + Size::of(next);
        self.put.extend(next.put.iter().map(|(key, _)| key.clone()));
        self.deleted.extend(next.delete.iter().cloned());
        self.deleted_prefixes
            .extend(next.delete_prefix.iter().cloned());
        self.counted
            .extend(next.add.iter().map(|(key, _)| key.clone()));
    }
}

/// As one commit.
fn joined(commits: &[Commit]) -> Commit {
    let (mut all, mut numbers) = (Commit::default(), BTreeMap::<&Key, i64>::new());
    for commit in commits {
        all.expect.extend(commit.expect.iter().cloned());
        all.put.extend(commit.put.iter().cloned());
        all.delete.extend(commit.delete.iter().cloned());
        all.delete_prefix
            .extend(commit.delete_prefix.iter().cloned());
        for (key, by) in &commit.add {
            let number = numbers.entry(key).or_default();
            *number = number.saturating_add(*by);
        }
    }
    let numbers = numbers.into_iter().map(|(key, by)| (key.clone(), by));
    all.add.extend(numbers);
    all
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::store::kv::{Kv as _, MemoryKv, Order, Scan};

    /// Few keys, one below the other, so that commits meet.
    fn key() -> impl Strategy<Value = Key> {
        "[ab]{1,3}".prop_map(String::into_bytes)
    }

    prop_compose! {
        fn a_commit()(
            absent in proptest::collection::vec(key(), 0..2),
            put in proptest::collection::vec((key(), "[0-9]"), 0..4),
            delete in proptest::collection::vec(key(), 0..2),
            delete_prefix in proptest::collection::vec(key(), 0..2),
            add in proptest::collection::btree_map("[ab]{0,2}#", -3_i64..4, 0..3),
        ) -> Commit {
            Commit {
                expect: absent.into_iter().map(|key| (key, None)).collect(),
                put: put.into_iter().map(|(key, value)| (key, Bytes::from(value))).collect(),
                delete,
                delete_prefix,
                add: add.into_iter().map(|(key, by)| (key.into_bytes(), by)).collect(),
                is_urgent: false,
            }
        }
    }

    async fn all(kv: &MemoryKv) -> Vec<(Key, Bytes)> {
        let scan = Scan {
            prefix: Key::new(),
            after: None,
            limit: usize::MAX,
            order: Order::Ascending,
        };
        kv.scan(scan).await.unwrap()
    }

    /// The commits that the first one may be made with.
    fn admitted(commits: Vec<Commit>) -> Vec<Commit> {
        let mut joint = Joint::default();
        let together = commits.into_iter().take_while(|commit| {
            let admits = joint.admits(commit);
            joint.add(commit);
            admits
        });
        together.collect()
    }

    proptest! {
        #[test]
        fn commits_that_are_made_together_do_what_they_do_one_after_the_other(
            before in a_commit(),
            commits in proptest::collection::vec(a_commit(), 1..6),
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                let (together, apart) = (MemoryKv::default(), MemoryKv::default());
                let before = Commit { expect: Vec::new(), ..before };
                together.commit(before.clone()).await.unwrap();
                apart.commit(before).await.unwrap();
                let commits = admitted(commits);
                let outcome = together.commit(joined(&commits)).await;
                for commit in commits {
                    if let Err(error) = apart.commit(commit).await {
                        prop_assert_eq!(&outcome, &Err(error));
                        return Ok(());
                    }
                }
                prop_assert_eq!(outcome, Ok(()));
                prop_assert_eq!(all(&together).await, all(&apart).await);
                Ok(())
            })?;
        }
    }
}
