//! What lists choose deployments by, of all deployments, in memory: the store finds records by their names only, and each search
//! would read all of them.
//!
//! ```text
//! commit ──outcome known──► the names that it wrote are touched
//! look   ──reads the touched ones again──► rows ──the page's names──► records
//! ```
//!
//! One manager writes (ADR 0035), so its own commits are all that changes. A look sees every commit that was answered before
//! it began. With 100,000 deployments, the rows take some 30 MiB.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use common::api::page::{Page, PageQuery};
use common::model::limits::PAGE_ITEMS_MAX;
use common::model::{ClusterName, DeploymentName, DeploymentStatus, Namespace};
use jiff::Timestamp;
use serde::Deserialize;

use crate::store::kv::{Commit, Entry, Key, Order};
use crate::store::{Store, StoreError, keys, read, record};

/// The part of a deployment's record that lists choose by.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentRow {
    pub name: DeploymentName,
    pub namespace: Namespace,
    #[serde(default)]
    pub cluster: ClusterName,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    pub state: RowState,
    created_at: Timestamp,
    modified_at: Option<Timestamp>,
}

/// A state without its errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct RowState {
    pub status: DeploymentStatus,
}

impl DeploymentRow {
    /// When it was last written.
    pub fn changed_at(&self) -> Timestamp {
        self.modified_at.unwrap_or(self.created_at)
    }
}

/// The rows of a store. Empty until somebody looks.
#[derive(Debug, Default)]
pub struct Index {
    rows: RwLock<BTreeMap<Key, DeploymentRow>>,
    touched: Mutex<Touched>,
    /// Reads of touched records do not overlap: an older one would win.
    refresh: tokio::sync::Mutex<()>,
}

/// The records that may differ from their rows.
#[derive(Debug, Default)]
enum Touched {
    #[default]
    All,
    Some(BTreeSet<Key>),
}

impl Touched {
    fn add(&mut self, other: Self) {
        match (self, other) {
            (Self::All, _) => {}
            (this, Self::All) => *this = Self::All,
            (Self::Some(these), Self::Some(those)) => these.extend(those),
        }
    }
}

impl Index {
    /// All rows may be wrong.
    pub fn forget(&self) {
        *self.lock() = Touched::All;
    }

    /// The rows of these keys may be wrong.
    pub fn touch(&self, keys: BTreeSet<Key>) {
        self.lock().add(Touched::Some(keys));
    }

    fn lock(&self) -> MutexGuard<'_, Touched> {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn refresh(&self, store: &Store) -> Result<(), StoreError> {
        let _alone = self.refresh.lock().await;
        let mut taken = Taken {
            index: self,
            touched: std::mem::replace(&mut *self.lock(), Touched::Some(BTreeSet::new())),
        };
        match &taken.touched {
            Touched::All => {
                let rows = all(store).await?;
                *self.rows.write().unwrap_or_else(PoisonError::into_inner) = rows;
            }
            Touched::Some(keys) => {
                // Another key is asked for in any case: only the manager that has the store gets an answer.
                let keys: Vec<_> = keys.iter().cloned().chain([keys::format()]).collect();
                let found = store.kv.get_each(keys.clone()).await?;
                let mut changed = keys.into_iter().zip(found).collect::<Vec<_>>();
                changed.pop();
                let row = |(key, entry): (Key, Option<Entry>)| {
                    let row = entry.map(|entry| read::<DeploymentRow>(&key, &entry));
                    row.transpose().map(|row| (key, row))
                };
                let changed: Vec<_> = changed.into_iter().map(row).collect::<Result<_, _>>()?;
                let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
                for (key, row) in changed {
                    match row {
                        Some(row) => rows.insert(key, row),
                        None => rows.remove(&key),
                    };
                }
            }
        }
        taken.touched = Touched::Some(BTreeSet::new());
        Ok(())
    }
}

/// What is being read again. If that does not succeed, it is still to be done.
struct Taken<'a> {
    index: &'a Index,
    touched: Touched,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let left = std::mem::replace(&mut self.touched, Touched::Some(BTreeSet::new()));
        self.index.lock().add(left);
    }
}

/// The records of deployments that a commit writes.
pub fn written(commit: &Commit) -> BTreeSet<Key> {
    let prefix = keys::deployments();
    let put = commit.put.iter().map(|(key, _)| key);
    let keys = put.chain(&commit.delete);
    keys.filter(|key| key.starts_with(&prefix))
        .cloned()
        .collect()
}

async fn all(store: &Store) -> Result<BTreeMap<Key, DeploymentRow>, StoreError> {
    let mut query = PageQuery {
        limit: Some(PAGE_ITEMS_MAX),
        page_token: None,
    };
    let mut rows = BTreeMap::new();
    loop {
        let page = store.page(keys::deployments(), &query, Order::Ascending);
        let page = page.await?;
        for (key, bytes) in page.items {
            let row = read(&key, &bytes)?;
            rows.insert(key, row);
        }
        query.page_token = page.next_page_token;
        if query.page_token.is_none() {
            return Ok(rows);
        }
    }
}

/// # Errors
/// [`StoreError::NotOwner`] in a process that only reads the store.
async fn refreshed(store: &Store) -> Result<&Index, StoreError> {
    let index = store.index.as_deref().ok_or(StoreError::NotOwner)?;
    index.refresh(store).await?;
    Ok(index)
}

