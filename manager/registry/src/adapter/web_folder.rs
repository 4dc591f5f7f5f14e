//! A web server's folder as a registry. A `SHA256SUMS` at its root, in the format of `sha256sum`, lists its files.
//!
//! ```text
//! find . -type f ! -name SHA256SUMS -exec sha256sum {} + > SHA256SUMS
//! ```
//!
//! Plain HTTP has no listings. The list also has the digest of each file, so a file that was changed is rejected.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::manager::RegistrySummary;
use common::model::RegistryDefinition;
use common::registry::{FilePath, limit_of, sums};
use url::Url;

use crate::RegistryError;
use crate::adapter::tree::{self, Tree};
use crate::adapter::url::UrlFolder;
use crate::adapter::{Entry, Files, Registry};
use crate::cache::{Loaded, StaleWhileRevalidate, Staleness};
use crate::transport::{MaxAge, Web};

const LIST: &str = "SHA256SUMS";
/// 200,000 files with paths of some 100 characters.
const LIST_BYTES: usize = 32 * 1024 * 1024;

#[derive(Debug, Clone)]
pub struct WebFolder {
    name: String,
    definition: RegistryDefinition,
    folder: UrlFolder,
    tree: StaleWhileRevalidate<Tree>,
}

impl WebFolder {
    /// `base` ends with a `/`.
    pub fn new(
        name: &str,
        definition: RegistryDefinition,
        base: Url,
        web: Web,
        refresh: Duration,
    ) -> Self {
        Self {
            name: name.to_owned(),
            definition,
            folder: UrlFolder::new(web, base, MaxAge::Any),
            tree: StaleWhileRevalidate::new(refresh),
        }
    }

    async fn tree(&self) -> Result<Arc<Tree>, RegistryError> {
        let this = self.clone();
        self.tree.get(|_| async move { this.load().await }).await
    }

    async fn load(&self) -> Result<Loaded<Tree>, RegistryError> {
        let list = FilePath::parse(LIST)?;
        let url = self.folder.url_of(&list);
        let kept = self.folder.get(&list, LIST_BYTES, MaxAge::ZERO).await?;
        let kept = kept.ok_or_else(|| RegistryError::NoList { url: url.clone() })?;
        let text = std::str::from_utf8(&kept.body).map_err(|_| RegistryError::NotText {
            file: self.path_of(&list),
        })?;
        let files = sums::parse(text, tree::FILES)
            .map_err(|reason| RegistryError::Malformed { url, reason })?;
        Ok(Loaded {
            value: Arc::new(Tree::new(files)),
            staleness: kept.staleness,
        })
    }
}

#[async_trait]
impl Files for WebFolder {
    async fn read(&self, file: &FilePath) -> Result<Option<Vec<u8>>, RegistryError> {
        let tree = self.tree().await?;
        let Some(expected) = tree.content(file) else {
            return Ok(None);
        };
        // A file with the listed digest is valid at any age.
        for age in [MaxAge::Any, MaxAge::ZERO] {
            match self.folder.get(file, limit_of(file), age).await? {
                Some(kept) if kept.sha256 == expected => return Ok(Some(kept.body.into())),
                _ => {}
            }
        }
        Err(RegistryError::Digest {
            file: self.path_of(file),
        })
    }

    fn path_of(&self, file: &FilePath) -> String {
        format!("{}/{file}", self.name)
    }

    fn url_of(&self, file: &FilePath) -> String {
        self.folder.url_of(file)
    }

    fn stale(&self) -> Option<Staleness> {
        self.tree.stale()
    }

    fn expire(&self) {
        self.tree.expire();
    }
}

#[async_trait]
impl Registry for WebFolder {
    fn summary(&self) -> RegistrySummary {
        RegistrySummary {
            name: self.name.clone(),
            definition: self.definition.clone(),
        }
    }

    async fn entries(&self, folder: &FilePath) -> Result<Option<Vec<Entry>>, RegistryError> {
        Ok(self.tree().await?.entries(folder))
    }
}
