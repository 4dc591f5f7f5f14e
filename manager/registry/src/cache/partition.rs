//! The part of the cache that belongs to one registry and one credential. No other credential finds its entries.
//!
//! An unreadable entry is not an error: the registry is asked again.

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
    /// The address of the registry, for people who read the folder.
    url: String,
    /// The type of the registry, its address, and the credential.
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

    /// A value that may change under its name, and the time of the response.
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

    /// Returns the content.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_one_credential_was_given_is_found_with_that_one_only_and_by_the_next_process() {
        let folder = tempfile::tempdir().unwrap();
        let partition = |credential: &str| {
            let cache = Arc::new(DiskCache::new(folder.path(), 10_000));
            Partition::new(cache, "oci://host/t", ["oci", "oci://host/t", credential])
        };
        let own = partition("own");
        own.put_value("tags", &["v1"]).await;
        assert_eq!(&own.put_content("a", b"x".to_vec()).await[..], b"x");

        let next = partition("own");
        let (tags, _) = next.value::<Vec<String>>("tags").await.unwrap();
        assert_eq!(*tags, ["v1"]);
        assert_eq!(next.content("a").await.as_deref(), Some(&b"x"[..]));
        assert!(next.content("tags").await.is_none(), "it is a value");

        let other = partition("other");
        assert!(other.value::<Vec<String>>("tags").await.is_none());
        assert!(other.content("a").await.is_none());
    }
}
