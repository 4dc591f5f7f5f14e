//! Typed records over the port [`kv::Kv`], one file for each noun.
//!
//! It knows keys, records and indexes, and refuses to know why something is written. Writers collect [`Changes`] and
//! commit what belongs together at once.

pub mod broker;
pub mod deployments;
mod keys;
pub mod kv;
pub mod maintenance;
pub mod manifests;
pub mod operations;
pub mod record;
pub mod registries;
pub mod templates;

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use common::api::page::{Page, PageQuery};
use common::model::limits::PAGE_ITEMS_MAX;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::RwLock;

pub use self::record::format;

use self::format::Format;
use self::kv::{
    Candidate, Commit, Entry, EtcdAddress, EtcdKv, EtcdReader, Key, Kv, KvError, Order, Owner,
    Pace, Registered, Scan, SealError, SealedKv, StoreAccess,
};
use self::operations::answers;
use self::operations::fences::Fences;
use self::record::RecordError;
use crate::keys::{KeyPlace, Ring};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(transparent)]
    Kv(#[from] KvError),
    #[error("the record {key:?} is unusable")]
    Record { key: String, source: RecordError },
    #[error(
        "the store has format {0}, and this manager reads up to {max}: run the newer manager that wrote it",
        max = format::NEWEST
    )]
    Newer(u32),
    #[error(
        "the store has format {0}, and this manager reads no format before {oldest}: run a manager of a release in between, and dm admin upgrade there",
        oldest = format::FIRST
    )]
    Older(u32),
    #[error(
        "the store stays in its format, because managers may take it over that cannot read the next one: {}; replace them by this release, and try again 10 s after they have ended",
        named(.0)
    )]
    Behind(Vec<Registered>),
    #[error(
        "a backup is only restored into an empty store, and this one is not: start a manager on a new --store"
    )]
    NotEmpty,
    #[error(
        "the state of {folder} was being moved into this store, and that was cut off: start a manager with --store-from sled:{folder} where this folder is"
    )]
    CutOff { folder: String },
    #[error("this is not a backup that can be restored: {0}")]
    Archive(String),
    /// A missing record that another record refers to.
    #[error("the record of {0} is missing; the store is damaged: restore a backup")]
    Missing(String),
    /// A state that no manager writes.
    #[error("the store or the manager is at fault: {0}")]
    Broken(String),
    /// A question that another process cannot answer.
    #[error("only the manager that has the store can answer this")]
    NotOwner,
    #[error("the page token is not one that this list gave")]
    PageToken,
    #[error("limit is 0: it must be between 1 and {PAGE_ITEMS_MAX}")]
    PageLimit,
}

impl StoreError {
    /// Whether the decision was based on a record that has changed.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Kv(KvError::Conflict))
    }
}

fn named(managers: &[Registered]) -> String {
    let one = |manager: &Registered| {
        let Registered {
            name,
            version,
            reads,
            ..
        } = manager;
        format!("{name}, version {version}, reads up to format {reads}")
    };
    managers.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// The number of entries in one read of a whole range.
const SCAN_ENTRIES: usize = 256;
/// The maximum length of what surrounds the records of a page, including the token.
const AROUND: usize = 1024;

/// The store. Clones share it.
#[derive(Debug, Clone)]
pub struct Store {
    kv: Arc<dyn Kv>,
    /// A restore holds it for writing: everybody else waits, and then finds the restored records.
    gate: Arc<RwLock<()>>,
    fences: Fences,
    format: Format,
    /// None where others write: this process does not learn what changes.
    index: Option<Arc<deployments::index::Index>>,
}

/// Changes to commit together.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    commit: Commit,
}

impl Store {
    /// Opens a store: a new one in the newest format, another one in the format that it has.
    pub async fn open(kv: Arc<dyn Kv>) -> Result<Self, StoreError> {
        let store = Self::over(kv);
        if let Some(folder) = store.get::<String>(keys::transfer()).await? {
            return Err(StoreError::CutOff { folder });
        }
        maintenance::archive::clean(&store).await?;
        maintenance::upgrade::open(&store).await?;
        Ok(store)
    }

