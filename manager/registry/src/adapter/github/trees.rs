//! The API's "Git database": trees and blobs, each named by its content.

use common::registry::{FilePath, limit_of};
use reqwest::StatusCode;
use serde::Deserialize;

use super::{JSON, RAW, Repository, View, malformed, refused};
use crate::RegistryError;
use crate::adapter::tree::{FILES, Tree};
use crate::adapter::{Entry, EntryKind};
use crate::transport::{CachedAnswer, MaxAge};

/// GitHub cuts an answer at 100,000 entries or 7 MB, and marks it.
pub const ANSWER_BYTES: usize = 32 * 1024 * 1024;

#[derive(Deserialize)]
struct Listing {
    sha: String,
    tree: Vec<Node>,
    #[serde(default)]
    truncated: bool,
}

#[derive(Deserialize)]
struct Node {
    path: String,
    mode: String,
    #[serde(rename = "type")]
    kind: String,
    sha: String,
}

/// The tree of a response with all paths, or its root if the response was cut.
pub fn whole(kept: &CachedAnswer) -> Result<View, String> {
    let listing = parse(kept)?;
    if listing.truncated || listing.tree.len() > FILES {
        return Ok(View::Levels { root: listing.sha });
    }
    let files = listing.tree.into_iter().filter_map(|node| {
        let path = FilePath::listed(&node.path).ok()?;
        (node.kind() == EntryKind::File).then_some((path, node.sha))
    });
    Ok(View::Whole {
        digest: kept.sha256.clone(),
        tree: Tree::new(files.collect()),
    })
}

fn parse(kept: &CachedAnswer) -> Result<Listing, String> {
    serde_json::from_slice(&kept.body).map_err(|error| error.to_string())
}

impl Node {
    /// Links and submodules are not files of a registry.
    fn kind(&self) -> EntryKind {
        match self.kind.as_str() {
            "tree" => EntryKind::Folder,
            "blob" if self.mode.starts_with("100") => EntryKind::File,
            _ => EntryKind::Other,
        }
    }
}

impl Repository {
    /// The entries of a folder, in a tree that is read level by level.
    pub(super) async fn level(
        &self,
        root: &str,
        folder: &FilePath,
    ) -> Result<Option<Vec<Entry>>, RegistryError> {
        let mut entries = self.tree(root).await?;
        for name in folder.names() {
            let found = entries
                .into_iter()
                .find(|entry| entry.name == name && entry.kind == EntryKind::Folder);
            let Some(sha) = found.and_then(|entry| entry.revision) else {
                return Ok(None);
            };
            entries = self.tree(&sha).await?;
        }
        Ok(Some(entries))
    }

    /// The blob of a file, in such a tree.
    pub(super) async fn sha(
        &self,
        root: &str,
        file: &FilePath,
    ) -> Result<Option<String>, RegistryError> {
        let (folder, name) = (file.parent(), file.names().last().unwrap_or_default());
        let entries = self.level(root, &folder).await?.unwrap_or_default();
        let found = entries
            .into_iter()
            .find(|entry| entry.name == name && entry.kind == EntryKind::File);
        Ok(found.and_then(|entry| entry.revision))
    }

    async fn tree(&self, sha: &str) -> Result<Vec<Entry>, RegistryError> {
        let url = self.url(&["git", "trees", sha]);
        let kept = self.get(&url, JSON, ANSWER_BYTES, MaxAge::Any).await?;
        if kept.status != StatusCode::OK {
            return Err(refused(url, kept.status));
        }
        let listing = parse(&kept).map_err(|reason| malformed(&url, reason))?;
        if listing.truncated {
            return Err(RegistryError::TooManyEntries {
                folder: url.into(),
                limit: listing.tree.len(),
            });
        }
        let mut entries: Vec<_> = listing.tree.into_iter().map(Entry::from).collect();
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// The bytes of a file by its blob. If the server has no blobs, the file is requested by its path.
    pub(super) async fn blob(
        &self,
        sha: &str,
        file: &FilePath,
    ) -> Result<Option<Vec<u8>>, RegistryError> {
        let url = self.url(&["git", "blobs", sha]);
        let kept = self.get(&url, RAW, limit_of(file), MaxAge::Any).await?;
        match kept.status {
            StatusCode::OK => Ok(Some(kept.body.into())),
            StatusCode::NOT_FOUND => self.raw(file, MaxAge::ZERO).await,
            status => Err(refused(url, status)),
        }
    }
}

impl From<Node> for Entry {
    fn from(node: Node) -> Self {
        Self {
            kind: node.kind(),
            name: node.path,
            revision: Some(node.sha),
        }
    }
}
