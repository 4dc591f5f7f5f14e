//! Checks the store: every record can be read, and the records agree with each other.
//!
//! It reads a snapshot, so it may take its time. It refuses to know how to repair anything: a broken store is restored
//! from a backup.

mod objects;
mod relations;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use common::api::admin::{Problem, Verification};
use common::canonical;
use common::model::{Deployment, Identity, OperationId, Output, RegistryDefinition};
use serde::de::DeserializeOwned;

use crate::store::deployments::clusters::ClusterRecord;
use crate::store::deployments::recorded::ObjectsRecord;
use crate::store::kv::{self, Key, Order, Scan};
use crate::store::manifests::Head;
use crate::store::manifests::contents::Lists;
use crate::store::manifests::digests::Digests;
use crate::store::manifests::instances::Indexed;
use crate::store::operations::fences::Take;
use crate::store::operations::requests::Request;
use crate::store::operations::{OperationRecord, StopWish, journal};
use crate::store::registries::credentials::CredentialRecord;
use crate::store::{SCAN_ENTRIES, Store, StoreError, broker, keys, read};

/// The maximum number of listed problems.
const LISTED: usize = 100;

/// Checks the whole store. An error means that it cannot be read.
pub async fn verify(store: &Store) -> Result<Verification, StoreError> {
    let verifying = Verifying {
        store: store.snapshot().await?,
        found: Mutex::default(),
    };
    if let Err(error) = store.intact().await {
        verifying.tell(&keys::format(), &error.to_string());
    }
    verifying.all().await?;
    let keys = match verifying.store.kv.sealing() {
        Some(sealing) => sealing.keys_in_use().await?,
        None => BTreeMap::new(),
    };
    let found = mem::take(&mut *verifying.found());
    Ok(Verification {
        keys: keys
            .into_iter()
            .map(|(id, count)| (id.to_string(), count))
            .collect(),
        ok: found.problems.is_empty(),
        checked: found.checked,
        problems: found.problems,
        further: found.further,
    })
}

/// Records that are looked at at once: on etcd, most of the time is spent waiting for answers.
const AT_ONCE: usize = 16;

struct Verifying {
    store: Store,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    checked: BTreeMap<String, u64>,
    problems: Vec<Problem>,
    further: u64,
}

impl Verifying {
    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn all(&self) -> Result<(), StoreError> {
        self.entries().await?;
        let instances = self.deployments().await?;
        self.manifests().await?;
        self.instances(instances).await?;
        self.operations().await
    }

    /// Every key is in the table of keys, and every record can be read.
    async fn entries(&self) -> Result<(), StoreError> {
        let known = self.has(&keys::format()).await?;
        self.hold(
            &keys::format(),
            known,
            "nothing says which format the store has",
        );
        let digests = Digests::read(&self.store).await;
        let known = digests.as_ref().err().map(ToString::to_string);
        self.hold(
            &keys::digests(),
            known.is_none(),
            &known.unwrap_or_default(),
        );
        let digests = digests.ok();
        let mut range = Range::of("entries", Key::new());
        while let Some(page) = self.entries_of(&mut range).await? {
            for (key, value) in &page {
                if let Err(reason) = readable(key, value, digests.as_ref()) {
                    self.tell(key, &reason);
                }
            }
        }
        Ok(())
    }

    fn tell(&self, key: &[u8], message: &str) {
        let mut found = self.found();
        if found.problems.len() >= LISTED {
            found.further += 1;
            return;
        }
        let advice = "the store is damaged: restore a backup";
        let message = match message.contains("restore a backup") {
            true => message.to_owned(),
            false => format!("{message}; {advice}"),
        };
        let key = keys::shown(key);
        found.problems.push(Problem { key, message });
    }

    fn hold(&self, key: &[u8], holds: bool, otherwise: &str) {
        if !holds {
            self.tell(key, otherwise);
        }
    }

    async fn has(&self, key: &[u8]) -> Result<bool, StoreError> {
        Ok(self.store.kv.get(key).await?.is_some())
    }

