//! A registry in a git repository.
//!
//! The clone has no history and no working files: contents are read from git's objects and written as git's objects. So line
//! endings, filters and `.gitignore` do not change what is published.

use std::path::Path;

use common::registry::{FILE_BYTES, FilePath, TEMPLATE_BYTES};
use tempfile::TempDir;

use super::git_command::{GitError, git, text};
use super::{PublishError, RegistryWriter, version_folder};
use crate::authoring::package::{CheckedVersion, VersionFiles};

/// The mode of a file that is neither a link nor executable.
const ORDINARY: &str = "100644";
const EXECUTABLE: &str = "100755";

/// The clone. It is deleted when this value is dropped.
#[derive(Debug)]
pub struct Repository {
    clone: TempDir,
    branch: String,
    /// The repository has no commit yet.
    is_empty: bool,
}

/// A file or folder of a commit.
struct Entry {
    mode: String,
    object: String,
    size: usize,
    path: String,
}

impl Repository {
    /// `branch`: the repository's default branch, if absent.
    pub async fn clone(url: &str, branch: Option<&str>) -> Result<Self, PublishError> {
        let clone = TempDir::with_prefix("dm-publish-").map_err(GitError::NoFolder)?;
        let mut arguments = vec!["clone", "--quiet", "--depth=1", "--no-checkout"];
        if let Some(branch) = branch {
            arguments.extend(["--branch", branch]);
        }
        arguments.extend(["--", url, "."]);
        let at = clone.path();
        git(at, &arguments, &[]).await?;
        let head = text(at, &["symbolic-ref", "--short", "HEAD"], &[]).await;
        let branch = head.map_err(|_| GitError::NoBranch(branch.unwrap_or("HEAD").to_owned()))?;
        let commit = ["rev-parse", "--quiet", "--verify", "HEAD^{commit}"];
        let is_empty = git(at, &commit, &[]).await.is_err();
        if !is_empty {
            git(at, &["read-tree", "HEAD"], &[]).await?;
        }
        Ok(Self {
            clone,
            branch,
            is_empty,
        })
    }

    fn path(&self) -> &Path {
        self.clone.path()
    }

    /// The entry of a path; with `/` at the end, the entries in that folder; with `-r`, all below it.
    async fn entries(&self, options: &[&str], path: &str) -> Result<Vec<Entry>, PublishError> {
        if self.is_empty {
            return Ok(Vec::new());
        }
        let fixed = ["ls-tree", "-z", "-l", "--full-tree"];
        let arguments = [&fixed, options, &["HEAD", "--", path]].concat();
        let printed = text(self.path(), &arguments, &[]).await?;
        let lines = printed.split('\0').filter(|line| !line.is_empty());
        let entries =
            lines.map(|line| entry(line).ok_or_else(|| GitError::Malformed(line.to_owned())));
        Ok(entries.collect::<Result<_, _>>()?)
    }

    async fn content(&self, entry: &Entry) -> Result<Vec<u8>, PublishError> {
        let what = match entry.mode.as_str() {
            ORDINARY | EXECUTABLE if entry.size <= FILE_BYTES => {
                let read = git(self.path(), &["cat-file", "blob", &entry.object], &[]).await;
                return Ok(read?);
            }
            ORDINARY | EXECUTABLE => format!("larger than {FILE_BYTES} bytes"),
            _ => "not an ordinary file".to_owned(),
        };
        let path = entry.path.clone();
        Err(PublishError::Unusual { path, what })
    }

    /// Adds files to the index of the clone.
    async fn add(&self, folder: &FilePath, files: &VersionFiles) -> Result<(), PublishError> {
        let mut index = String::new();
        for (path, content) in files {
            let store = ["hash-object", "-w", "--no-filters", "--stdin"];
            let object = text(self.path(), &store, content).await?;
            let path = folder.join(path);
            index.push_str(&format!("{ORDINARY} {object}\t{path}\0"));
        }
        let update = ["update-index", "--add", "-z", "--index-info"];
        git(self.path(), &update, index.as_bytes()).await?;
        Ok(())
    }
}

/// `mode type object size\tpath`. The size of a folder is `-`.
fn entry(line: &str) -> Option<Entry> {
    let (facts, path) = line.split_once('\t')?;
    let mut facts = facts.split_whitespace();
    let (mode, _, object) = (facts.next()?, facts.next()?, facts.next()?);
    Some(Entry {
        mode: mode.to_owned(),
        object: object.to_owned(),
        size: facts.next()?.parse().unwrap_or_default(),
        path: path.to_owned(),
    })
}

impl RegistryWriter for Repository {
    async fn root_file(&self, name: &FilePath) -> Result<Option<Vec<u8>>, PublishError> {
        match self.entries(&[], name.as_str()).await?.first() {
            Some(entry) => self.content(entry).await.map(Some),
            None => Ok(None),
        }
    }

    async fn versions(&self, template: &FilePath) -> Result<Vec<String>, PublishError> {
        let entries = self.entries(&[], &format!("{template}/")).await?;
        let names = entries
            .iter()
            .filter_map(|entry| entry.path.rsplit('/').next());
        Ok(names.map(str::to_owned).collect())
    }

    async fn version(
        &self,
        template: &FilePath,
        version: &str,
    ) -> Result<VersionFiles, PublishError> {
        let folder = format!("{}/", version_folder(template, version)?);
        let entries = self.entries(&["-r"], &folder).await?;
        let bytes: usize = entries.iter().map(|entry| entry.size).sum();
        if bytes > TEMPLATE_BYTES {
            let what = format!("larger than {TEMPLATE_BYTES} bytes");
            return Err(PublishError::Unusual { path: folder, what });
        }
        let mut files = VersionFiles::new();
        for entry in &entries {
            let within = entry.path.strip_prefix(&folder).unwrap_or(&entry.path);
            files.insert(FilePath::listed(within)?, self.content(entry).await?);
        }
        Ok(files)
    }

    async fn put(&self, template: &FilePath, package: &CheckedVersion) -> Result<(), PublishError> {
        let folder = version_folder(template, &package.version)?;
        self.add(&folder, &package.files).await?;
        let message = format!("Publish {template}:{}", package.version);
        git(self.path(), &["commit", "--quiet", "-m", &message], &[]).await?;
        let to = format!("HEAD:refs/heads/{}", self.branch);
        match git(self.path(), &["push", "--quiet", "origin", &to], &[]).await {
            Err(GitError::Failed { said, .. }) if is_behind(&said) => {
                Err(GitError::Overtaken.into())
            }
            pushed => Ok(pushed.map(|_| ())?),
        }
    }
}

/// Whether the push was refused because somebody else pushed first.
fn is_behind(said: &str) -> bool {
    ["fetch first", "non-fast-forward", "cannot lock ref"]
        .iter()
        .any(|reason| said.contains(reason))
}
