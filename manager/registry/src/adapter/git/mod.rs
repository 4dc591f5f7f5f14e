//! A git repository as a registry, over any of git's network transports.
//!
//! The cache has a bare repository with one commit and no history. It is read without the network, also by the next
//! process, and fetched again after a while. Links and submodules are left out: a registry has only files and folders.

mod command;
mod folders;
mod trust;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use common::api::manager::RegistrySummary;
use common::model::RegistryDefinition;
use common::registry::sums::hex;
use common::registry::{FilePath, limit_of};
use jiff::Timestamp;
use url::Url;

use crate::RegistryError;
use crate::adapter::open::OpenContext;
use crate::adapter::tree::{self, Tree};
use crate::adapter::{Entry, Files, Registry};
use crate::cache::{Loaded, Partition, StaleWhileRevalidate, Staleness};
use crate::transport::Web;
use crate::transport::auth::Auth;
pub use command::GitError;
pub use trust::Trust;

use command::Git;
use trust::Way;

/// The one ref of the repository in the cache.
const HEAD: &str = "refs/dm/head";
/// A listing of 200,000 files.
const LISTING_BYTES: usize = 64 * 1024 * 1024;
const LINE_BYTES: usize = 4096;

#[derive(Debug, Clone)]
pub struct Repository {
    name: String,
    definition: RegistryDefinition,
    url: Url,
    web: Web,
    auth: Option<Arc<Auth>>,
    files: Partition,
    trust: Trust,
    git: Git,
    /// Bytes of all repositories in the cache.
    room: u64,
    held: StaleWhileRevalidate<Snapshot>,
}

/// The files of a commit. A content is named by its blob.
#[derive(Debug)]
struct Snapshot {
    commit: String,
    tree: Tree,
}

impl Repository {
    pub fn new(
        name: &str,
        definition: RegistryDefinition,
        url: Url,
        auth: Option<Auth>,
        context: &OpenContext,
    ) -> Self {
        let folder = folder(&context.cache, &definition);
        let owner = ["git", &folder.to_string_lossy(), ""];
        Self {
            files: Partition::new(context.files.clone(), &definition.url, owner),
            git: Git::new(folder),
            web: context.web.clone(),
            trust: context.git.clone(),
            room: context.room,
            name: name.to_owned(),
            definition,
            url,
            auth: auth.map(Arc::new),
            held: StaleWhileRevalidate::new(context.refresh),
        }
    }

    async fn snapshot(&self) -> Result<Arc<Snapshot>, RegistryError> {
        if self.held.is_empty()
            && let Some((snapshot, fetched)) = self.earlier().await
        {
            self.held.prefill(Arc::new(snapshot), fetched);
        }
        let this = self.clone();
        self.held
            .get(|before| async move { this.fetch(before).await })
            .await
    }

    /// The commit that an earlier process fetched. A commit that cannot be read is fetched again.
    async fn earlier(&self) -> Option<(Snapshot, Timestamp)> {
        let fetched = self
            .git
            .folder()
            .join(HEAD)
            .metadata()
            .ok()?
            .modified()
            .ok()?;
        let snapshot = self.read_commit(self.commit().await.ok()?).await.ok()?;
        Some((snapshot, Timestamp::try_from(fetched).ok()?))
    }

    async fn fetch(
        &self,
        before: Option<Arc<Snapshot>>,
    ) -> Result<Loaded<Snapshot>, RegistryError> {
        let addresses = self.web.addresses(&self.url).await?;
        let auth = match &self.auth {
            Some(auth) => {
                let header = auth.header().await;
                Some(header.map_err(|source| RegistryError::Credential {
                    registry: self.name.clone(),
                    source: source.into(),
                })?)
            }
            None => None,
        };
        let wanted = self.definition.reference.as_deref().unwrap_or("HEAD");
        let refspec = format!("+{wanted}:{HEAD}");
        let ways = self.trust.ways(&self.url, auth.as_ref(), &addresses);
        if before.is_none() {
            // If it exists, it could not be read.
            let removed = self.git.remove().await;
            removed.map_err(|error| self.failed(error))?;
        }
        let fetched = self.first(&ways, &refspec).await;
        fetched.map_err(|error| self.failed(error))?;
        folders::make_room(self.git.folder().to_owned(), self.room).await;
        let commit = self.commit().await?;
        match before {
            Some(before) if before.commit == commit => Ok(before.into()),
            _ => Ok(self.read_commit(commit).await?.into()),
        }
    }

    async fn first(&self, ways: &[Way], refspec: &str) -> Result<(), GitError> {
        let mut outcome = Err(GitError::NoRepository);
        for way in ways {
            outcome = self.git.fetch(way, refspec).await;
            if !matches!(outcome, Err(GitError::Failed(_))) {
                break;
            }
        }
        outcome
    }

