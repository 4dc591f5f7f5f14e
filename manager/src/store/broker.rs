//! Records of the service broker: instances and bindings, those whose operation runs, and those that are gone.
//!
//! Ids of platforms may have any characters, so keys have their digests. A record that is gone is kept for [`KEPT`],
//! because platforms still ask for it.

use common::canonical;
use common::model::{DeploymentName, Output};
use jiff::{SignedDuration, Timestamp};
use manager_broker::{Binding, Edit, Instance, InstancePhase, Operation, Version, Versioned};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::kv::{Key, KvError, Scan};
use super::{Changes, Store, StoreError, keys, read};

/// How long a deleted instance or binding is remembered.
pub const KEPT: SignedDuration = SignedDuration::from_hours(24);
/// The number of old records that a delete forgets. More than one, so that their number shrinks.
const FORGOTTEN_AT_ONCE: usize = 8;

/// An instance, or one of its bindings, by the digests of their ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    instance: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    binding: Option<String>,
}

impl Place {
    fn of_instance(id: &str) -> Self {
        Self {
            instance: digest(id),
            binding: None,
        }
    }

    fn of_binding(instance: &str, id: &str) -> Self {
        Self {
            instance: digest(instance),
            binding: Some(digest(id)),
        }
    }

    fn record(&self) -> Key {
        match &self.binding {
            None => keys::broker_instance(&self.instance),
            Some(binding) => keys::broker_binding(&self.instance, binding),
        }
    }

    fn parts(&self) -> Vec<&str> {
        let binding = self.binding.iter().map(String::as_str);
        std::iter::once(self.instance.as_str())
            .chain(binding)
            .collect()
    }
}

fn digest(id: &str) -> String {
    let digest = canonical::digest_bytes(id.as_bytes()).to_string();
    digest.trim_start_matches("sha256:").to_owned()
}

pub async fn instance(store: &Store, id: &str) -> Result<Option<Versioned<Instance>>, StoreError> {
    find(store, Place::of_instance(id).record()).await
}

pub async fn binding(
    store: &Store,
    instance: &str,
    id: &str,
) -> Result<Option<Versioned<Binding>>, StoreError> {
    find(store, Place::of_binding(instance, id).record()).await
}

pub async fn bindings(
    store: &Store,
    instance: &str,
) -> Result<Vec<Versioned<Binding>>, StoreError> {
    let found = store.all(keys::broker_bindings(&digest(instance))).await?;
    let versioned = |(key, bytes): (Key, bytes::Bytes)| {
        Ok(Versioned {
            record: read(&key, &bytes)?,
            version: bytes.to_vec(),
        })
    };
    found.into_iter().map(versioned).collect()
}

/// The instances and bindings whose operation runs.
pub async fn unfinished(store: &Store) -> Result<(Vec<Instance>, Vec<Binding>), StoreError> {
    let (mut instances, mut bindings) = (Vec::new(), Vec::new());
    for (key, bytes) in store.all(keys::all_broker_running()).await? {
        let place: Place = read(&key, &bytes)?;
        match place.binding {
            None => instances.extend(store.get(place.record()).await?),
            Some(_) => bindings.extend(store.get(place.record()).await?),
        }
    }
    Ok((instances, bindings))
}

/// What templates of a broker's deployment see in `env`. Empty for any other deployment.
pub async fn environment(
    store: &Store,
    deployment: &DeploymentName,
) -> Result<Map<String, Value>, StoreError> {
    let found = store.get(keys::broker_environment(deployment)).await?;
    Ok(found.unwrap_or_default())
}

/// The outputs of a binding's deployment, which callers of the manager see redacted only.
pub fn put_outputs(
    changes: &mut Changes,
    deployment: &DeploymentName,
    outputs: &[Output],
) -> Result<(), StoreError> {
    changes.put(keys::broker_outputs(deployment), &outputs)
}

pub async fn outputs(
    store: &Store,
    deployment: &DeploymentName,
) -> Result<Option<Vec<Output>>, StoreError> {
    store.get(keys::broker_outputs(deployment)).await
}

