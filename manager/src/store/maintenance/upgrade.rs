//! Raises the format of a store, one at a time.
//!
//! ```text
//! open     a new store: the newest format          one before OLDEST: brought to OLDEST          others: as they are
//! raise    no registered manager reads less than the newest ──► the next format is in force ──► …
//! ```
//!
//! A step commits in parts of limited size, and the new format number last. After a crash it starts again, so it must
//! not damage its own results. A manager that reads less refuses the store from then on.

use std::collections::BTreeMap;

use common::api::manager::TypeSummary;

use crate::store::format::{FIRST, NEWEST, OLDEST};
use crate::store::kv::{self, Entry, Key, Registered};
use crate::store::manifests::{EXPANSION, Head, INPUT, LAYOUT, contents, digests};
use crate::store::record::pieces;
use crate::store::{Changes, Store, StoreError, keys, read, record, unusable};

/// Brings a store that is opened to a format that this program writes.
pub async fn open(store: &Store) -> Result<(), StoreError> {
    let (mut format, mut entry) = found(store).await?;
    if entry.is_none() {
        settle(store, NEWEST, None).await?;
        (format, entry) = found(store).await?;
    }
    check(format)?;
    digests::settle(store).await?;
    while format < OLDEST {
        tracing::info!(
            format,
            "the store has format {format}; it is brought up to date"
        );
        step(store, format).await?;
        settle(store, format + 1, entry).await?;
        (format, entry) = found(store).await?;
    }
    store.format().is(format);
    Ok(())
}

/// # Errors
/// If this program cannot read the format.
pub fn check(format: u32) -> Result<(), StoreError> {
    match format {
        newer if newer > NEWEST => Err(StoreError::Newer(newer)),
        older if older < FIRST => Err(StoreError::Older(older)),
        _ => Ok(()),
    }
}

/// The format that an entry says.
pub fn said(bytes: &[u8]) -> Result<u32, StoreError> {
    record::version(bytes).map_err(|source| unusable(&keys::format(), source))
}

/// The format that a store says, with the entry. A new store has no entry.
pub async fn found(store: &Store) -> Result<(u32, Option<Entry>), StoreError> {
    match store.kv.get(&keys::format()).await? {
        Some(entry) => Ok((said(&entry)?, Some(entry))),
        None => Ok((NEWEST, None)),
    }
}

/// Puts the newest format in force. Older managers refuse the store from then on.
///
/// # Errors
/// [`StoreError::Behind`] if a manager that cannot read it may take the store over.
pub async fn raise(store: &Store) -> Result<(), StoreError> {
    let behind = store.managers().await?;
    let behind: Vec<Registered> = behind
        .into_iter()
        .filter(|manager| manager.reads < NEWEST)
        .collect();
    if !behind.is_empty() {
        return Err(StoreError::Behind(behind));
    }
    loop {
        let (format, entry) = found(store).await?;
        store.format().is(format);
        if format >= NEWEST {
            return Ok(());
        }
        step(store, format).await?;
        match settle(store, format + 1, entry).await {
            // Somebody else raises it too.
            Err(error) if error.is_conflict() => {}
            Err(error) => return Err(error),
            Ok(()) => tracing::info!("the store has format {} from now on", format + 1),
        }
    }
}

/// Makes the records those of the next format, where that does not read the ones of this format.
async fn step(store: &Store, format: u32) -> Result<(), StoreError> {
    match format {
        1 => to_format_2(store).await,
        // Format 3 reads all records of format 2. Each is written again when it changes.
        _ => Ok(()),
    }
}

/// Writes the new format number.
async fn settle(store: &Store, format: u32, before: Option<Entry>) -> Result<(), StoreError> {
    let mut changes = Changes::default();
    changes.expect(keys::format(), before);
    changes.put_as(format, keys::format(), &format)?;
    store.commit(changes).await
}

async fn to_format_2(store: &Store) -> Result<(), StoreError> {
    for (key, bytes) in store.all(keys::all_manifests()).await? {
        share_pieces(store, &read(&key, &bytes)?).await?;
    }
    for (key, bytes) in store.all(keys::types()).await? {
        if kv::number(&bytes).is_none() {
            let TypeSummary { instances, .. } = read(&key, &bytes)?;
            let mut changes = Changes::default();
            changes.commit.put.push((key, instances.to_string().into()));
            store.commit(changes).await?;
        }
    }
    Ok(())
}

/// Format 1 split contents every 64 KiB, under the manifest's name.
async fn share_pieces(store: &Store, head: &Head) -> Result<(), StoreError> {
    let mut changes = Changes::default();
    let mut parts = BTreeMap::new();
    for part in [INPUT, EXPANSION, LAYOUT] {
        let prefix = pieces_of_format_1(head, part);
        let found = store.all(prefix.clone()).await?;
        if !found.is_empty() {
            parts.insert(part.to_owned(), contents::cut(pieces::joined(&found)));
        }
        found.into_iter().for_each(|(key, _)| changes.delete(key));
    }
    if parts.is_empty() {
        return Ok(());
    }
    contents::put(store, &mut changes, &head.deployment, &head.name, parts).await?;
    store.commit(changes).await
}

