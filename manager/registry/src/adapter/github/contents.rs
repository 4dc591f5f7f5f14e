//! The API's "Repository contents": folders and files by their paths.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::registry::{FilePath, limit_of};
use reqwest::StatusCode;
use serde::Deserialize;
use serde::de::IgnoredAny;
use url::Url;

use super::{JSON, RAW, Repository, malformed, refused};
use crate::RegistryError;
use crate::adapter::{Entry, EntryKind, Files as _};
use crate::transport::{CachedAnswer, MaxAge};

/// GitHub lists at most this many entries of a folder, and omits the rest silently.
const FOLDER_ENTRIES: usize = 1_000;
/// A list of 1,000 entries has about a megabyte.
const LIST_BYTES: usize = 4 * 1024 * 1024;

/// An entry in the list of a folder.
#[derive(Deserialize)]
struct Listed {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    sha: String,
}

/// GitHub returns a list for a folder, and a map for anything else.
#[derive(Deserialize)]
#[serde(untagged)]
enum Contents {
    Folder(Vec<Listed>),
    Other(IgnoredAny),
}

/// A file in the form of servers without raw files.
#[derive(Deserialize)]
struct Encoded {
    encoding: String,
    content: String,
}

impl Repository {
    pub(super) fn contents(&self, path: &FilePath) -> Url {
        let below: Vec<_> = ["contents"].into_iter().chain(path.names()).collect();
        let mut url = self.url(&below);
        if let Some(reference) = &self.definition.reference {
            url.query_pairs_mut().append_pair("ref", reference);
        }
        url
    }

    /// `None` if there is no such folder.
    pub(super) async fn folder(
        &self,
        folder: &FilePath,
        age: MaxAge,
    ) -> Result<Option<Vec<Entry>>, RegistryError> {
        let url = self.contents(folder);
        let kept = self.get(&url, JSON, LIST_BYTES, age).await?;
        match kept.status {
            StatusCode::OK => self.listed(folder, &url, &kept),
            StatusCode::NOT_FOUND if folder.names().next().is_none() => self.no_root().await,
            StatusCode::NOT_FOUND => Ok(None),
            status => Err(refused(url, status)),
        }
    }

    /// The bytes of a file. `None` if it does not exist.
    pub(super) async fn raw(
        &self,
        file: &FilePath,
        age: MaxAge,
    ) -> Result<Option<Vec<u8>>, RegistryError> {
        let url = self.contents(file);
        let kept = self.get(&url, RAW, limit_of(file), age).await?;
        match kept.status {
            StatusCode::OK => Ok(bytes(kept)),
            StatusCode::NOT_FOUND => Ok(None),
            status => Err(refused(url, status)),
        }
    }

    /// Distinguishes a missing repository from a missing branch.
    async fn no_root(&self) -> Result<Option<Vec<Entry>>, RegistryError> {
        let Some(reference) = &self.definition.reference else {
            return Ok(None);
        };
        let url = self.url(&[]);
        let kept = self.get(&url, JSON, LIST_BYTES, MaxAge::ZERO).await?;
        match kept.status {
            StatusCode::OK => Err(RegistryError::NoRef {
                registry: self.name.clone(),
                reference: reference.clone(),
            }),
            _ => Ok(None),
        }
    }

    fn listed(
        &self,
        folder: &FilePath,
        url: &Url,
        kept: &CachedAnswer,
    ) -> Result<Option<Vec<Entry>>, RegistryError> {
        let contents = serde_json::from_slice(&kept.body);
        let listed = match contents.map_err(|error| malformed(url, error.to_string()))? {
            Contents::Folder(listed) => listed,
            Contents::Other(IgnoredAny) => return Ok(None),
        };
        if listed.len() >= FOLDER_ENTRIES {
            return Err(RegistryError::TooManyEntries {
                folder: self.path_of(folder),
                limit: FOLDER_ENTRIES,
            });
        }
        let mut entries: Vec<_> = listed.into_iter().map(Entry::from).collect();
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(Some(entries))
    }
}

/// A folder has no raw form: it is listed as plain JSON instead.
fn bytes(kept: CachedAnswer) -> Option<Vec<u8>> {
    let kind = kept.content_type.as_deref().unwrap_or_default();
    if !kind.starts_with("application/json") {
        return Some(kept.body.into());
    }
    let file: Encoded = serde_json::from_slice(&kept.body).ok()?;
    let lines: String = file.content.split_whitespace().collect();
    let decoded = STANDARD.decode(lines).ok();
    decoded.filter(|_| file.encoding == "base64")
}

impl From<Listed> for Entry {
    fn from(listed: Listed) -> Self {
        let kind = match listed.kind.as_str() {
            "file" => EntryKind::File,
            "dir" => EntryKind::Folder,
            _ => EntryKind::Other,
        };
        Self {
            name: listed.name,
            kind,
            revision: Some(listed.sha),
        }
    }
}
