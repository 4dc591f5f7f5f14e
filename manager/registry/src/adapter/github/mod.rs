//! A repository on GitHub, or GitHub Enterprise, as a registry, through its REST API only.
//!
//! ```text
//! GET /repos/{owner}/{repo}/git/trees/{ref}?recursive=1     all paths at once, asked for with its ETag
//!     truncated ─► GET …/git/trees/{sha}                    folder by folder; a sha names its content for good
//!     404 ──────► GET …/contents/{path}                     for what speaks this part of the API only
//! GET …/git/blobs/{sha}, or …/contents/{path}, as raw       a file
//! ```

mod contents;
mod trees;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::manager::RegistrySummary;
use common::model::{RegistryDefinition, RegistryType};
use common::registry::{FilePath, limit_of};
use jiff::Timestamp;
use reqwest::StatusCode;
use url::Url;

use crate::RegistryError;
use crate::adapter::tree::Tree;
use crate::adapter::{Entry, Files, Registry};
use crate::cache::{Loaded, StaleWhileRevalidate, Staleness};
use crate::transport::{CachedAnswer, MaxAge, Web, WebError};

const RAW: &str = "application/vnd.github.raw+json";
const JSON: &str = "application/vnd.github+json";
const DEFAULT_BRANCH: &str = "HEAD";

/// GitHub's API, at an address of the operator's choice.
#[derive(Debug)]
pub struct Api {
    web: Web,
    base: Url,
    refresh: Duration,
}

impl Api {
    pub fn new(web: Web, base: &str, refresh: Duration) -> Result<Self, RegistryError> {
        let invalid = || RegistryError::ApiUrl {
            text: base.to_owned(),
        };
        let url = Url::parse(base).map_err(|_| invalid())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(invalid());
        }
        Ok(Self {
            web,
            base: url,
            refresh,
        })
    }
}

#[derive(Debug, Clone)]
pub struct Repository {
    api: Arc<Api>,
    name: String,
    owner: String,
    repository: String,
    definition: RegistryDefinition,
    view: StaleWhileRevalidate<View>,
}

/// How the repository is read.
#[derive(Debug)]
enum View {
    /// `digest` is that of the response with the tree.
    Whole { digest: String, tree: Tree },
    /// For a repository with more files than one answer holds: the tree of its root.
    Levels { root: String },
    /// The next use requests it again.
    Folders { since: Timestamp },
}

impl Repository {
    /// `name` is the name of the registry.
    pub fn new(api: Arc<Api>, name: String, owner: &str, repository: &str) -> Self {
        let url = format!("https://github.com/{owner}/{repository}");
        Self {
            view: StaleWhileRevalidate::new(api.refresh),
            api,
            name,
            owner: owner.to_owned(),
            repository: repository.to_owned(),
            definition: RegistryDefinition::new(RegistryType::Github, url),
        }
    }

    /// With its registration: possibly another branch, or a GitHub Enterprise.
    pub fn defined(self, definition: RegistryDefinition) -> Self {
        Self { definition, ..self }
    }

    async fn view(&self) -> Result<Arc<View>, RegistryError> {
        let this = self.clone();
        self.view
            .get(|before| async move { this.look(before).await })
            .await
    }

    async fn look(&self, before: Option<Arc<View>>) -> Result<Loaded<View>, RegistryError> {
        let reference = self.definition.reference.as_deref();
        let reference = reference.unwrap_or(DEFAULT_BRANCH);
        let mut url = self.url(&["git", "trees", reference]);
        url.query_pairs_mut().append_pair("recursive", "1");
        let kept = self
            .get(&url, JSON, trees::ANSWER_BYTES, MaxAge::ZERO)
            .await?;
        let (staleness, status) = (kept.staleness.clone(), kept.status);
        let value = match (status, before) {
            (StatusCode::OK, Some(before)) if before.is_of(&kept) => before,
            (StatusCode::OK, _) => Arc::new(trees::whole(&kept).map_err(|r| malformed(&url, r))?),
            (StatusCode::NOT_FOUND, _) => Arc::new(View::Folders {
                since: Timestamp::now(),
            }),
            // An empty repository.
            (StatusCode::CONFLICT, _) => Arc::new(View::Whole {
                digest: kept.sha256,
                tree: Tree::default(),
            }),
            _ => return Err(refused(url, status)),
        };
        Ok(Loaded { value, staleness })
    }

    async fn get(
        &self,
        url: &Url,
        accept: &str,
        limit: usize,
        age: MaxAge,
    ) -> Result<CachedAnswer, RegistryError> {
        Ok(self.api.web.fetch(url, accept, limit, age).await?)
    }

    /// Below the repository's part of the API.
    fn url(&self, below: &[&str]) -> Url {
        let mut url = self.api.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            let repository = ["repos", self.owner.as_str(), self.repository.as_str()];
            segments.pop_if_empty().extend(repository).extend(below);
        }
        url
    }
}

impl View {
    fn is_of(&self, kept: &CachedAnswer) -> bool {
        matches!(self, Self::Whole { digest, .. } if *digest == kept.sha256)
    }
}

fn refused(url: Url, status: StatusCode) -> RegistryError {
    let url = url.into();
    WebError::Status { url, status }.into()
}

fn malformed(url: &Url, reason: String) -> RegistryError {
    let url = url.to_string();
    RegistryError::Malformed { url, reason }
}

#[async_trait]
impl Files for Repository {
    async fn read(&self, file: &FilePath) -> Result<Option<Vec<u8>>, RegistryError> {
        let view = self.view().await?;
        let read = match &*view {
            View::Whole { tree, .. } => match tree.content(file) {
                Some(sha) => self.blob(sha, file).await,
                None => Ok(None),
            },
            View::Levels { root } => match self.sha(root, file).await? {
                Some(sha) => self.blob(&sha, file).await,
                None => Ok(None),
            },
            View::Folders { since } => self.raw(file, MaxAge::Since(*since)).await,
        };
        read.map_err(|error| match error {
            RegistryError::Web(WebError::TooLarge { .. }) => RegistryError::FileTooLarge {
                file: self.path_of(file),
                limit: limit_of(file),
            },
            error => error,
        })
    }

    fn path_of(&self, file: &FilePath) -> String {
        format!("{}/{file}", self.name)
    }

    fn url_of(&self, file: &FilePath) -> String {
        self.contents(file).into()
    }

    fn stale(&self) -> Option<Staleness> {
        self.view.stale()
    }

    fn expire(&self) {
        self.view.expire();
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
        match &*self.view().await? {
            View::Whole { tree, .. } => Ok(tree.entries(folder)),
            View::Levels { root } => self.level(root, folder).await,
            View::Folders { since } => self.folder(folder, MaxAge::Since(*since)).await,
        }
    }
}
