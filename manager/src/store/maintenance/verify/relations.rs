//! Checks what records say about each other.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use common::model::{
    Configuration, Deployment, Identity, InputConfig, Layout, Operation, OperationId,
    OperationStatus,
};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::de::DeserializeOwned;

use super::{AT_ONCE, Range, Verifying};
use crate::domain;
use crate::domain::manifest::resolution::Recorded;
use crate::domain::operation::State;
use crate::store::deployments;
use crate::store::kv::{self, Key};
use crate::store::manifests::contents::{self, Lists};
use crate::store::manifests::instances::{self, Indexed};
use crate::store::manifests::{self, EXPANSION, Head, INPUT, LAYOUT, TEMPLATES};
use crate::store::operations::journal;
use crate::store::operations::{self, OperationRecord};
use crate::store::{SCAN_ENTRIES, StoreError, keys, read};

impl Verifying {
    /// A deployment has its latest manifest, and the index has its instances. The records of its last apply and of its
    /// lock belong to a deployment. Returns the number of instances.
    pub(super) async fn deployments(&self) -> Result<u64, StoreError> {
        let mut instances = 0;
        let mut all = Range::of("deployments", keys::deployments());
        while let Some(page) = self.page::<Deployment>(&mut all).await? {
            let each = page.iter().map(|(key, found)| self.deployment(key, found));
            let counts: Vec<_> = stream::iter(each).buffered(AT_ONCE).try_collect().await?;
            instances += counts.into_iter().sum::<u64>();
        }
        self.objects().await?;
        let mut all = Range::of("writers", keys::writers());
        while let Some(page) = self.page::<Identity>(&mut all).await? {
            let wanted = page
                .into_iter()
                .map(|(key, _)| belongs_to(key, keys::deployments()));
            self.hold_each(wanted.collect(), "there is no such deployment")
                .await?;
        }
        let mut all = Range::of("locks", keys::prefix(&["lock"]));
        while let Some(page) = self.page::<OperationId>(&mut all).await? {
            for (key, id) in page {
                let runs = self.has(&keys::unfinished(&id)).await?;
                self.hold(
                    &key,
                    runs,
                    &format!("operation {id} holds it and does not run"),
                );
            }
        }
        Ok(instances)
    }

    async fn deployment(&self, key: &Key, deployment: &Deployment) -> Result<u64, StoreError> {
        let name = &deployment.name;
        let own = *key == keys::deployment(name);
        self.hold(key, own, "its record names another deployment");
        let cluster = &deployment.cluster;
        let placed = cluster.is_default() || self.has(&keys::cluster(cluster)).await?;
        self.hold(key, placed, &format!("there is no cluster {cluster}"));
        let Some(latest) = &deployment.latest_manifest else {
            return Ok(0);
        };
        let stored = self.has(&keys::manifest(name, latest)).await?;
        self.hold(key, stored, &format!("its manifest {latest} is missing"));
        let Ok(layout) = manifests::layout(&self.store, name, latest).await else {
            // Reported with the manifest.
            return Ok(0);
        };
        let expected = domain::manifest::instances::of_layout(name, latest, &layout);
        for some in instances::keyed(name, &expected).chunks(SCAN_ENTRIES) {
            let keys = some.iter().map(|(key, _)| key.clone()).collect();
            let found = self.store.kv.get_each(keys).await?;
            for ((key, instance), found) in some.iter().zip(found) {
                let same =
                    found.is_some_and(|bytes| instances::is(&self.store, key, &bytes, instance));
                self.hold(
                    key,
                    same,
                    "the index does not say of it what the layout says",
                );
            }
        }
        Ok(expected.len() as u64)
    }

    /// A manifest has all its pieces, and every piece belongs to a manifest.
    pub(super) async fn manifests(&self) -> Result<(), StoreError> {
        let mut all = Range::of("manifests", keys::all_manifests());
        while let Some(page) = self.page::<Head>(&mut all).await? {
            let each = page.iter().map(|(key, head)| self.manifest(key, head));
            stream::iter(each)
                .buffered(AT_ONCE)
                .try_collect::<()>()
                .await?;
        }
        let mut all = Range::of("", keys::prefix(&["lists"]));
        while let Some(page) = self.page::<Lists>(&mut all).await? {
            let wanted = page
                .into_iter()
                .map(|(key, _)| belongs_to(key, keys::all_manifests()));
            self.hold_each(wanted.collect(), "there is no such manifest")
                .await?;
        }
        self.pieces().await
    }

