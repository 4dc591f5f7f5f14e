//! Reads: of keys, and of ranges window by window.

pub(super) mod freshness;
pub(super) mod reader;
pub(super) mod signposts;

use std::time::Duration;

use bytes::Bytes;

use self::freshness::Freshness;
use self::signposts::Signposts;
use super::Shared;
use super::client::Question;
use super::client::refusal::failed;
use super::client::wire::{Number, Range, Read, Reads};
use super::names::{Names, after, between, one};
use super::ownership::ANSWER;
use crate::store::kv::{Entry, Key, KvError, Order, Scan, range};

/// Keys that are read in one transaction.
const KEYS: usize = 120;
/// Entries in one answer: with the largest pieces of contents, it has some ten MiB.
const ENTRIES: usize = 128;
/// A large commit lets nobody read; reads that wait longer fail.
const GATE: Duration = Duration::from_secs(30);

/// A store on etcd that can be read: what it is asked for, and which answers count.
pub trait Source {
    fn names(&self) -> &Names;

    fn signposts(&self) -> &Signposts;

    fn freshness(&self) -> &Freshness;

    /// The answer to one question, if it counts.
    async fn ask<Q: Question>(&self, question: &Q) -> Result<Q::Answer, KvError>;

    /// `question` says whether it is for one member that answers for itself.
    async fn answer<Q: Question>(
        &self,
        revision: Option<Number>,
        question: impl Fn(bool) -> Q,
    ) -> Result<Q::Answer, KvError> {
        let ask = |is_one| {
            let question = question(is_one);
            async move { self.ask(&question).await }
        };
        self.freshness().answer(revision, ask).await
    }

    /// What the keys had at a revision, or have now. The revision too.
    async fn entries_at(
        &self,
        keys: &[Key],
        mut revision: Option<Number>,
    ) -> Result<(Vec<Option<Entry>>, Number), KvError> {
        let mut entries = Vec::with_capacity(keys.len());
        for some in keys.chunks(KEYS) {
            let reads = |serializable: bool| Reads {
                success: some
                    .iter()
                    .map(|key| Read {
                        request_range: Range {
                            revision,
                            serializable,
                            ..one(self.names().entry(key))
                        },
                    })
                    .collect(),
            };
            let answer = self.answer(revision, reads).await?;
            revision.get_or_insert(answer.header.revision);
            if answer.responses.len() != some.len() {
                return Err(failed("read", &"etcd has not answered all"));
            }
            entries.extend(answer.responses.into_iter().map(|part| {
                let found = part.response_range.unwrap_or_default();
                let first = found.kvs.into_iter().next();
                first.map(super::client::wire::KeyValue::into_entry)
            }));
        }
        Ok((entries, revision.unwrap_or_default()))
    }

    async fn scan_at(
        &self,
        scan: &Scan,
        mut revision: Option<Number>,
    ) -> Result<Vec<(Key, Bytes)>, KvError> {
        let mut found = Vec::new();
        let Some(range) = range(scan) else {
            return Ok(found);
        };
        let (mut from, mut to) = self.names().range(range);
        while from < to && found.len() < scan.limit {
            let (begin, end) = match scan.order {
                Order::Ascending => (from.clone(), self.signposts().end(&from, &to)),
                Order::Descending => (self.signposts().beginning(&from, &to), to.clone()),
            };
            let limit = ENTRIES.min(scan.limit - found.len());
            let question = |serializable: bool| Range {
                revision,
                is_descending: scan.order == Order::Descending,
                serializable,
                ..between((begin.clone(), end.clone()), limit)
            };
            let answer = self.answer(revision, question).await?;
            revision.get_or_insert(answer.header.revision);
            self.signposts().learn(&answer, &end);
            let last = answer
                .kvs
                .last()
                .filter(|_| answer.more)
                .map(|last| &last.key);
            match (scan.order, last) {
                (Order::Ascending, Some(last)) => from = after(last),
                (Order::Ascending, None) => from = end,
                (Order::Descending, Some(last)) => to = last.clone(),
                (Order::Descending, None) => to = begin,
            }
            found.extend(answer.kvs.into_iter().map(|found| {
                let value = Bytes::from(found.value.0);
                (self.names().key_of(found.key), value)
            }));
        }
        Ok(found)
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

    /// As the owner of the store: an answer that came too late for that is none.
    async fn ask<Q: Question>(&self, question: &Q) -> Result<Q::Answer, KvError> {
        self.owner.check().await?;
        let answer = self.client.call(question, ANSWER).await?;
        self.owner.check().await?;
        Ok(answer)
    }
}

impl Shared {
    pub async fn owned(&self) -> Result<(), KvError> {
        self.owner.confirm(&self.client, &self.names).await
    }

    /// Between large commits.
    pub async fn whole(&self) -> Result<tokio::sync::RwLockReadGuard<'_, ()>, KvError> {
        let gate = tokio::time::timeout(GATE, self.gate.read()).await;
        gate.map_err(|_| KvError::Unreachable {
            reason: "a large commit is not completed yet".to_owned(),
        })
    }

    /// What the keys have now, all at one moment: `None` where there is nothing.
    pub async fn entries(&self, keys: &[Key]) -> Result<Vec<Option<Entry>>, KvError> {
        self.owner.check().await?;
        if let Some(known) = self.cache.look(keys) {
            return Ok(known);
        }
        let (entries, at) = self.entries_at(keys, None).await?;
        self.cache.keep(keys, &entries, at);
        Ok(entries)
    }

    pub async fn revision(&self) -> Result<Number, KvError> {
        let now = self.ask(&one(self.names.store())).await?;
        Ok(now.header.revision)
    }
}
