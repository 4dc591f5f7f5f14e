//! Stores for tests that do something of their own at some calls: they die, they are late.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::Notify;

use crate::store::kv::{Commit, Entry, Key, Kv, KvError, Pace, Scan};

/// A store around another one. Each method does what the other one does, until a test says otherwise.
#[async_trait]
pub trait WrappedKv: std::fmt::Debug + Send + Sync {
    fn inner(&self) -> &dyn Kv;

    /// Runs before each read.
    async fn before_read(&self) -> Result<(), KvError> {
        Ok(())
    }

    async fn write(&self, commit: Commit) -> Result<(), KvError> {
        self.inner().commit(commit).await
    }

    async fn would_write(&self) -> Result<(), KvError> {
        self.inner().accepts().await
    }

    async fn is_owned(&self) -> Result<(), KvError> {
        self.inner().owned().await
    }
}

#[async_trait]
impl<K: WrappedKv> Kv for K {
    async fn get(&self, key: &[u8]) -> Result<Option<Entry>, KvError> {
        self.before_read().await?;
        self.inner().get(key).await
    }

    async fn get_each(&self, keys: Vec<Key>) -> Result<Vec<Option<Entry>>, KvError> {
        self.before_read().await?;
        self.inner().get_each(keys).await
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<(Key, Bytes)>, KvError> {
        self.before_read().await?;
        self.inner().scan(scan).await
    }

    async fn commit(&self, commit: Commit) -> Result<(), KvError> {
        self.write(commit).await
    }

    async fn snapshot(&self) -> Result<Arc<dyn Kv>, KvError> {
        self.inner().snapshot().await
    }

    async fn check(&self, pace: Pace) -> Result<(), KvError> {
        self.inner().check(pace).await
    }

    async fn accepts(&self) -> Result<(), KvError> {
        self.would_write().await
    }

    async fn owned(&self) -> Result<(), KvError> {
        self.is_owned().await
    }
}

/// A store that dies after a number of commits, like a process: nothing is written later.
#[derive(Debug)]
pub struct DyingKv {
    inner: Arc<dyn Kv>,
    left: AtomicUsize,
    dead: Notify,
    /// Why it does not write any more.
    error: fn() -> KvError,
}

impl DyingKv {
    pub fn after(commits: usize, inner: Arc<dyn Kv>) -> Arc<Self> {
        let error = || KvError::Failed {
            action: "written",
            reason: "it is dead".to_owned(),
        };
        Self::with(commits, inner, error)
    }

    /// A store whose disk has room for this many commits.
    pub fn full_after(commits: usize, inner: Arc<dyn Kv>) -> Arc<Self> {
        let error = || KvError::Full {
            free_mib: 0,
            kept_mib: 32,
        };
        Self::with(commits, inner, error)
    }

    fn with(commits: usize, inner: Arc<dyn Kv>, error: fn() -> KvError) -> Arc<Self> {
        Arc::new(Self {
            inner,
            left: AtomicUsize::new(commits),
            dead: Notify::new(),
            error,
        })
    }

    /// Dies after this many further commits.
    pub fn die_after(&self, commits: usize) {
        self.left.store(commits, Ordering::SeqCst);
    }

    /// Makes room on the disk again.
    pub fn revive(&self) {
        self.left.store(usize::MAX, Ordering::SeqCst);
    }

    pub async fn death(&self) {
        self.dead.notified().await;
    }
}

#[async_trait]
impl WrappedKv for DyingKv {
    fn inner(&self) -> &dyn Kv {
        self.inner.as_ref()
    }

    async fn write(&self, commit: Commit) -> Result<(), KvError> {
        let left = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            });
        if left.is_err() {
            self.dead.notify_one();
            return Err((self.error)());
        }
        self.inner.commit(commit).await
    }

    async fn would_write(&self) -> Result<(), KvError> {
        match self.left.load(Ordering::SeqCst) {
            0 => Err((self.error)()),
            _ => self.inner.accepts().await,
        }
    }
}

/// A store that answers a commit a moment after it is done, like a disk.
#[derive(Debug)]
pub struct LateKv(pub Arc<dyn Kv>);

#[async_trait]
impl WrappedKv for LateKv {
    fn inner(&self) -> &dyn Kv {
        self.0.as_ref()
    }

    async fn write(&self, commit: Commit) -> Result<(), KvError> {
        let done = self.0.commit(commit).await;
        tokio::task::yield_now().await;
        done
    }
}
