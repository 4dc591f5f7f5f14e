//! What is recorded of a deployment's objects in the cluster.
//!
//! One piece is kept in the record itself. More are kept beside it, under their digests ([`contents`]): an update writes
//! those that changed, and no entry is larger than a store takes. Only the record names them, and one commit changes both.
//!
//! In format 2, the record has all of it.

use std::collections::BTreeSet;

use bytes::BytesMut;
use common::api::deployer::Policies;
use common::model::{AppliedChart, AppliedObject, DeploymentName, ManifestName};
use common::work::{self, Size};
use serde::{Deserialize, Serialize};

use crate::store::manifests::contents;
use crate::store::manifests::digests::Digests;
use crate::store::{Changes, Store, StoreError, format, keys, read};

/// A recorded object as JSON, approximately.
const OBJECT_BYTES: usize = 256;

/// What is recorded of a deployment's objects in the cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objects {
    /// The objects of the last report, and those that were seen since.
    pub recorded: Vec<AppliedObject>,
    /// Manifests whose apply began and never reported. Some of their objects may exist without a record.
    #[serde(default)]
    pub unconfirmed: Vec<ManifestName>,
    /// The policies of the last apply of the latest manifest. Corrections use them.
    #[serde(default)]
    pub policies: Policies,
    /// The manifest that was last begun to be applied. A deletion runs its hooks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<ManifestName>,
    /// How often each chart of the last successful apply was applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub charts: Vec<AppliedChart>,
}

/// The record.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ObjectsRecord {
    #[serde(flatten)]
    objects: Objects,
    /// The digests of the pieces of what is recorded, in order. Without any, the record has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<String>,
}

pub async fn objects(store: &Store, name: &DeploymentName) -> Result<Objects, StoreError> {
    let Some(record) = store.get::<ObjectsRecord>(keys::objects(name)).await? else {
        return Ok(Objects::default());
    };
    whole(store, name, record).await
}

/// The record with its pieces.
pub async fn whole(
    store: &Store,
    name: &DeploymentName,
    record: ObjectsRecord,
) -> Result<Objects, StoreError> {
    let mut objects = record.objects;
    if record.pieces.is_empty() {
        return Ok(objects);
    }
    let mut bytes = BytesMut::new();
    for digests in record.pieces.chunks(contents::PIECES_AT_ONCE) {
        let keys = digests
            .iter()
            .map(|digest| keys::recorded_piece(name, digest));
        for piece in store.kv.get_each(keys.collect()).await? {
            let missing = || StoreError::Missing(format!("the objects of {name}"));
            bytes.extend_from_slice(&piece.ok_or_else(missing)?);
        }
    }
    let key = keys::objects(name);
    let parsed = work::sized(Size::bytes(bytes.len()), move || read(&key, &bytes));
    objects.recorded = parsed.await?;
    Ok(objects)
}

/// Only the operation that holds the deployment's lock calls it.
pub async fn put_objects(
    store: &Store,
    changes: &mut Changes,
    name: &DeploymentName,
    objects: &Objects,
) -> Result<(), StoreError> {
    let key = keys::objects(name);
    if !store.format().is_lean() {
        return changes.put(key, objects);
    }
    let before = store.get::<ObjectsRecord>(key.clone()).await?;
    let before = before.map(|record| record.pieces).unwrap_or_default();
    let mut record = ObjectsRecord {
        objects: objects.clone(),
        pieces: Vec::new(),
    };
    let cut = {
        let (recorded, key) = (objects.recorded.clone(), key.clone());
        let size = Size::bytes(recorded.len() * OBJECT_BYTES);
        work::sized(size, move || contents::part(&recorded, &key)).await?
    };
    if cut.len() > 1 {
        record.objects.recorded.clear();
        record.pieces = put_pieces(store, changes, name, cut, &before).await?;
    }
    let kept: BTreeSet<_> = record.pieces.iter().collect();
    for digest in before.iter().filter(|digest| !kept.contains(digest)) {
        changes.delete(keys::recorded_piece(name, digest));
    }
    match record.pieces.is_empty() {
        true => changes.put(key, &record),
        false => changes.put_as(format::LEAN, key, &record),
    }
}

/// Puts those that are not there. Gives the digests of all.
async fn put_pieces(
    store: &Store,
    changes: &mut Changes,
    name: &DeploymentName,
    pieces: Vec<bytes::Bytes>,
    before: &[String],
) -> Result<Vec<String>, StoreError> {
    let digests = Digests::read(store).await?;
    let mut all = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let digest = digests.digest(&piece);
        let key = keys::recorded_piece(name, &digest);
        // An earlier one of these changes may delete the piece as unused.
        changes.commit.delete.retain(|deleted| *deleted != key);
        if !before.contains(&digest) {
            changes.commit.put.push((key, piece));
        }
        all.push(digest);
    }
    Ok(all)
}
