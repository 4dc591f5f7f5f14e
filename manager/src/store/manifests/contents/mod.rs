//! The contents of manifests, in content-defined pieces that the manifests of one deployment share.
//!
//! An update changes little of a large manifest. A piece ends where a hash of the bytes before has a certain value
//! (content-defined chunking), so an insertion changes only the pieces around it. Pieces are stored under their digests
//! ([`Digests`]), so a manifest refers to the pieces that it shares with an earlier one. A list beside the manifest
//! names the pieces of each part, in order.
//!
//! Deployments do not share pieces. Only the operation that holds a deployment's lock adds or removes its pieces, and
//! one commit finds those that no list of the deployment refers to any more.

use std::collections::{BTreeMap, BTreeSet};

use bytes::{Bytes, BytesMut};
use common::model::{DeploymentName, ManifestName};
use common::work::{self, Size};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::digests::Digests;
use crate::store::kv::Key;
use crate::store::{Changes, Store, StoreError, keys, read, record, unusable};

/// The minimum size of a piece, except the last. Smaller pieces would share more, and there would be more of them.
const LEAST_BYTES: usize = 16 * 1024;
/// The maximum size of a piece (plus the rest of a character), which fits into one segment of sled's log.
const MOST_BYTES: usize = 64 * 1024;
/// One position in this many ends a piece. With the minimum size, pieces have about 32 KiB.
const ONE_IN_BITS: u32 = 14;
/// The number of pieces in one read.
pub const PIECES_AT_ONCE: usize = 16;
/// The number of deletes in one commit.
const DELETES: usize = 256;

/// The digests of the pieces of each part of a manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lists {
    pub parts: BTreeMap<String, Vec<String>>,
}

impl Lists {
    pub fn pieces(&self) -> impl Iterator<Item = &String> {
        self.parts.values().flatten()
    }
}

/// A part as it is stored: a record, split into pieces.
pub fn part(record: &impl Serialize, key: &Key) -> Result<Vec<Bytes>, StoreError> {
    let bytes = record::write(record).map_err(|source| unusable(key, source))?;
    Ok(cut(bytes))
}

/// Adds the contents of a manifest. Existing pieces are not written again.
pub async fn put(
    store: &Store,
    changes: &mut Changes,
    deployment: &DeploymentName,
    manifest: &ManifestName,
    parts: BTreeMap<String, Vec<Bytes>>,
) -> Result<(), StoreError> {
    let (digests, mut lists) = (Digests::read(store).await?, Lists::default());
    for (name, pieces) in parts {
        let list = lists.parts.entry(name).or_default();
        for piece in pieces {
            let digest = digests.digest(&piece);
            let key = keys::piece_of(deployment, &digest);
            // An earlier one of these changes may delete the piece as unused.
            changes.commit.delete.retain(|deleted| *deleted != key);
            if store.kv.get(&key).await?.is_none() {
                changes.commit.put.push((key, piece));
            }
            list.push(digest);
        }
    }
    changes.put(keys::lists(deployment, manifest), &lists)
}

pub async fn lists(
    store: &Store,
    deployment: &DeploymentName,
    manifest: &ManifestName,
) -> Result<Option<Lists>, StoreError> {
    store.get(keys::lists(deployment, manifest)).await
}

/// One part of a manifest.
pub async fn get<T: DeserializeOwned + Send + 'static>(
    store: &Store,
    deployment: &DeploymentName,
    manifest: &ManifestName,
    part: &str,
) -> Result<T, StoreError> {
    let found = find(store, deployment, manifest, part).await?;
    found.ok_or_else(|| missing(deployment, manifest, part))
}

/// A part that some manifests do not have.
pub async fn find<T: DeserializeOwned + Send + 'static>(
    store: &Store,
    deployment: &DeploymentName,
    manifest: &ManifestName,
    part: &str,
) -> Result<Option<T>, StoreError> {
    match lists(store, deployment, manifest).await? {
        Some(lists) => find_in(store, deployment, manifest, &lists, part).await,
        None => Ok(None),
    }
}

