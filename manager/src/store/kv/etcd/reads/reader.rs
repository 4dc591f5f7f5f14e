//! Reads a store that another manager has, or that nobody has at the moment.
//!
//! ```text
//! which revision is the newest, and is all of it whole? ──► a revision ──► what is asked, as it was then
//!            all members                                                    one member
//! ```
//!
//! So each read sees every commit that was answered before it began, and whole commits only. Each asks anew: this
//! process writes nothing, so it does not know what changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use super::super::client::wire::{Number, Range, Read, Reads, Text};
use super::super::client::{Client, Question};
use super::super::names::{Names, one};
use super::super::options::StoreAccess;
use super::super::ownership::ANSWER;
use super::super::{EtcdAddress, open};
use super::Source;
use super::freshness::Freshness;
use super::signposts::Signposts;
use crate::store::kv::{Commit, Entry, Key, Kv, KvError, Pace, Scan, read_only};

/// A store that this process may read, and not write. Clones share it.
#[derive(Debug, Clone)]
pub struct EtcdReader(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    client: Arc<Client>,
    names: Names,
    signposts: Arc<Signposts>,
    freshness: Freshness,
    /// While one of them is there, the store is not whole.
    partial: Vec<Text>,
    /// Counts the reads that came and the questions that began, in their order.
    moments: AtomicU64,
    newest: Mutex<Newest>,
    /// They end with the reader.
    _tasks: JoinSet<()>,
}

/// The last answer, and when its question began.
#[derive(Debug)]
struct Newest {
    began: u64,
    revision: Result<Number, KvError>,
}

impl EtcdReader {
    /// The store below a prefix. `None` if there is none yet. While an entry of `partial` is there, nothing is read.
    ///
    /// # Errors
    /// As [`super::super::EtcdKv::open`].
    pub async fn open(
        address: &EtcdAddress,
        access: &StoreAccess,
        partial: &[Key],
    ) -> Result<Option<Self>, KvError> {
        let (client, names) = open::connect(address, access).await?;
        if !open::record(&client, &names, address, None).await? {
            return Ok(None);
        }
        let partial = partial.iter().map(|key| names.entry(key));
        let partial = partial.chain([names.redo_commit()]).collect();
        let signposts = Arc::new(Signposts::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(open::survey(
            client.clone(),
            names.clone(),
            signposts.clone(),
        ));
        Ok(Some(Self(Arc::new(Shared {
            client,
            names,
            signposts,
            freshness: Freshness::new(Number(0)),
            partial,
            moments: AtomicU64::new(1),
            newest: Mutex::new(Newest {
                began: 0,
                revision: Err(KvError::NotWhole),
            }),
            _tasks: tasks,
        }))))
    }
}

impl Shared {
    /// The newest revision. All reads that came before its question began share the answer.
    ///
    /// # Errors
    /// [`KvError::NotWhole`] if the store is not whole at that revision.
    async fn newest(&self) -> Result<Number, KvError> {
        let came = self.moments.fetch_add(1, Ordering::SeqCst);
        let mut newest = self.newest.lock().await;
        if newest.began < came {
            let began = self.moments.fetch_add(1, Ordering::SeqCst);
            let revision = self.ask_newest().await;
            *newest = Newest { began, revision };
        }
        newest.revision.clone()
    }

    async fn ask_newest(&self) -> Result<Number, KvError> {
        let keys = self.partial.iter().cloned();
        let read = |key| Read {
            request_range: Range {
                keys_only: true,
                ..one(key)
            },
        };
        let reads = Reads {
            success: keys.map(read).collect(),
        };
        // The member that answers this first is asked for the rest.
        let answer = self.client.first(&reads, ANSWER).await?;
        let mut found = answer.responses.iter();
        let is_whole = found.all(|part| {
            let range = part.response_range.as_ref();
            range.is_none_or(|range| range.kvs.is_empty())
        });
        match is_whole {
            true => Ok(answer.header.revision),
            false => Err(KvError::NotWhole),
        }
    }
}

impl Source for Shared {
    fn names(&self) -> &Names {
        &self.names
    }

    fn signposts(&self) -> &Signposts {
        &self.signposts
    }

    fn freshness(&self) -> &Freshness {
        &self.freshness
    }

    async fn ask<Q: Question>(&self, question: &Q) -> Result<Q::Answer, KvError> {
        self.client.call(question, ANSWER).await
    }
}

#[async_trait]
impl Kv for EtcdReader {
    async fn get(&self, key: &[u8]) -> Result<Option<Entry>, KvError> {
        let found = self.get_each(vec![key.to_vec()]).await?;
        Ok(found.into_iter().next().flatten())
    }

    async fn get_each(&self, keys: Vec<Key>) -> Result<Vec<Option<Entry>>, KvError> {
        let at = self.0.newest().await?;
        Ok(self.0.entries_at(&keys, Some(at)).await?.0)
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<(Key, Bytes)>, KvError> {
        let at = self.0.newest().await?;
        self.0.scan_at(&scan, Some(at)).await
    }

    async fn commit(&self, _: Commit) -> Result<(), KvError> {
        Err(read_only())
    }

    /// Each read is at one moment, and two reads are not: nobody who only reads has needed more.
    async fn snapshot(&self) -> Result<Arc<dyn Kv>, KvError> {
        Err(read_only())
    }

    async fn check(&self, _: Pace) -> Result<(), KvError> {
        self.0.newest().await.map(|_| ())
    }

    async fn accepts(&self) -> Result<(), KvError> {
        Err(read_only())
    }

    async fn owned(&self) -> Result<(), KvError> {
        Err(read_only())
    }
}
