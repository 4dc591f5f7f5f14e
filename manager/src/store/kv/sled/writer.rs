//! The one thread that writes: commits in the order in which they arrive, made durable together.

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, OnceLock, PoisonError, Weak};
use std::thread::{self, JoinHandle};

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::super::{Commit, Key, KvError, sum};
use super::disk::Disk;
use super::disk::files::Files;
use super::tip::{self, Tip};
use super::{Data, failed};

/// Commits that wait at most; who comes later waits to be let in.
const QUEUE: usize = 1024;
/// Commits, and bytes, that are made durable together at most: the first of them waits for the last.
const TOGETHER: usize = 256;
const TOGETHER_BYTES: usize = 4 * 1024 * 1024;

type Answer = oneshot::Sender<Result<(), KvError>>;

/// The way to the thread. It ends when this is dropped.
#[derive(Debug)]
pub struct Writer {
    queue: Option<mpsc::Sender<(Commit, Answer)>>,
    thread: Option<JoinHandle<()>>,
    disk: Disk,
    broken: Arc<OnceLock<KvError>>,
}

impl Writer {
    pub fn start(data: Arc<Data>, files: Files, tip: Tip) -> Result<Self, KvError> {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let (disk, broken) = (files.disk.clone(), Arc::default());
        let work = Work {
            data,
            files,
            tip,
            broken: Arc::clone(&broken),
        };
        let thread = thread::Builder::new().name("store-write".to_owned());
        let thread = thread.spawn(move || work.run(waiting));
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread.map_err(|error| failed("opened", &error))?),
            disk,
            broken,
        })
    }

    /// Whether a commit would be taken now: there is room for it, and nothing has broken.
    pub fn accepts(&self) -> Result<(), KvError> {
        match self.broken.get() {
            Some(error) => Err(error.clone()),
            None if self.thread.as_ref().is_none_or(JoinHandle::is_finished) => Err(gone()),
            None => self.disk.room(0),
        }
    }

    pub async fn commit(&self, commit: Commit) -> Result<(), KvError> {
        let (answer, answered) = oneshot::channel();
        if let Some(queue) = &self.queue {
            // A thread that is gone drops the answer with the queue.
            let _ = queue.send((commit, answer)).await;
        }
        answered.await.map_err(|_| gone())?
    }
}

fn gone() -> KvError {
    failed("written", &"its writer is gone; restart the manager")
}

impl Drop for Writer {
    /// Waits until the folder can be opened again.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Work {
    data: Arc<Data>,
    files: Files,
    tip: Tip,
    /// Why nothing is written any more: what sled holds in memory may be more than what is on the disk.
    broken: Arc<OnceLock<KvError>>,
}

impl Work {
    fn run(mut self, mut waiting: mpsc::Receiver<(Commit, Answer)>) {
        while let Some(first) = waiting.blocking_recv() {
            let mut bytes = first.0.size();
            let mut together = vec![first];
            while together.len() < TOGETHER && bytes < TOGETHER_BYTES {
                let Ok(next) = waiting.try_recv() else { break };
                bytes += next.0.size();
                together.push(next);
            }
            let (commits, answers): (Vec<_>, Vec<_>) = together.into_iter().unzip();
            for (answer, outcome) in answers.into_iter().zip(self.outcomes(&commits, bytes)) {
                // The caller may be gone.
                let _ = answer.send(outcome);
            }
        }
    }

    /// What each commit came to, once all that were applied are durable.
    fn outcomes(&mut self, commits: &[Commit], bytes: usize) -> Vec<Result<(), KvError>> {
        let room = || self.files.disk.room(bytes).err();
        let refused = self.broken.get().cloned().or_else(room);
        if let Some(error) = refused {
            return commits.iter().map(|_| Err(error.clone())).collect();
        }
        // sled panics on some kinds of damage.
        let done = panic::catch_unwind(AssertUnwindSafe(|| self.write(commits)));
        let done = done.unwrap_or_else(|_| Err(failed("written", &"sled gave up")));
        done.unwrap_or_else(|error| {
            let error = failed("written", &format!("{error}; restart the manager"));
            tracing::error!(%error, "nothing is written any more");
            // The first one stays.
            let _ = self.broken.set(error.clone());
            commits.iter().map(|_| Err(error.clone())).collect()
        })
    }

    /// An error means that nobody knows what of them is written.
    fn write(&mut self, commits: &[Commit]) -> Result<Vec<Result<(), KvError>>, KvError> {
        let mut outcomes = Vec::with_capacity(commits.len());
        for commit in commits {
            outcomes.push(match self.changes(commit) {
                Ok(changes) => {
                    self.apply(changes)?;
                    Ok(())
                }
                Err(refusal) => Err(refusal),
            });
        }
        if outcomes.iter().any(Result::is_ok) {
            self.files.sync(&self.data.db, self.tip)?;
        }
        Ok(outcomes)
    }

    /// The value of each key after the commit, if it may be made. Nobody else writes, so this stays true.
    fn changes(&self, commit: &Commit) -> Result<BTreeMap<Key, Option<Bytes>>, KvError> {
        for (key, expected) in &commit.expect {
            let holds = match (self.data.get(key)?, expected) {
                (Some(found), Some(expected)) => expected.is(&found),
                (found, expected) => found.is_none() && expected.is_none(),
            };
            if !holds {
                return Err(KvError::Conflict);
            }
        }
        let mut changes = BTreeMap::new();
        for prefix in &commit.delete_prefix {
            let below = self.data.keys_below(prefix)?;
            changes.extend(below.into_iter().map(|key| (key, None)));
        }
        let writes = commit.writes().into_iter();
        changes.extend(writes.map(|(key, value)| (key.to_vec(), value.cloned())));
        for (key, by) in &commit.add {
            let before = self.data.get(key)?;
            changes.insert(key.clone(), sum(before.as_deref(), *by)?);
        }
        Ok(changes)
    }

    /// All of it or nothing, also after a crash; not durable yet.
    fn apply(&mut self, changes: BTreeMap<Key, Option<Bytes>>) -> Result<(), KvError> {
        let (mut batch, mut tip) = (sled::Batch::default(), self.tip);
        // Before anybody waits for it: the disk may have to be read.
        let mut befores = Vec::with_capacity(changes.len());
        for (key, after) in &changes {
            let before = self.data.get(key)?;
            tip.change(key, before.as_ref(), after.as_ref());
            match after {
                Some(value) => batch.insert(key.as_slice(), value.as_ref()),
                None => batch.remove(key.as_slice()),
            }
            befores.push(before);
        }
        tip.commits += 1;
        batch.insert(tip::KEY, &tip.encoded());
        let guard = self.data.watchers.write();
        let mut watchers = guard.unwrap_or_else(PoisonError::into_inner);
        watchers.retain(|watcher| watcher.strong_count() > 0);
        for watcher in watchers.iter().filter_map(Weak::upgrade) {
            for ((key, after), before) in changes.iter().zip(&befores) {
                watcher.changes(key, before.as_ref(), after.as_ref());
            }
        }
        let applied = self.data.db.apply_batch(batch);
        applied.map_err(|error| self.data.failed("written", &error))?;
        self.tip = tip;
        Ok(())
    }
}
