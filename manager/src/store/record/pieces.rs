//! Large records, split into pieces, because stores limit the size of a value. For records that are read and removed as
//! a whole. Manifests use [`crate::store::manifests::contents`].

use bytes::{Bytes, BytesMut};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::kv::Key;
use crate::store::{Changes, Store, StoreError, keys, read, record, unusable};

/// Small enough for one segment of sled's log. 50 MiB are a few hundred entries.
const PIECE_BYTES: usize = 64 * 1024;

/// Writes a record below a prefix. An existing one must be removed in the same changes, or must not be longer.
pub fn put<T: Serialize>(
    changes: &mut Changes,
    prefix: &Key,
    record: &T,
) -> Result<(), StoreError> {
    let bytes = record::write(record).map_err(|source| unusable(prefix, source))?;
    let pieces = (0..bytes.len().div_ceil(PIECE_BYTES)).map(|number| {
        let start = number * PIECE_BYTES;
        (
            keys::piece(prefix, number),
            bytes.slice(start..bytes.len().min(start + PIECE_BYTES)),
        )
    });
    changes.commit.put.extend(pieces);
    Ok(())
}

/// Writes a record below a prefix, and replaces an existing one.
pub async fn replace<T: Serialize>(
    store: &Store,
    changes: &mut Changes,
    prefix: &Key,
    record: &T,
) -> Result<(), StoreError> {
    let before = changes.commit.put.len();
    put(changes, prefix, record)?;
    let written = changes.commit.put.len() - before;
    let surplus = store.all(prefix.clone()).await?.into_iter().skip(written);
    surplus.for_each(|(key, _)| changes.delete(key));
    Ok(())
}

pub async fn get<T: DeserializeOwned>(store: &Store, prefix: Key) -> Result<Option<T>, StoreError> {
    let Some(first) = store.kv.get(&keys::piece(&prefix, 0)).await? else {
        return Ok(None);
    };
    // All pieces but the last one have this length.
    if first.len() < PIECE_BYTES {
        return read(&prefix, &first).map(Some);
    }
    let pieces = store.all(prefix.clone()).await?;
    read(&prefix, &joined(&pieces)).map(Some)
}

pub fn joined(pieces: &[(Key, Bytes)]) -> Bytes {
    let mut whole = BytesMut::with_capacity(pieces.len() * PIECE_BYTES);
    for (_, piece) in pieces {
        whole.extend_from_slice(piece);
    }
    whole.freeze()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::store::kv::MemoryKv;

    #[tokio::test]
    async fn a_record_takes_the_place_of_a_longer_one() {
        let store = Store::open(Arc::new(MemoryKv::default())).await.unwrap();
        for size in [3 * PIECE_BYTES, 5, PIECE_BYTES] {
            let text = "x".repeat(size);
            let mut changes = Changes::default();
            replace(&store, &mut changes, &b"p\0".to_vec(), &text)
                .await
                .unwrap();
            store.commit(changes).await.unwrap();
            assert_eq!(
                get::<String>(&store, b"p\0".to_vec()).await.unwrap(),
                Some(text)
            );
        }
    }

    #[tokio::test]
    async fn a_record_of_any_size_is_read_as_it_was_written_and_deleted_whole() {
        let store = Store::open(Arc::new(MemoryKv::default())).await.unwrap();
        for size in [
            0,
            1,
            PIECE_BYTES - 30,
            PIECE_BYTES,
            10 * PIECE_BYTES + 7,
            300 * PIECE_BYTES,
        ] {
            let text = "x".repeat(size);
            let mut changes = Changes::default();
            put(&mut changes, &b"p\0".to_vec(), &text).unwrap();
            store.commit(changes).await.unwrap();
            assert_eq!(
                get::<String>(&store, b"p\0".to_vec()).await.unwrap(),
                Some(text)
            );
            let mut changes = Changes::default();
            changes.delete_prefix(b"p\0".to_vec());
            store.commit(changes).await.unwrap();
            assert_eq!(get::<String>(&store, b"p\0".to_vec()).await.unwrap(), None);
        }
    }
}