    /// The pieces of a deployment are adjacent, so only the lists of one page's deployments are in memory.
    async fn pieces(&self) -> Result<(), StoreError> {
        let mut all = Range::of("pieces", keys::prefix(&["content"]));
        while let Some(page) = self.entries_of(&mut all).await? {
            let pieces: Vec<_> = page.iter().map(|(key, _)| (key, piece(key))).collect();
            let deployments: BTreeSet<_> = pieces.iter().map(|(_, [name, _])| name).collect();
            let each = deployments.iter().map(|name| self.named(name));
            let used: Vec<_> = stream::iter(each).buffered(AT_ONCE).try_collect().await?;
            let used: BTreeMap<_, _> = deployments.into_iter().zip(used).collect();
            for (key, [deployment, digest]) in &pieces {
                let is_used = used
                    .get(deployment)
                    .is_some_and(|used| used.contains(digest));
                if !is_used && !self.held(deployment).await? {
                    self.tell(key, "no manifest has this piece");
                }
            }
        }
        Ok(())
    }

    /// Whether an operation holds a deployment. An interrupted removal of manifests removes their pieces when it is
    /// resumed.
    async fn held(&self, deployment: &str) -> Result<bool, StoreError> {
        let lock = keys::key(&["lock", deployment]);
        self.has(&lock).await
    }

    /// The digests of all pieces that a deployment's manifests name.
    async fn named(&self, deployment: &str) -> Result<HashSet<String>, StoreError> {
        let lists = self.store.all(keys::prefix(&["lists", deployment])).await?;
        // Unreadable ones are reported with the entries.
        let lists = lists
            .iter()
            .filter_map(|(key, bytes)| read::<Lists>(key, bytes).ok());
        Ok(lists
            .flat_map(|lists| lists.parts.into_values().flatten())
            .collect())
    }

    async fn manifest(&self, key: &Key, head: &Head) -> Result<(), StoreError> {
        let (deployment, name) = (&head.deployment, &head.name);
        let own = *key == keys::manifest(deployment, name);
        self.hold(key, own, "its record names another manifest");
        let known = self.has(&keys::deployment(deployment)).await?;
        self.hold(key, known, "there is no such deployment");
        let lists = contents::lists(&self.store, deployment, name).await;
        // Unreadable ones are reported with the entries.
        let lists = lists.ok().flatten().unwrap_or_default();
        self.part::<InputConfig>(key, head, &lists, INPUT).await;
        self.part::<Configuration>(key, head, &lists, EXPANSION)
            .await;
        self.part::<Layout>(key, head, &lists, LAYOUT).await;
        if lists.parts.contains_key(TEMPLATES) {
            self.part::<Vec<Recorded>>(key, head, &lists, TEMPLATES)
                .await;
        }
        Ok(())
    }