    /// A store on etcd that another manager has, for reading. `None` if there is none yet.
    pub async fn of_another(
        address: &EtcdAddress,
        access: &StoreAccess,
        ring: Arc<Ring>,
    ) -> Result<Option<Self>, StoreError> {
        let partial = [keys::restoring(), keys::transfer()];
        let Some(reader) = EtcdReader::open(address, access, &partial).await? else {
            return Ok(None);
        };
        let store = Self {
            index: None,
            ..Self::over(Arc::new(SealedKv::over(Arc::new(reader), ring)))
        };
        let (format, entry) = maintenance::upgrade::found(&store).await?;
        maintenance::upgrade::check(format)?;
        Ok(entry.map(|_| store))
    }

    fn over(kv: Arc<dyn Kv>) -> Self {
        Self {
            kv,
            gate: Arc::default(),
            fences: Fences::default(),
            format: Format::default(),
            index: Some(Arc::default()),
        }
    }

    /// The same store, for the holder of the gate.
    fn without_gate(&self) -> Self {
        self.at(self.kv.clone())
    }

    /// Another state of this store.
    fn at(&self, kv: Arc<dyn Kv>) -> Self {
        Self {
            format: self.format.clone(),
            ..Self::over(kv)
        }
    }

    /// The format in force.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// For a store on disk, with all values sealed.
    pub async fn sealed(kv: Arc<dyn Kv>, place: KeyPlace) -> Result<Arc<dyn Kv>, SealError> {
        Ok(Arc::new(SealedKv::open(kv, place, &keys::format()).await?))
    }

    /// Checks that a store on etcd is this installation's, and that this manager can read it, before it is waited for: another
    /// manager may have it already.
    ///
    /// # Errors
    /// If it is sealed with another key, has another format, or is out of reach.
    pub async fn recognise(
        address: &EtcdAddress,
        access: &StoreAccess,
        ring: &Ring,
    ) -> Result<(), StoreError> {
        let key = keys::format();
        let Some(sealed) = EtcdKv::peek(address, access, &key).await? else {
            return Ok(());
        };
        let format = SealedKv::recognise(ring, &key, &sealed)?;
        SealedKv::prefer(ring, &sealed);
        maintenance::upgrade::check(maintenance::upgrade::said(&format)?)
    }

    /// This manager as one that waits for a store on etcd.
    pub fn candidate(own: Owner, ring: &Arc<Ring>) -> Candidate {
        Candidate::new(own, format::NEWEST).holding(ring.clone(), keys::format())
    }

    /// The managers that have the store or wait for it, where it is a service.
    pub async fn managers(&self) -> Result<Vec<Registered>, StoreError> {
        Ok(self.kv.managers().await?)
    }

    /// Seals with the newest key every value that is not. Returns their number.
    pub async fn reseal(&self) -> Result<u64, StoreError> {
        match self.kv.sealing() {
            Some(sealing) => Ok(sealing.reseal(None).await?),
            None => Ok(0),
        }
    }

    /// Puts the newest key in force: seals with it the entry that says to the next manager which key seals.
    pub async fn enforce_key(&self) -> Result<(), StoreError> {
        match self.kv.sealing() {
            Some(sealing) => Ok(sealing.reseal_entry(keys::format()).await?),
            None => Ok(()),
        }
    }

    /// The keys that seal the values, if they are sealed.
    pub fn ring(&self) -> Option<Arc<Ring>> {
        self.kv.sealing().map(SealedKv::ring)
    }

    /// A snapshot, for reading as long as it takes.
    pub async fn snapshot(&self) -> Result<Self, StoreError> {
        Ok(self.at(self.kv.snapshot().await?))
    }

