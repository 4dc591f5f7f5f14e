//! What records say of each other.

use std::collections::{BTreeMap, HashSet};

use common::api::manager::TypeInstance;
use common::model::{
    Configuration, Deployment, DeploymentName, InputConfig, Layout, ManifestName, Operation,
    OperationId, OperationStatus,
};

use super::super::contents::{self, Lists};
use super::super::deployments::{self, Objects};
use super::super::kv::{self, Key};
use super::super::manifests::{self, EXPANSION, Head, INPUT, LAYOUT};
use super::super::operations::{self, OperationRecord};
use super::super::{StoreError, instances, journal, keys};
use super::{Range, Verifying};
use crate::domain;
use crate::domain::operation::State;

impl Verifying {
    /// A deployment has its latest manifest, and the index has its instances; what it was applied as, and who holds
    /// it, belong to one. Gives how many instances there are.
    pub(super) async fn deployments(&mut self) -> Result<u64, StoreError> {
        let mut instances = 0;
        let mut all = Range::of("deployments", keys::deployments());
        while let Some(page) = self.page::<Deployment>(&mut all).await? {
            for (key, deployment) in page {
                instances += self.deployment(&key, &deployment).await?;
            }
        }
        let mut all = Range::of("objects", keys::prefix(&["objects"]));
        while let Some(page) = self.page::<Objects>(&mut all).await? {
            for (key, _) in page {
                self.belongs(&key, keys::deployments(), "there is no such deployment")
                    .await?;
            }
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

    async fn deployment(&mut self, key: &Key, deployment: &Deployment) -> Result<u64, StoreError> {
        let name = &deployment.name;
        let own = *key == keys::deployment(name);
        self.hold(key, own, "its record names another deployment");
        let Some(latest) = &deployment.latest_manifest else {
            return Ok(0);
        };
        let stored = self.has(&keys::manifest(name, latest)).await?;
        self.hold(key, stored, &format!("its manifest {latest} is missing"));
        let Ok(layout) = manifests::layout(&self.store, name, latest).await else {
            // Told with the manifest.
            return Ok(0);
        };
        let expected = domain::instances::of_layout(name, latest, &layout);
        for (key, instance) in instances::keyed(name, &expected) {
            let found = self.store.get::<TypeInstance>(key.clone()).await;
            let same = found.ok().flatten().as_ref() == Some(instance);
            self.hold(
                &key,
                same,
                "the index does not say of it what the layout says",
            );
        }
        Ok(expected.len() as u64)
    }

    /// A manifest has all its pieces, and every piece belongs to one.
    pub(super) async fn manifests(&mut self) -> Result<(), StoreError> {
        let mut used = HashSet::new();
        let mut all = Range::of("manifests", keys::all_manifests());
        while let Some(page) = self.page::<Head>(&mut all).await? {
            for (key, head) in page {
                self.manifest(&key, &head, &mut used).await?;
            }
        }
        let mut all = Range::of("", keys::prefix(&["lists"]));
        while let Some(page) = self.page::<Lists>(&mut all).await? {
            for (key, _) in page {
                self.belongs(&key, keys::all_manifests(), "there is no such manifest")
                    .await?;
            }
        }
        let mut all = Range::of("pieces", keys::prefix(&["content"]));
        while let Some(page) = self.entries_of(&mut all).await? {
            for (key, _) in &page {
                self.hold(key, used.contains(key), "no manifest has this piece");
            }
        }
        Ok(())
    }

    async fn manifest(
        &mut self,
        key: &Key,
        head: &Head,
        used: &mut HashSet<Key>,
    ) -> Result<(), StoreError> {
        let (deployment, name) = (&head.deployment, &head.name);
        let own = *key == keys::manifest(deployment, name);
        self.hold(key, own, "its record names another manifest");
        let known = self.has(&keys::deployment(deployment)).await?;
        self.hold(key, known, "there is no such deployment");
        let lists = contents::lists(&self.store, deployment, name).await;
        for digest in lists.ok().flatten().iter().flat_map(Lists::pieces) {
            used.insert(keys::piece_of(deployment, digest));
        }
        self.parts(key, deployment, name).await;
        Ok(())
    }

    async fn parts(&mut self, key: &Key, deployment: &DeploymentName, name: &ManifestName) {
        let store = self.store.clone();
        let outcomes = [
            contents::get::<InputConfig>(&store, deployment, name, INPUT)
                .await
                .err(),
            contents::get::<Configuration>(&store, deployment, name, EXPANSION)
                .await
                .err(),
            contents::get::<Layout>(&store, deployment, name, LAYOUT)
                .await
                .err(),
        ];
        for error in outcomes.into_iter().flatten() {
            self.tell(key, &common::server::error::chain(&error));
        }
    }

    /// The index has no more instances than the layouts have, and counts them.
    pub(super) async fn instances(&mut self, expected: u64) -> Result<(), StoreError> {
        let mut counts: BTreeMap<Key, i64> = BTreeMap::new();
        let mut all = Range::of("instances", keys::all_instances());
        while let Some(page) = self.page::<TypeInstance>(&mut all).await? {
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

    /// Every operation is indexed; one that is not done holds its deployment, and its journal can be replayed.
    pub(super) async fn operations(&mut self) -> Result<(), StoreError> {
        let mut all = Range::of("operations", keys::operations());
        while let Some(page) = self.page::<OperationRecord>(&mut all).await? {
            for (key, record) in page {
                self.operation(&key, &record.operation).await?;
            }
        }
        for (kind, prefix) in [
            ("", keys::prefix(&["operation-of"])),
            ("unfinished", keys::all_unfinished()),
        ] {
            let mut all = Range::of(kind, prefix);
            while let Some(page) = self.page::<OperationId>(&mut all).await? {
                for (key, id) in page {
                    let there = self.has(&keys::operation(&id)).await?;
                    self.hold(&key, there, "there is no such operation");
                }
            }
        }
        // The journal of an operation of format 1 is there as long as the operation is.
        self.parts_of_operations("journal", "operation").await?;
        self.parts_of_operations("payload", "unfinished").await
    }

    async fn operation(&mut self, key: &Key, operation: &Operation) -> Result<(), StoreError> {
        let (id, deployment) = (&operation.id, &operation.deployment);
        let own = *key == keys::operation(id);
        self.hold(key, own, "its record names another operation");
        let indexed = self.has(&keys::operation_of(deployment, id)).await?;
        self.hold(
            key,
            indexed,
            "the index of the deployment's operations lacks it",
        );
        let runs = self.has(&keys::unfinished(id)).await?;
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

    async fn unfinished(&mut self, key: &Key, operation: &Operation) -> Result<(), StoreError> {
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
            // Told among the entries.
            Err(_) => {}
        }
        if let Err(error) = operations::input(&self.store, id).await {
            self.tell(key, &common::server::error::chain(&error));
        }
        let expanded = self
            .has(&keys::piece(&keys::payload(id, operations::EXPANSION), 0))
            .await?;
        match operations::expansion(&self.store, id).await {
            Err(error) if expanded => self.tell(key, &common::server::error::chain(&error)),
            _ => {}
        }
        Ok(())
    }

    /// What is kept below an operation's id is there only as long as another record of it.
    async fn parts_of_operations(
        &mut self,
        kind: &'static str,
        owner: &str,
    ) -> Result<(), StoreError> {
        let mut all = Range::of(kind, keys::prefix(&[kind]));
        while let Some(page) = self.entries_of(&mut all).await? {
            for (key, _) in &page {
                let id = keys::parts(key).into_iter().nth(1).unwrap_or_default();
                let known = self.has(&keys::key(&[owner, &id])).await?;
                self.hold(key, known, "there is no such operation, or it is done");
            }
        }
        Ok(())
    }

    /// There is a record of the same name below another prefix.
    async fn belongs(&mut self, key: &Key, to: Key, otherwise: &str) -> Result<(), StoreError> {
        let name = key.iter().position(|byte| *byte == 0);
        let name = key.get(name.map_or(0, |at| at + 1)..).unwrap_or_default();
        let there = self.has(&[to.as_slice(), name].concat()).await?;
        self.hold(key, there, otherwise);
        Ok(())
    }
}
