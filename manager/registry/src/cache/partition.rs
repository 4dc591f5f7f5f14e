//! What one registry gave for one credential, in the cache on disk. Nothing of it is found with another credential.
//!
//! An entry that cannot be read is no error: the registry is asked again.

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{DiskCache, Entry, Key};

/// Part of the key of values, and of contents.
const VALUE: &str = "value";
const CONTENT: &str = "content";

#[derive(Debug, Clone)]
pub struct Partition {
    cache: Arc<DiskCache>,
    /// The registry's address, for people who look into the folder.
    url: String,
    /// The kind of registry, where it is, and the credential.
    owner: [String; 3],
}

impl Partition {
    pub fn new(cache: Arc<DiskCache>, url: &str, owner: [&str; 3]) -> Self {
        Self {
            cache,
            url: url.to_owned(),
            owner: owner.map(str::to_owned),
        }
    }

    /// A value that may change under its name, and when the registry gave it.
    pub async fn value<T: DeserializeOwned>(&self, name: &str) -> Option<(Arc<T>, Timestamp)> {
        let entry = self.cache.get(&self.key(VALUE, name)).await?;
        let value = serde_json::from_slice(&entry.body).ok()?;
        Some((Arc::new(value), entry.metadata.given))
    }

    pub async fn put_value<T: Serialize>(&self, name: &str, value: &T) {
        if let Ok(body) = serde_json::to_vec(value) {
            self.put(VALUE, name, body).await;
        }
    }

    /// A content that never changes under its name.
    pub async fn content(&self, name: &str) -> Option<Bytes> {
        let entry = self.cache.get(&self.key(CONTENT, name)).await?;
        Some(entry.body.clone())
    }

    /// Gives the content back.
    pub async fn put_content(&self, name: &str, bytes: Vec<u8>) -> Bytes {
        self.put(CONTENT, name, bytes).await.body.clone()
    }

    async fn put(&self, kind: &str, name: &str, body: Vec<u8>) -> Arc<Entry> {
        let entry = Entry::new(format!("{} {name}", self.url), body);
        self.cache.put(&self.key(kind, name), entry).await
    }

    fn key(&self, kind: &str, name: &str) -> Key {
        let [registry, place, credential] = &self.owner;
        Key::new(&[registry, place, credential, kind, name])
    }
}