fn pieces_of_format_1(head: &Head, part: &str) -> Key {
    keys::prefix(&["piece", head.deployment.as_str(), head.name.as_str(), part])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use common::api::page::PageQuery;
    use common::model::{Deployment, DeploymentName, DeploymentSummary, OperationStatus};

    use super::*;
    use crate::auth::Caller;
    use crate::store::kv::{Commit, Kv, MemoryKv};
    use crate::store::maintenance::archive;
    use crate::store::maintenance::verify::verify;
    use crate::testing::{TestBed, items};

    /// Stores as each format's manager wrote them: an entry a line, its key and its value. They hold a deployment with
    /// an import and a template, one that failed, the operations of one that is gone, and a create that is cut off.
    const FORMATS: [(u32, &str); 2] = [
        (1, include_str!("formats/format-1.jsonl")),
        (2, include_str!("formats/format-2.jsonl")),
    ];

    /// What `dm admin backup` of the last build before format 3 wrote, of the same deployments. Its manager was going on with the
    /// create that is cut off in the others.
    const BACKUP: &str = include_str!("formats/backup-2.jsonl");

    async fn filled(kv: &dyn Kv, entries: &str) {
        let entry = |line| {
            let (key, value): (String, String) = serde_json::from_str(line).unwrap();
            (key.into_bytes(), value.into())
        };
        let commit = Commit {
            put: entries.lines().map(entry).collect(),
            ..Commit::default()
        };
        kv.commit(commit).await.unwrap();
    }

    async fn everything_is_read(bed: &TestBed) {
        let app = bed.manager().await;
        let services = &app.services;
        let page = PageQuery::default();
        let web: DeploymentName = "web".parse().unwrap();
        let deployments: Vec<Deployment> = items(
            &services
                .deployments
                .list(&page.clone().into(), &Caller::default())
                .await
                .unwrap(),
        );
        let names: Vec<_> = deployments
            .iter()
            .map(|found| found.name.as_str())
            .collect();
        assert_eq!(names, ["failed", "web"]);
        assert_eq!(deployments[1].labels["team"], "shop");
        let manifests = services.manifests.list(&web, &page).await.unwrap().items;
        assert_eq!(manifests.len(), 2);
        let first = services
            .manifests
            .get(&web, &manifests[0].name)
            .await
            .unwrap();
        let notes = &first.input_config.imports[0].content;
        assert_eq!(*notes, "a line of notes\n".repeat(4500));
        assert_eq!(
            first.layout.resources[0].properties.as_ref().unwrap()["grüße"],
            "welt"
        );
        assert_eq!(first.resolved_types.len(), 1);
        let types = services
            .types
            .list(&page, &Caller::default())
            .await
            .unwrap()
            .items;
        let counts: Vec<_> = types
            .iter()
            .map(|t| (t.name.as_str(), t.instances))
            .collect();
        assert_eq!(counts, [("Pod", 1), ("apps/v1:Deployment", 1)]);
        let operations = services
            .operations
            .list(None, &page, &Caller::default())
            .await
            .unwrap()
            .items;
        assert_eq!(operations.len(), 6);
        assert_eq!(app.engine.recover().await.unwrap(), 1);
        let unfinished = app.engine.handle(&operations[0].id).unwrap();
        let outcome = unfinished.outcome().await.unwrap();
        assert_eq!(outcome.operation.status, OperationStatus::Done);
        assert_eq!(outcome.operation.error, None);
        app.engine.suspend().await;
    }

    #[tokio::test]
    async fn a_store_of_every_format_is_brought_up_to_date_and_read() {
        for (format, entries) in FORMATS {
            let bed = TestBed::new();
            filled(&*bed.kv, entries).await;
            let store = Store::open(bed.kv.clone()).await.unwrap();
            let found = verify(&store).await.unwrap();
            assert!(found.ok, "format {format}: {:?}", found.problems);
            everything_is_read(&bed).await;
            assert!(verify(&store).await.unwrap().ok, "format {format}");
        }
    }

    #[tokio::test]
    async fn a_backup_of_before_keeps_its_format_until_it_is_raised() {
        let bed = TestBed::new();
        let store = Store::open(bed.kv.clone()).await.unwrap();
        let backup = Bytes::from_static(BACKUP.as_bytes());
        let backup = futures::stream::iter([Ok::<_, String>(backup)]);
        archive::restore(&store, backup).await.unwrap();
        assert_eq!(store.format().number(), OLDEST);
        raise(&store).await.unwrap();
        assert_eq!(store.format().number(), NEWEST);
        let found = verify(&store).await.unwrap();
        assert!(found.ok, "{:?}", found.problems);
        let page = PageQuery::default();
        let app = bed.manager().await;
        let listed = app.services.deployments;
        let listed = listed.list(&page.into(), &Caller::default()).await.unwrap();
        let names: Vec<_> = items::<DeploymentSummary>(&listed)
            .into_iter()
            .map(|found| found.name.to_string())
            .collect();
        assert_eq!(names, ["failed", "unfinished", "web"]);
    }

    #[tokio::test]
    async fn an_upgrade_that_is_cut_off_after_any_commit_is_finished_by_the_next_start() {
        for commits in 0..6 {
            let bed = TestBed::new();
            filled(&*bed.kv, FORMATS[0].1).await;
            let dying = crate::testing::DyingKv::after(commits, bed.kv.clone());
            assert!(Store::open(dying).await.is_err(), "{commits}");
            let store = Store::open(bed.kv.clone()).await.unwrap();
            let found = verify(&store).await.unwrap();
            assert!(found.ok, "after {commits} commits: {:?}", found.problems);
        }
    }

    #[tokio::test]
    async fn a_store_of_a_newer_manager_is_refused_and_says_what_to_do() {
        let kv = Arc::new(MemoryKv::default());
        filled(
            &*kv,
            r#"["format", "{\"version\":4,\"record\":{\"new\":\"shape\"}}"]"#,
        )
        .await;
        let error = Store::open(kv).await.unwrap_err();
        assert!(matches!(error, StoreError::Newer(4)), "{error}");
        assert!(
            error.to_string().contains("run the newer manager"),
            "{error}"
        );
    }
}