    /// Checks that the store below holds everything that was committed. Reads all of it.
    pub async fn intact(&self) -> Result<(), StoreError> {
        Ok(self.kv.check(Pace::Fast).await?)
    }

    /// Whether this process still has the store, where others may take it.
    pub async fn owned(&self) -> Result<(), StoreError> {
        Ok(self.kv.owned().await?)
    }

    /// Whether it can be read and written, for the readiness check.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.kv.accepts().await?;
        match self.get::<u32>(keys::format()).await? {
            Some(_) => Ok(()),
            None => Err(StoreError::Missing("the format".to_owned())),
        }
    }

    /// Commits all changes or none. They are durable when it returns.
    pub async fn commit(&self, mut changes: Changes) -> Result<(), StoreError> {
        let keyed = answers::join(self, &mut changes).await?;
        self.durable(changes).await?;
        answers::kept(keyed);
        Ok(())
    }

    async fn durable(&self, changes: Changes) -> Result<(), StoreError> {
        let touched = deployments::index::written(&changes.commit);
        if touched.is_empty() {
            return self.committed(changes).await;
        }
        // A caller that gives up does not end it: only what is committed is known to be touched.
        let store = self.clone();
        let done = tokio::spawn(async move {
            let outcome = store.committed(changes).await;
            if let Some(index) = &store.index {
                index.touch(touched);
            }
            outcome
        });
        match done.await {
            Ok(outcome) => outcome,
            Err(error) => Err(StoreError::Broken(format!("a commit ended: {error}"))),
        }
    }

    async fn committed(&self, changes: Changes) -> Result<(), StoreError> {
        let _open = self.gate.read().await;
        let started = Instant::now();
        let outcome = self.kv.commit(changes.commit).await;
        kv::metrics::committed(&outcome, started.elapsed());
        Ok(outcome?)
    }

    async fn get<T: DeserializeOwned>(&self, key: Key) -> Result<Option<T>, StoreError> {
        let found = self.kv.get(&key).await?;
        found.map(|entry| read(&key, &entry)).transpose()
    }

    /// Every entry below a prefix, in order.
    async fn all(&self, prefix: Key) -> Result<Vec<(Key, Bytes)>, StoreError> {
        let mut found: Vec<(Key, Bytes)> = Vec::new();
        loop {
            let after = found.last().map(|(key, _)| key.clone());
            let scan = Scan {
                prefix: prefix.clone(),
                after,
                limit: SCAN_ENTRIES,
                order: Order::Ascending,
            };
            let more = self.kv.scan(scan).await?;
            let last = more.len() < SCAN_ENTRIES;
            found.extend(more);
            if last {
                return Ok(found);
            }
        }
    }

    /// Every record below a prefix, with the last part of its key.
    async fn named<N, T>(&self, prefix: Key) -> Result<Vec<(N, T)>, StoreError>
    where
        N: std::str::FromStr,
        T: DeserializeOwned,
    {
        let entries = self.all(prefix.clone()).await?;
        let entry = |(key, bytes): &(Key, Bytes)| {
            let name = key.get(prefix.len()..).unwrap_or_default();
            let name = std::str::from_utf8(name)
                .ok()
                .and_then(|text| text.parse().ok());
            let broken = || StoreError::Broken(String::from_utf8_lossy(key).replace('\0', "/"));
            Ok((name.ok_or_else(broken)?, read(key, bytes)?))
        };
        entries.iter().map(entry).collect()
    }

    /// A page of the records below a prefix. The token is the rest of the last key.
    async fn page(
        &self,
        prefix: Key,
        query: &PageQuery,
        order: Order,
    ) -> Result<Page<(Key, Bytes)>, StoreError> {
        if query.limit == Some(0) {
            return Err(StoreError::PageLimit);
        }
        // An empty token asks for the first page, like an absent one.
        let token = query.page_token.as_deref();
        let after = token.filter(|token| !token.is_empty()).map(|token| {
            record::token::read(token).map(|rest| [prefix.as_slice(), &rest].concat())
        });
        let after = after.transpose()?;
        let limit = query.limit();
        let scan = Scan {
            prefix: prefix.clone(),
            after,
            limit: limit + 1,
            order,
        };
        let mut items = self.kv.scan(scan).await?;
        let more = items.len() > limit;
        items.truncate(limit);
        let last = items.last().filter(|_| more);
        let next_page_token =
            last.map(|(key, _)| record::token::write(key.get(prefix.len()..).unwrap_or_default()));
        Ok(Page {
            items,
            next_page_token,
        })
    }

    /// A page of records as JSON. `item` finds an item in the text of a record, if it can: parsing and writing all of them
    /// again would be most of the work of a list.
    async fn listed<T: Serialize + DeserializeOwned>(
        &self,
        prefix: Key,
        query: &PageQuery,
        item: impl Fn(&str) -> Option<[&str; 2]>,
    ) -> Result<String, StoreError> {
        let page = self.page(prefix, query, Order::Ascending).await?;
        let size: usize = page.items.iter().map(|(_, bytes)| bytes.len()).sum();
        let mut text = String::with_capacity(size + page.items.len() + AROUND);
        text.push_str(r#"{"items":["#);
        for (index, (key, bytes)) in page.items.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            match record::text(bytes).and_then(&item) {
                Some(parts) => text.extend(parts),
                None => text.push_str(&json(&read::<T>(key, bytes)?)?),
            }
        }
        text.push(']');
        if let Some(token) = page.next_page_token {
            text.push_str(r#","nextPageToken":"#);
            text.push_str(&json(&token)?);
        }
        text.push('}');
        Ok(text)
    }

    /// A page of stored records.
    async fn records<T: DeserializeOwned>(
        &self,
        prefix: Key,
        query: &PageQuery,
        order: Order,
    ) -> Result<Page<T>, StoreError> {
        let page = self.page(prefix, query, order).await?;
        let items = page
            .items
            .iter()
            .map(|(key, bytes)| read(key, bytes))
            .collect::<Result<_, _>>()?;
        Ok(Page {
            items,
            next_page_token: page.next_page_token,
        })
    }
}