    /// The next entries of a range, which are counted.
    async fn entries_of(&self, range: &mut Range) -> Result<Option<Vec<(Key, Bytes)>>, StoreError> {
        let scan = Scan {
            prefix: range.prefix.clone(),
            after: range.after.take(),
            limit: SCAN_ENTRIES,
            order: Order::Ascending,
        };
        let found = self.store.kv.scan(scan).await?;
        let Some((last, _)) = found.last() else {
            return Ok(None);
        };
        range.after = Some(last.clone());
        if !range.kind.is_empty() {
            let mut all = self.found();
            *all.checked.entry(range.kind.to_owned()).or_default() += found.len() as u64;
        }
        Ok(Some(found))
    }

    /// The next records of a range. Unreadable ones are reported with the entries.
    async fn page<T: DeserializeOwned>(
        &self,
        range: &mut Range,
    ) -> Result<Option<Vec<(Key, T)>>, StoreError> {
        let entries = self.entries_of(range).await?;
        let record = |(key, bytes): (Key, Bytes)| {
            let record = read(&key, &bytes).ok()?;
            Some((key, record))
        };
        Ok(entries.map(|entries| entries.into_iter().filter_map(record).collect()))
    }
}

/// Everything below a prefix, read in parts.
struct Range {
    /// The counter for them, or none if they are already counted.
    kind: &'static str,
    prefix: Key,
    after: Option<Key>,
}

impl Range {
    fn of(kind: &'static str, prefix: Key) -> Self {
        Self {
            kind,
            prefix,
            after: None,
        }
    }
}

/// Whether a record fits its key. Pieces of payloads are read with their operations.
fn readable(key: &[u8], value: &[u8], digests: Option<&Digests>) -> Result<(), String> {
    let parts = keys::parts(key);
    let kind = parts.first().map(String::as_str).unwrap_or_default();
    match kind {
        "format" => is::<u32>(key, value),
        "fence" => is::<Take>(key, value),
        "deployment" => is::<Deployment>(key, value),
        "objects" => is::<ObjectsRecord>(key, value),
        "writer" => is::<Identity>(key, value),
        "lock" | "unfinished" | "operation-of" => is::<OperationId>(key, value),
        "manifest" => is::<Head>(key, value),
        "lists" => is::<Lists>(key, value),
        "instance" => is::<Indexed>(key, value),
        "operation" => is::<OperationRecord>(key, value),
        "stop" => is::<StopWish>(key, value),
        "request" => is::<Request>(key, value),
        "request-at" => is::<String>(key, value),
        "journal" => is::<journal::Entry>(key, value),
        "registry" => is::<RegistryDefinition>(key, value),
        "cluster" => is::<ClusterRecord>(key, value),
        "template" => is::<serde_json::Value>(key, value),
        "credential" => is::<CredentialRecord>(key, value),
        "broker-instance" => is::<manager_broker::Instance>(key, value),
        "broker-binding" => is::<manager_broker::Binding>(key, value),
        "broker-running" | "broker-gone" => is::<broker::Place>(key, value),
        "broker-environment" => is::<serde_json::Map<String, serde_json::Value>>(key, value),
        "broker-outputs" => is::<Vec<Output>>(key, value),
        "payload" | "final" => Ok(()),
        "type" if kv::number(value).is_some_and(|count| count > 0) => Ok(()),
        "type" => Err("it is not a count".to_owned()),
        "digests" => is::<String>(key, value),
        "content" | "recorded" if fits(parts.last(), value, digests) => Ok(()),
        "content" | "recorded" => Err("the piece does not fit its digest".to_owned()),
        _ => Err("no manager writes such a record".to_owned()),
    }
}

/// Older pieces have plain digests. Without the key, they are not checked.
fn fits(name: Option<&String>, piece: &[u8], digests: Option<&Digests>) -> bool {
    let plain = || canonical::digest_bytes(piece).to_string();
    let Some(digests) = digests else {
        return true;
    };
    name.is_some_and(|name| {
        *name == digests.digest(piece) || plain().strip_prefix("sha256:") == Some(name)
    })
}

fn is<T: DeserializeOwned>(key: &[u8], value: &[u8]) -> Result<(), String> {
    let read = read::<T>(key, value).map(drop);
    read.map_err(|error| common::server::answer::error::chain(&error))
}
