//! A repository on GitHub as a registry, by the REST API's "repository contents".
//!
//! Lists and files come from the API's host alone, its default branch: `GET /repos/{owner}/{repo}/contents/{path}`
//! with the media type `raw` gives a file's bytes. A folder's `sha` is its git tree: it names the contents for good.

use std::sync::Arc;

use async_trait::async_trait;
use common::api::manager::RegistrySummary;
use common::model::{RegistryDefinition, RegistryType};
use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;
use serde::Deserialize;
use url::Url;

use super::path::FilePath;
use super::web::{Answer, Web, WebError};
use super::{Entry, EntryKind, FILE_BYTES, Files, Registry, RegistryError};

const RAW: &str = "application/vnd.github.raw+json";
const LIST: &str = "application/vnd.github+json";
/// GitHub lists no more entries of a folder, and cuts silently.
const FOLDER_ENTRIES: usize = 1_000;
/// A list of 1,000 entries has about a megabyte.
const LIST_BYTES: usize = 4 * 1024 * 1024;

/// GitHub's API, at an address of the operator's choice.
#[derive(Debug)]
pub struct Api {
    web: Web,
    base: Url,
}

impl Api {
    pub fn new(web: Web, base: &str) -> Result<Self, RegistryError> {
        let invalid = || RegistryError::ApiUrl {
            text: base.to_owned(),
        };
        let url = Url::parse(base).map_err(|_| invalid())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(invalid());
        }
        Ok(Self { web, base: url })
    }
}

#[derive(Debug, Clone)]
pub struct Repository {
    api: Arc<Api>,
    name: String,
    owner: String,
    repository: String,
    definition: RegistryDefinition,
}

/// What the list of a folder says about one thing in it.
#[derive(Debug, Deserialize)]
struct Listed {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    sha: String,
}

/// GitHub answers a folder with a list, and anything else with a map.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Contents {
    Folder(Vec<Listed>),
    Other(serde::de::IgnoredAny),
}

impl Repository {
    /// `name` is what the registry is called.
    pub fn new(api: Arc<Api>, name: String, owner: &str, repository: &str) -> Self {
        let url = format!("https://github.com/{owner}/{repository}");
        Self {
            api,
            name,
            owner: owner.to_owned(),
            repository: repository.to_owned(),
            definition: RegistryDefinition::new(RegistryType::Github, url),
        }
    }

    /// The same as it was registered: perhaps of another branch, or of an enterprise.
    pub fn defined(self, definition: RegistryDefinition) -> Self {
        Self { definition, ..self }
    }

    fn contents(&self, path: &FilePath) -> Url {
        let mut url = self.api.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            let repository = [
                "repos",
                self.owner.as_str(),
                self.repository.as_str(),
                "contents",
            ];
            segments
                .pop_if_empty()
                .extend(repository)
                .extend(path.names());
        }
        if let Some(reference) = &self.definition.reference {
            url.query_pairs_mut().append_pair("ref", reference);
        }
        url
    }

    /// `None` if there is nothing at this path.
    async fn get(
        &self,
        path: &FilePath,
        accept: &str,
        limit: usize,
    ) -> Result<Option<Answer>, RegistryError> {
        let url = self.contents(path);
        let answer = self.api.web.get(&url, accept, limit).await?;
        match answer.status {
            StatusCode::OK => Ok(Some(answer)),
            StatusCode::NOT_FOUND => Ok(None),
            status => Err(WebError::Status {
                url: url.into(),
                status,
            }
            .into()),
        }
    }

    fn listed(
        &self,
        folder: &FilePath,
        answer: &Answer,
    ) -> Result<Option<Vec<Entry>>, RegistryError> {
        let contents =
            serde_json::from_slice(&answer.body).map_err(|error| RegistryError::Malformed {
                url: self.contents(folder).into(),
                reason: error.to_string(),
            })?;
        let Contents::Folder(listed) = contents else {
            return Ok(None);
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

fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    answer.headers.get(name)?.to_str().ok()
}

#[async_trait]
impl Files for Repository {
    async fn read(&self, file: &FilePath) -> Result<Option<Vec<u8>>, RegistryError> {
        let answer = self.get(file, RAW, FILE_BYTES).await?;
        // Of a folder there is nothing raw: it is listed as plain JSON instead.
        let is_raw = |answer: &Answer| {
            !header(answer, CONTENT_TYPE.as_str())
                .is_some_and(|t| t.starts_with("application/json"))
        };
        Ok(answer.filter(is_raw).map(|answer| answer.body))
    }

    fn path_of(&self, file: &FilePath) -> String {
        format!("{}/{file}", self.name)
    }

    fn url_of(&self, file: &FilePath) -> String {
        self.contents(file).into()
    }
}

#[async_trait]
impl Registry for Repository {
    fn summary(&self) -> RegistrySummary {
        RegistrySummary {
            name: self.name.clone(),
            definition: self.definition.clone(),
        }
    }

    async fn entries(&self, folder: &FilePath) -> Result<Option<Vec<Entry>>, RegistryError> {
        match self.get(folder, LIST, LIST_BYTES).await? {
            Some(answer) => self.listed(folder, &answer),
            None => Ok(None),
        }
    }
}
