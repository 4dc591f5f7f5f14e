//! Upgrades a store of an older format, one format at a time.
//!
//! A step commits in parts of limited size, and the new format number last. After a crash it starts again, so it must
//! not damage its own results.

use std::collections::BTreeMap;

use common::api::manager::TypeSummary;

use crate::store::kv::{self, Key};
use crate::store::manifests::{EXPANSION, Head, INPUT, LAYOUT, contents, digests};
use crate::store::record::pieces;
use crate::store::{Changes, Store, StoreError, keys, read, record, unusable};

pub async fn run(store: &Store) -> Result<(), StoreError> {
    let key = keys::format();
    let mut format = match store.kv.get(&key).await? {
        Some(entry) => record::version(&entry).map_err(|source| unusable(&key, source))?,
        None => {
            settle(store, record::VERSION).await?;
            record::VERSION
        }
    };
    if format > record::VERSION {
        return Err(StoreError::Newer(format));
    }
    digests::settle(store).await?;
    while format < record::VERSION {
        tracing::info!(
            format,
            "the store has format {format}; it is brought up to date"
        );
        match format {
            1 => to_format_2(store).await?,
            older => return Err(StoreError::Broken(format!("there was no format {older}"))),
        }
        format += 1;
        settle(store, format).await?;
    }
    Ok(())
}

/// Writes the new format number.
async fn settle(store: &Store, format: u32) -> Result<(), StoreError> {
    let bytes =
        record::write_as(format, &format).map_err(|source| unusable(&keys::format(), source))?;
    let mut changes = Changes::default();
    changes.commit.put.push((keys::format(), bytes));
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

    use common::api::page::PageQuery;
    use common::model::{Deployment, DeploymentName, OperationStatus};

    use super::*;
    use crate::auth::Caller;
    use crate::store::kv::{Commit, Kv, MemoryKv};
    use crate::store::maintenance::verify::verify;
    use crate::testing::{TestBed, items};

    /// Stores as each format's manager wrote them: an entry a line, its key and its value. They hold a deployment with
    /// an import and a template, one that failed, the operations of one that is gone, and a create that is cut off.
    const FORMATS: [(u32, &str); 2] = [
        (1, include_str!("formats/format-1.jsonl")),
        (2, include_str!("formats/format-2.jsonl")),
    ];

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
            r#"["format", "{\"version\":3,\"record\":{\"new\":\"shape\"}}"]"#,
        )
        .await;
        let error = Store::open(kv).await.unwrap_err();
        assert!(matches!(error, StoreError::Newer(3)), "{error}");
        assert!(
            error.to_string().contains("run the newer manager"),
            "{error}"
        );
    }
}