/// Adds the edits to some changes. They conflict with a record that is not at its version.
pub async fn add(store: &Store, changes: &mut Changes, edits: Vec<Edit>) -> Result<(), StoreError> {
    for edit in edits {
        match edit {
            Edit::Instance(record, version) => {
                let place = Place::of_instance(&record.id);
                let env = record.environment();
                expect(store, changes, &place, version).await?;
                changes.put(place.record(), &record)?;
                follow(store, changes, &place, &record.operation).await?;
                surround(changes, &record.deployment, record.phase(), &env)?;
            }
            Edit::Binding(record, version) => {
                let place = Place::of_binding(&record.instance, &record.id);
                let env = record.environment();
                expect(store, changes, &place, version).await?;
                changes.put(place.record(), &record)?;
                follow(store, changes, &place, &record.operation).await?;
                surround(changes, &record.deployment, record.phase(), &env)?;
            }
            Edit::KeepInstance(id, version) => {
                let place = Place::of_instance(&id);
                expect(store, changes, &place, Some(version)).await?;
            }
            Edit::ForgetInstance(record, version) => {
                let place = Place::of_instance(&record.id);
                expect(store, changes, &place, Some(version)).await?;
                forget(changes, &place, &record.deployment);
            }
            Edit::ForgetBinding(record, version) => {
                let place = Place::of_binding(&record.instance, &record.id);
                expect(store, changes, &place, Some(version)).await?;
                forget(changes, &place, &record.deployment);
            }
        }
    }
    Ok(())
}

async fn find<T: DeserializeOwned>(
    store: &Store,
    key: Key,
) -> Result<Option<Versioned<T>>, StoreError> {
    let Some(entry) = store.kv.get(&key).await? else {
        return Ok(None);
    };
    Ok(Some(Versioned {
        record: read(&key, &entry)?,
        version: entry.value.to_vec(),
    }))
}

/// The record must still be the one that was read, when this is called and at the commit.
async fn expect(
    store: &Store,
    changes: &mut Changes,
    place: &Place,
    version: Option<Version>,
) -> Result<(), StoreError> {
    let entry = store.kv.get(&place.record()).await?;
    if entry.as_ref().map(|entry| entry.value.as_ref()) != version.as_deref() {
        return Err(KvError::Conflict.into());
    }
    changes.expect(place.record(), entry);
    Ok(())
}

/// Whether the operation runs, or has left a record that is gone.
async fn follow(
    store: &Store,
    changes: &mut Changes,
    place: &Place,
    operation: &Operation,
) -> Result<(), StoreError> {
    let running = keys::broker_running(&place.parts());
    match operation.is_running() {
        true => changes.put(running, place)?,
        false => changes.delete(running),
    }
    let Some(ended) = operation
        .ended
        .filter(|_| operation.phase() == InstancePhase::Gone)
    else {
        return Ok(());
    };
    forget_old(store, changes, ended).await?;
    let gone = keys::broker_gone(ended.as_second(), &place.parts());
    changes.put(gone, place)
}

/// What the deployment's templates see, as long as it exists. The outputs of a binding are kept until its record has
/// them.
fn surround(
    changes: &mut Changes,
    deployment: &DeploymentName,
    phase: InstancePhase,
    env: &Map<String, Value>,
) -> Result<(), StoreError> {
    if phase != InstancePhase::Creating {
        changes.delete(keys::broker_outputs(deployment));
    }
    match phase {
        InstancePhase::Gone => {
            changes.delete(keys::broker_environment(deployment));
            Ok(())
        }
        _ => changes.put(keys::broker_environment(deployment), env),
    }
}

fn forget(changes: &mut Changes, place: &Place, deployment: &DeploymentName) {
    changes.delete(place.record());
    changes.delete(keys::broker_running(&place.parts()));
    changes.delete(keys::broker_environment(deployment));
    changes.delete(keys::broker_outputs(deployment));
}

/// Forgets some of the records that have been gone for long.
async fn forget_old(
    store: &Store,
    changes: &mut Changes,
    now: Timestamp,
) -> Result<(), StoreError> {
    #[derive(Deserialize)]
    struct Gone {
        operation: Operation,
    }
    let oldest = Scan {
        prefix: keys::all_broker_gone(),
        limit: FORGOTTEN_AT_ONCE,
        ..Scan::default()
    };
    let is_old = |ended: Timestamp| now.duration_since(ended) >= KEPT;
    for (index, bytes) in store.kv.scan(oldest).await? {
        let place: Place = read(&index, &bytes)?;
        let found = find::<Gone>(store, place.record()).await?;
        let ended = found
            .as_ref()
            .and_then(|found| found.record.operation.ended);
        if ended.is_some_and(|ended| !is_old(ended)) {
            // The first one that is young, or an id that was used again.
            continue;
        }
        changes.delete(index);
        let is_gone =
            |found: &Versioned<Gone>| found.record.operation.phase() == InstancePhase::Gone;
        if let Some(found) = found.filter(is_gone) {
            expect(store, changes, &place, Some(found.version)).await?;
            changes.delete(place.record());
        }
    }
    Ok(())
}
