//! What an OCI registry held, kept for the next process: lists and manifests as they were told last, contents for good.
//!
//! What is kept for one credential is found with that one only. That something cannot be read is no fault: it is asked for.

use std::sync::Arc;

use common::registry::oci::Descriptor;
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cache::{Cache, Entry, Key};

#[derive(Debug)]
pub struct Kept {
    cache: Arc<Cache>,
    /// The registry's address, and who asks.
    owner: [String; 2],
}

impl Kept {
    pub fn new(cache: Arc<Cache>, url: &str, realm: &str) -> Self {
        Self {
            cache,
            owner: [url.to_owned(), realm.to_owned()],
        }
    }

    /// What was told last, and when.
    pub async fn cached<T: DeserializeOwned>(&self, name: &str) -> Option<(Arc<T>, Timestamp)> {
        let entry = self.cache.get(&self.key("told", name)).await?;
        let told = serde_json::from_slice(&entry.body).ok()?;
        Some((Arc::new(told), entry.about.given))
    }

    pub async fn tell<T: Serialize>(&self, name: &str, told: &T) {
        if let Ok(body) = serde_json::to_vec(told) {
            let entry = Entry::lasting(self.called(name), body);
            self.cache.put(&self.key("told", name), entry).await;
        }
    }

    /// A content of a repository. It is what is described, or it is not there.
    pub async fn content(&self, repository: &str, of: &Descriptor) -> Option<Vec<u8>> {
        let key = self.key("content", &content(repository, of));
        let entry = self.cache.get(&key).await?;
        of.describes(&entry.body).then(|| entry.body.to_vec())
    }

    pub async fn keep(&self, repository: &str, of: &Descriptor, bytes: Vec<u8>) -> Vec<u8> {
        let name = content(repository, of);
        let entry = Entry::lasting(self.called(&name), bytes);
        let kept = self.cache.put(&self.key("content", &name), entry).await;
        kept.body.to_vec()
    }

    fn key(&self, kind: &str, name: &str) -> Key {
        let [url, realm] = &self.owner;
        Key::of(&["oci", url, realm, kind, name])
    }

    fn called(&self, name: &str) -> String {
        format!("{} {name}", self.owner[0])
    }
}

fn content(repository: &str, of: &Descriptor) -> String {
    format!("{repository}@{}", of.digest)
}