impl Changes {
    fn put<T: Serialize>(&mut self, key: Key, record: &T) -> Result<(), StoreError> {
        let bytes = record::write(record).map_err(|source| unusable(&key, source))?;
        self.commit.put.push((key, bytes));
        Ok(())
    }

    /// As [`Self::put`], of a record that has had its shape since that format.
    fn put_as<T: Serialize>(
        &mut self,
        format: u32,
        key: Key,
        record: &T,
    ) -> Result<(), StoreError> {
        let written = record::write_as(format, record);
        let bytes = written.map_err(|source| unusable(&key, source))?;
        self.commit.put.push((key, bytes));
        Ok(())
    }

    fn delete(&mut self, key: Key) {
        self.commit.delete.push(key);
    }

    /// Deletes everything below a prefix, also what these changes put there.
    fn delete_prefix(&mut self, prefix: Key) {
        self.commit.delete_prefix.push(prefix);
    }

    /// A number that several writers may change at the same time.
    fn add(&mut self, key: Key, by: i64) {
        self.commit.add.push((key, by));
    }

    /// A caller waits for these changes: they go before those that nobody waits for.
    pub fn hurry(&mut self) {
        self.commit.is_urgent = true;
    }

    fn expect(&mut self, key: Key, entry: Option<Entry>) {
        self.commit.expect.push((key, entry));
    }
}

fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Broken(error.to_string()))
}

fn read<T: DeserializeOwned>(key: &[u8], bytes: &[u8]) -> Result<T, StoreError> {
    record::read(bytes).map_err(|source| unusable(key, source))
}

fn unusable(key: &[u8], source: RecordError) -> StoreError {
    StoreError::Record {
        key: keys::shown(key),
        source,
    }
}

#[cfg(test)]
mod tests;
