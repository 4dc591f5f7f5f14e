//! A web server's folder as a registry: its files are listed in a `SHA256SUMS` at its root, as `sha256sum` writes it.
//!
//! ```text
//! find . -type f ! -name SHA256SUMS -exec sha256sum {} + > SHA256SUMS
//! ```
//!
//! Plain HTTP has no listings; this one also says what each file must hold, so that a file that changes on the way, or
//! before the list does, is refused.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::manager::RegistrySummary;
use common::model::RegistryDefinition;
use url::Url;

use super::fresh::{Fresh, Loaded, Old};
use super::http::UrlFolder;
use super::path::FilePath;
use super::tree::{self, Tree};
use super::web::{Age, Web};
use super::{Entry, FILE_BYTES, Files, Registry, RegistryError};

const LIST: &str = "SHA256SUMS";
/// 200,000 files with paths of some 100 characters.
const LIST_BYTES: usize = 32 * 1024 * 1024;
const DIGEST_CHARS: usize = 64;

#[derive(Debug, Clone)]
pub struct Listed {
    name: String,
    definition: RegistryDefinition,
    folder: UrlFolder,
    tree: Fresh<Tree>,
}

impl Listed {
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
            folder: UrlFolder::new(web, base, Age::Any),
            tree: Fresh::new(refresh),
        }
    }

    async fn tree(&self) -> Result<Arc<Tree>, RegistryError> {
        let this = self.clone();
        self.tree.get(|_| async move { this.load().await }).await
    }

    async fn load(&self) -> Result<Loaded<Tree>, RegistryError> {
        let list = FilePath::parse(LIST)?;
        let url = self.folder.url_of(&list);
        let kept = self.folder.get(&list, LIST_BYTES, Age::new()).await?;
        let kept = kept.ok_or_else(|| RegistryError::NoList { url: url.clone() })?;
        let text = std::str::from_utf8(&kept.body).map_err(|_| RegistryError::NotText {
            file: self.path_of(&list),
        })?;
        let files = parse(text).map_err(|reason| RegistryError::Malformed { url, reason })?;
        Ok(Loaded {
            value: Arc::new(Tree::new(files)),
            old: kept.old,
        })
    }
}

/// `<digest>  <path>`, or ` *` between them for files read as bytes.
fn parse(text: &str) -> Result<Vec<(FilePath, String)>, String> {
    let mut files = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let fault = |what: &str| format!("line {}: {what}", number + 1);
        if files.len() == tree::FILES {
            return Err(fault(&format!("more than {} files", tree::FILES)));
        }
        let (digest, path) = line
            .split_once(' ')
            .and_then(|(digest, rest)| Some((digest, rest.strip_prefix([' ', '*'])?)))
            .filter(|(digest, _)| {
                digest.len() == DIGEST_CHARS && digest.bytes().all(|b| b.is_ascii_hexdigit())
            })
            .ok_or_else(|| fault("no line of sha256sum"))?;
        let path = path.strip_prefix("./").unwrap_or(path);
        // Hidden files are in no template; whoever lists a whole checkout lists them too.
        if path
            .split('/')
            .any(|name| name.starts_with('.') && name != "..")
        {
            continue;
        }
        let path = FilePath::parse(path).map_err(|error| fault(&error.to_string()))?;
        files.push((path, digest.to_ascii_lowercase()));
    }
    Ok(files)
}

#[async_trait]
impl Files for Listed {
    async fn read(&self, file: &FilePath) -> Result<Option<Vec<u8>>, RegistryError> {
        let tree = self.tree().await?;
        let Some(expected) = tree.content(file) else {
            return Ok(None);
        };
        // What the list says is what was given before, however long ago.
        for age in [Age::Any, Age::new()] {
            match self.folder.get(file, FILE_BYTES, age).await? {
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

    fn stale(&self) -> Option<Old> {
        self.tree.stale()
    }

    fn expire(&self) {
        self.tree.expire();
    }
}

#[async_trait]
impl Registry for Listed {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_what_sha256sum_writes() {
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let text = format!("{digest}  ./a/v1/a.py\n{digest} *b c.txt\n{digest}  ./.git/HEAD\n");
        let files = parse(&text).unwrap();
        let paths: Vec<_> = files.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["a/v1/a.py", "b c.txt"]);
        for bad in [
            "abc  a",
            &format!("{digest} a"),
            &format!("{digest}  ../a"),
            &format!("{digest}  /etc/passwd"),
            &format!("{digest}  a/../../b"),
            "<html>",
        ] {
            assert!(parse(bad).unwrap_err().contains("line 1"), "{bad}");
        }
    }
}
