//! Stored Template objects, by namespace and name.

use common::api::page::{Page, PageQuery};
use common::model::{Namespace, TemplateName};
use serde_json::Value;

use super::kv::{Entry, Order};
use super::{Changes, Store, StoreError, keys, read};

/// A Template with the entry that was read, to find out at the commit whether it has changed.
#[derive(Debug, Clone)]
pub struct Found {
    pub document: Value,
    entry: Entry,
}

pub async fn find(
    store: &Store,
    namespace: &Namespace,
    name: &TemplateName,
) -> Result<Option<Found>, StoreError> {
    let key = keys::template(namespace, name);
    let Some(entry) = store.kv.get(&key).await? else {
        return Ok(None);
    };
    Ok(Some(Found {
        document: read(&key, &entry)?,
        entry,
    }))
}

/// A page of a namespace, by name.
pub async fn list(
    store: &Store,
    namespace: &Namespace,
    page: &PageQuery,
) -> Result<Page<Value>, StoreError> {
    store
        .records(keys::templates(namespace), page, Order::Ascending)
        .await
}

/// All of a namespace, by name.
pub async fn all(store: &Store, namespace: &Namespace) -> Result<Vec<Value>, StoreError> {
    let found = store.all(keys::templates(namespace)).await?;
    let found = found.iter().map(|(key, bytes)| read(key, bytes));
    found.collect()
}

/// Writes a Template; a conflict if it is not what was found. Nothing found: it must not exist.
pub async fn put(
    store: &Store,
    namespace: &Namespace,
    name: &TemplateName,
    found: Option<&Found>,
    document: &Value,
) -> Result<(), StoreError> {
    let key = keys::template(namespace, name);
    let mut changes = Changes::default();
    changes.expect(key.clone(), found.map(|found| found.entry.clone()));
    changes.put(key, document)?;
    store.commit(changes).await
}

/// Removes what was found; a conflict if it has changed since.
pub async fn delete(
    store: &Store,
    namespace: &Namespace,
    name: &TemplateName,
    found: &Found,
) -> Result<(), StoreError> {
    let key = keys::template(namespace, name);
    let mut changes = Changes::default();
    changes.expect(key.clone(), Some(found.entry.clone()));
    changes.delete(key);
    store.commit(changes).await
}