/// A part of a manifest whose lists are already read.
pub async fn find_in<T: DeserializeOwned + Send + 'static>(
    store: &Store,
    deployment: &DeploymentName,
    manifest: &ManifestName,
    lists: &Lists,
    part: &str,
) -> Result<Option<T>, StoreError> {
    let Some(list) = lists.parts.get(part) else {
        return Ok(None);
    };
    let mut whole = BytesMut::new();
    for digests in list.chunks(PIECES_AT_ONCE) {
        let keys = digests
            .iter()
            .map(|digest| keys::piece_of(deployment, digest));
        for piece in store.kv.get_each(keys.collect()).await? {
            whole.extend_from_slice(&piece.ok_or_else(|| missing(deployment, manifest, part))?);
        }
    }
    let key = keys::lists(deployment, manifest);
    work::sized(Size::bytes(whole.len()), move || {
        read(&key, &whole).map(Some)
    })
    .await
}

pub(in crate::store) fn missing(
    deployment: &DeploymentName,
    manifest: &ManifestName,
    part: &str,
) -> StoreError {
    StoreError::Missing(format!("the {part} of {deployment}'s {manifest}"))
}

/// Removes those contents of a manifest that no other manifest shares, stored or in these changes.
pub async fn delete(
    store: &Store,
    changes: &mut Changes,
    deployment: &DeploymentName,
    manifest: &ManifestName,
) -> Result<(), StoreError> {
    let own = keys::lists(deployment, manifest);
    let Some(lists) = store.get::<Lists>(own.clone()).await? else {
        return Ok(());
    };
    let mut unused: BTreeSet<&String> = lists.pieces().collect();
    let prefix = keys::all_lists(deployment);
    let mut others = store.all(prefix.clone()).await?;
    let put = changes.commit.put.iter();
    others.extend(put.filter(|(key, _)| key.starts_with(&prefix)).cloned());
    others.retain(|(key, _)| *key != own && !changes.commit.delete.contains(key));
    for (key, bytes) in others {
        let others: Lists = read(&key, &bytes)?;
        others.pieces().for_each(|digest| {
            unused.remove(digest);
        });
    }
    for digest in unused {
        changes.delete(keys::piece_of(deployment, digest));
    }
    changes.delete(own);
    Ok(())
}

/// Removes all pieces of a deployment that none of its lists names, in several commits if needed.
pub async fn sweep(store: &Store, deployment: &DeploymentName) -> Result<(), StoreError> {
    let mut used = BTreeSet::new();
    for (key, bytes) in store.all(keys::all_lists(deployment)).await? {
        let lists: Lists = read(&key, &bytes)?;
        used.extend(
            lists
                .pieces()
                .map(|digest| keys::piece_of(deployment, digest)),
        );
    }
    let all = store.all(keys::all_pieces_of(deployment)).await?;
    let unused: Vec<Key> = all
        .into_iter()
        .map(|(key, _)| key)
        .filter(|key| !used.contains(key))
        .collect();
    for some in unused.chunks(DELETES) {
        let mut changes = Changes::default();
        some.iter().for_each(|key| changes.delete(key.clone()));
        store.commit(changes).await?;
    }
    Ok(())
}

/// The pieces of a part, in order.
pub fn cut(mut bytes: Bytes) -> Vec<Bytes> {
    let mut pieces = Vec::new();
    while !bytes.is_empty() {
        let piece = bytes.split_to(end(&bytes));
        pieces.push(piece);
    }
    pieces
}

/// The end of the first piece. A piece is valid UTF-8, like the whole.
fn end(bytes: &[u8]) -> usize {
    let mut hash: u64 = 0;
    let mut end = bytes.len().min(MOST_BYTES);
    // The hash depends on the last 64 bytes only.
    for (at, byte) in bytes.iter().enumerate().take(end).skip(LEAST_BYTES - 64) {
        hash = (hash << 1).wrapping_add(GEAR[usize::from(*byte)]);
        if at >= LEAST_BYTES && hash >> (64 - ONE_IN_BITS) == 0 {
            end = at;
            break;
        }
    }
    while bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
        end += 1;
    }
    end
}

/// A pseudorandom number for each byte (splitmix64). With other numbers, stored contents stay readable, but share no
/// pieces with new ones.
const GEAR: [u64; 256] = {
    let mut gear = [0; 256];
    let mut state: u64 = 0;
    let mut at = 0;
    while at < gear.len() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        gear[at] = mixed ^ (mixed >> 31);
        at += 1;
    }
    gear
};

#[cfg(test)]
mod tests;