    async fn commit(&self) -> Result<String, RegistryError> {
        let name = format!("{HEAD}^{{commit}}");
        let read = self
            .git
            .read(&["rev-parse", "--verify", &name], LINE_BYTES)
            .await;
        let bytes = read.map_err(|error| self.failed(error))?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    async fn read_commit(&self, commit: String) -> Result<Snapshot, RegistryError> {
        let list = ["ls-tree", "-r", "-z", "--full-tree", &commit];
        let read = self.git.read(&list, LISTING_BYTES).await;
        let files = parse(&read.map_err(|error| self.failed(error))?);
        if files.len() > tree::FILES {
            return Err(RegistryError::TooManyEntries {
                folder: self.name.clone(),
                limit: tree::FILES,
            });
        }
        let tree = Tree::new(files);
        Ok(Snapshot { commit, tree })
    }

    async fn held_file(&self, file: &FilePath) -> Result<Option<Vec<u8>>, RegistryError> {
        let snapshot = self.snapshot().await?;
        let Some(object) = snapshot.tree.content(file) else {
            return Ok(None);
        };
        if let Some(kept) = self.files.content(object).await {
            return Ok(Some(kept.into()));
        }
        match self
            .git
            .read(&["cat-file", "blob", object], limit_of(file))
            .await
        {
            Ok(bytes) => Ok(Some(self.files.put_content(object, bytes).await.into())),
            Err(GitError::TooLarge { limit }) => Err(RegistryError::FileTooLarge {
                file: self.path_of(file),
                limit,
            }),
            Err(GitError::Failed(said)) => Err(self.failed(GitError::Damaged(said))),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn failed(&self, error: GitError) -> RegistryError {
        let registry = self.name.clone();
        match error {
            GitError::NoRepository => RegistryError::RegistryMissing { registry },
            GitError::NoRef => RegistryError::NoRef {
                registry,
                reference: self.definition.reference.clone().unwrap_or_default(),
            },
            error => RegistryError::Git { registry, error },
        }
    }
}

/// A repository has one folder for each credential and ref.
fn folder(cache: &Path, definition: &RegistryDefinition) -> PathBuf {
    let credential = definition
        .credential
        .as_ref()
        .map_or("", |name| name.as_str());
    let parts = [
        definition.url.as_str(),
        definition.reference.as_deref().unwrap_or_default(),
        credential,
    ];
    cache.join("git").join(hex(parts.join("\0").as_bytes()))
}

/// Files of `git ls-tree -z`: `<mode> <type> <object>\t<path>`. Entries that cannot be part of a template are left out.
fn parse(listing: &[u8]) -> Vec<(FilePath, String)> {
    let lines = listing.split(|&byte| byte == 0);
    let file = |line: &[u8]| {
        let (head, path) = std::str::from_utf8(line).ok()?.split_once('\t')?;
        let mut words = head.split(' ');
        let (mode, kind, object) = (words.next()?, words.next()?, words.next()?);
        let ordinary = kind == "blob" && mode.starts_with("100");
        let path = FilePath::listed(path).ok().filter(|_| ordinary)?;
        Some((path, object.to_owned()))
    };
    lines.filter_map(file).collect()
}

#[async_trait]
impl Files for Repository {
    async fn read(&self, file: &FilePath) -> Result<Option<Vec<u8>>, RegistryError> {
        match self.held_file(file).await {
            Err(RegistryError::Git {
                error: GitError::Damaged(_),
                ..
            }) => {
                self.held.forget();
                let removed = self.git.remove().await;
                removed.map_err(|error| self.failed(error))?;
                self.held_file(file).await
            }
            read => read,
        }
    }

    fn path_of(&self, file: &FilePath) -> String {
        format!("{}/{file}", self.name)
    }

    fn url_of(&self, file: &FilePath) -> String {
        format!("{}#{file}", self.url)
    }

    fn stale(&self) -> Option<Staleness> {
        self.held.stale()
    }

    fn expire(&self) {
        self.held.expire();
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
        Ok(self.snapshot().await?.tree.entries(folder))
    }
}

#[cfg(test)]
mod listing {
    use super::*;

    #[test]
    fn links_and_submodules_are_left_out() {
        let listing =
            b"100644 blob aa\ta/v1/a.py\x00120000 blob bb\tlink\x00160000 commit cc\tmodule\x00\
            100755 blob dd\trun.sh\x00100644 blob ee\ta/v1/.helmignore\x00";
        let files = parse(listing);
        let found: Vec<_> = files
            .iter()
            .map(|(p, o)| (p.as_str(), o.as_str()))
            .collect();
        let expected = [
            ("a/v1/a.py", "aa"),
            ("run.sh", "dd"),
            ("a/v1/.helmignore", "ee"),
        ];
        assert_eq!(found, expected);
    }
}