    /// A part exists and can be read.
    async fn part<T: DeserializeOwned + Send + 'static>(
        &self,
        key: &Key,
        head: &Head,
        lists: &Lists,
        part: &str,
    ) {
        let (deployment, name) = (&head.deployment, &head.name);
        let found = contents::find_in::<T>(&self.store, deployment, name, lists, part).await;
        let missing = || contents::missing(deployment, name, part);
        if let Err(error) = found.and_then(|found| found.ok_or_else(missing)) {
            self.tell(key, &common::server::answer::error::chain(&error));
        }
    }

    /// The index has no more instances than the layouts, and the counts are right.
    pub(super) async fn instances(&self, expected: u64) -> Result<(), StoreError> {
        let mut counts: BTreeMap<Key, i64> = BTreeMap::new();
        let mut all = Range::of("instances", keys::all_instances());
        while let Some(page) = self.page::<Indexed>(&mut all).await? {
            for (_, instance) in page {
                *counts
                    .entry(keys::type_count(&instance.type_name))
                    .or_default() += 1;
            }
        }
        let indexed: i64 = counts.values().sum();
        let more = indexed.saturating_sub_unsigned(expected);
        let none = format!("the index names {more} instances that no layout has");
        self.hold(&keys::all_instances(), more <= 0, &none);
        let mut all = Range::of("types", keys::types());
        while let Some(page) = self.entries_of(&mut all).await? {
            for (key, value) in &page {
                let there = counts.remove(key).unwrap_or_default();
                let same = kv::number(value) == Some(there);
                self.hold(key, same, &format!("the index names {there} of this type"));
            }
        }
        for (key, count) in counts {
            let message = format!("the index names {count} of this type, and they are not counted");
            self.tell(&key, &message);
        }
        Ok(())
    }

    /// Every operation is indexed. An unfinished one holds its deployment, and its journal can be replayed.
    pub(super) async fn operations(&self) -> Result<(), StoreError> {
        let mut all = Range::of("operations", keys::operations());
        let has_fence = self.has(&keys::fence()).await?;
        while let Some(page) = self.page::<OperationRecord>(&mut all).await? {
            let is_numbered = page.iter().any(|(_, record)| record.take.is_some());
            let holds = has_fence || !is_numbered;
            self.hold(
                &keys::fence(),
                holds,
                "operations have numbers, and the last number is missing",
            );
            let operations = page.iter().map(|(_, record)| &record.operation);
            let indexed = operations
                .clone()
                .map(|of| keys::operation_of(&of.deployment, &of.id));
            let indexed = self.store.kv.get_each(indexed.collect()).await?;
            let runs = operations.map(|operation| keys::unfinished(&operation.id));
            let runs = self.store.kv.get_each(runs.collect()).await?;
            for (((key, record), indexed), runs) in page.iter().zip(indexed).zip(runs) {
                self.operation(key, &record.operation, indexed.is_some(), runs.is_some())
                    .await?;
            }
        }
        for (kind, prefix) in [
            ("", keys::prefix(&["operation-of"])),
            ("unfinished", keys::all_unfinished()),
        ] {
            let mut all = Range::of(kind, prefix);
            while let Some(page) = self.page::<OperationId>(&mut all).await? {
                let wanted = page
                    .into_iter()
                    .map(|(key, id)| (key, keys::operation(&id)));
                self.hold_each(wanted.collect(), "there is no such operation")
                    .await?;
            }
        }
        // In format 1, journals are kept as long as their operations.
        self.parts_of_operations("journal", "operation").await?;
        self.parts_of_operations("payload", "unfinished").await
    }

    async fn operation(
        &self,
        key: &Key,
        operation: &Operation,
        indexed: bool,
        runs: bool,
    ) -> Result<(), StoreError> {
        let own = *key == keys::operation(&operation.id);
        self.hold(key, own, "its record names another operation");
        self.hold(
            key,
            indexed,
            "the index of the deployment's operations lacks it",
        );
        let should = operation.status != OperationStatus::Done;
        self.hold(
            key,
            runs == should,
            "the index of what is unfinished is wrong about it",
        );
        match should {
            true => self.unfinished(key, operation).await,
            false => Ok(()),
        }
    }

    async fn unfinished(&self, key: &Key, operation: &Operation) -> Result<(), StoreError> {
        let (id, deployment) = (&operation.id, &operation.deployment);
        let holder = deployments::holder(&self.store, deployment).await;
        let holds = holder.ok().flatten().as_ref() == Some(id);
        self.hold(
            key,
            holds,
            &format!("it does not hold its deployment {deployment}"),
        );
        let events = journal::read_all(&self.store, id).await;
        match events.map(|events| State::replay(&events)) {
            Ok(Ok(state)) => {
                let same = state.status() == operation.status;
                self.hold(
                    key,
                    same,
                    "its journal leads to another state than its record",
                );
            }
            Ok(Err(error)) => self.tell(key, &format!("its journal cannot be replayed: {error}")),
            // Reported with the entries.
            Err(_) => {}
        }
        if let Err(error) = operations::input(&self.store, id).await {
            self.tell(key, &common::server::answer::error::chain(&error));
        }
        let expanded = self
            .has(&keys::piece(&keys::payload(id, operations::EXPANSION), 0))
            .await?;
        match operations::expansion(&self.store, id).await {
            Err(error) if expanded => self.tell(key, &common::server::answer::error::chain(&error)),
            _ => {}
        }
        Ok(())
    }

    /// Records below an operation's id exist only together with the operation.
    async fn parts_of_operations(&self, kind: &'static str, owner: &str) -> Result<(), StoreError> {
        let mut all = Range::of(kind, keys::prefix(&[kind]));
        while let Some(page) = self.entries_of(&mut all).await? {
            let wanted = page.into_iter().map(|(key, _)| {
                let id = keys::parts(&key).into_iter().nth(1).unwrap_or_default();
                (key, keys::key(&[owner, &id]))
            });
            self.hold_each(
                wanted.collect(),
                "there is no such operation, or it is done",
            )
            .await?;
        }
        Ok(())
    }

    /// Reports each key without a counterpart.
    pub(super) async fn hold_each(
        &self,
        pairs: Vec<(Key, Key)>,
        otherwise: &str,
    ) -> Result<(), StoreError> {
        let (keys, wanted): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let found = self.store.kv.get_each(wanted).await?;
        for (key, found) in keys.iter().zip(found) {
            self.hold(key, found.is_some(), otherwise);
        }
        Ok(())
    }
}

/// A key, and the key of the same name below another prefix.
pub(super) fn belongs_to(key: Key, to: Key) -> (Key, Key) {
    let name = key.iter().position(|byte| *byte == 0);
    let name = key.get(name.map_or(0, |at| at + 1)..).unwrap_or_default();
    let wanted = [to.as_slice(), name].concat();
    (key, wanted)
}

/// The deployment and the digest of a piece of contents.
fn piece(key: &[u8]) -> [String; 2] {
    let mut parts = keys::parts(key).into_iter().skip(1);
    [parts.next(), parts.next()].map(Option::unwrap_or_default)
}