/// A page of the deployments that fit, by name.
pub async fn page(
    store: &Store,
    query: &PageQuery,
    fits: impl Fn(&DeploymentRow) -> bool,
) -> Result<Page<DeploymentRow>, StoreError> {
    if query.limit == Some(0) {
        return Err(StoreError::PageLimit);
    }
    // An empty token asks for the first page, like an absent one.
    let token = query.page_token.as_deref();
    let token = token.filter(|token| !token.is_empty());
    let before = token.map(record::token::read).transpose()?;
    let prefix = keys::deployments();
    let after = before.map_or(Bound::Unbounded, |name| {
        Bound::Excluded([prefix.as_slice(), &name].concat())
    });
    let index = refreshed(store).await?;
    let rows = index.rows.read().unwrap_or_else(PoisonError::into_inner);
    let rows = rows.range((after, Bound::Unbounded)).map(|(_, row)| row);
    let rows = rows.filter(|row| fits(row)).take(query.limit() + 1);
    let mut items: Vec<_> = rows.cloned().collect();
    let more = items.len() > query.limit();
    items.truncate(query.limit());
    let last = items.last().filter(|_| more);
    Ok(Page {
        next_page_token: last.map(|row| record::token::write(row.name.as_str().as_bytes())),
        items,
    })
}

/// Calls `look` with each row, by name.
pub async fn each(store: &Store, look: impl FnMut(&DeploymentRow)) -> Result<(), StoreError> {
    let index = refreshed(store).await?;
    let rows = index.rows.read().unwrap_or_else(PoisonError::into_inner);
    rows.values().for_each(look);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::store::kv::MemoryKv;
    use crate::store::{Changes, Store};

    fn key(number: usize) -> Key {
        keys::deployment(&format!("d{number:02}").parse().unwrap())
    }

    fn record(number: usize, status: &str) -> serde_json::Value {
        json!({"name": format!("d{number:02}"), "namespace": "default", "state": {"status": status},
            "createdAt": "2026-01-01T00:00:00Z"})
    }

    async fn rows(store: &Store) -> Vec<DeploymentRow> {
        let mut rows = Vec::new();
        each(store, |row| rows.push(row.clone())).await.unwrap();
        rows
    }

    /// Random commits beside looks, some of which are given up: after each round, the rows are those of the store.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_rows_are_those_of_the_store_whatever_is_committed() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let kv = Arc::new(MemoryKv::default());
        let store = Store::open(kv).await.unwrap();
        for _ in 0..60 {
            let mut tasks = tokio::task::JoinSet::new();
            for _ in 0..random.usize(1..12) {
                let mut changes = Changes::default();
                for number in 0..random.usize(0..4) {
                    let number = number * 5 + random.usize(..5);
                    match random.u8(..4) {
                        0 => changes.delete(key(number)),
                        1 => changes.put(key(number), &record(number, "Failed")).unwrap(),
                        _ => changes
                            .put(key(number), &record(number, "Deployed"))
                            .unwrap(),
                    }
                }
                changes.put(keys::key(&["other", "x"]), &1).unwrap();
                let (store, look, give_up) = (store.clone(), random.bool(), random.bool());
                tasks.spawn(async move {
                    let work = async {
                        store.commit(changes).await.unwrap();
                        if look {
                            rows(&store).await;
                        }
                    };
                    tokio::select! {
                        biased;
                        () = work => {}
                        () = tokio::task::yield_now(), if give_up => {}
                    }
                });
            }
            if random.u8(..10) == 0 {
                store.index.as_ref().unwrap().forget();
            }
            while let Some(done) = tasks.join_next().await {
                done.unwrap();
            }
            // What was given up is still committed, in its own time.
            let mut both = (Vec::new(), Vec::new());
            for _ in 0..10_000 {
                let stored = all(&store).await.unwrap();
                both = (rows(&store).await, stored.into_values().collect());
                if both.0 == both.1 {
                    break;
                }
                tokio::task::yield_now().await;
            }
            assert_eq!(both.0, both.1, "seed {seed}");
        }
    }

    #[tokio::test]
    async fn pages_meet_each_row_that_fits_once() {
        let store = Store::open(Arc::new(MemoryKv::default())).await.unwrap();
        let mut changes = Changes::default();
        for number in 0..20 {
            let status = if number % 3 == 0 {
                "Failed"
            } else {
                "Deployed"
            };
            changes.put(key(number), &record(number, status)).unwrap();
        }
        store.commit(changes).await.unwrap();
        let mut query = PageQuery {
            limit: Some(3),
            page_token: Some(String::new()),
        };
        let mut met = Vec::new();
        loop {
            let failed = |row: &DeploymentRow| row.state.status == DeploymentStatus::Failed;
            let page = page(&store, &query, failed).await.unwrap();
            assert!(page.items.len() <= 3);
            met.extend(page.items.into_iter().map(|row| row.name.to_string()));
            query.page_token = page.next_page_token;
            if query.page_token.is_none() {
                break;
            }
        }
        assert_eq!(met, ["d00", "d03", "d06", "d09", "d12", "d15", "d18"]);
        for (limit, token) in [(Some(0), None), (None, Some("x".to_owned()))] {
            let query = PageQuery {
                limit,
                page_token: token,
            };
            assert!(page(&store, &query, |_| true).await.is_err());
        }
    }
}
