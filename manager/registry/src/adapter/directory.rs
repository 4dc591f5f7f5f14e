//! A registry in a folder on disk.
//!
//! Links are rejected: a registry may be a checkout of another person's repository, and a link in it must not reveal a
//! file of this machine.

use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use common::api::manager::RegistrySummary;
use common::model::{RegistryDefinition, RegistryType};
use common::registry::path::is_of_git;
use common::registry::{FilePath, limit_of};

use crate::RegistryError;
use crate::adapter::{Entry, EntryKind, FOLDER_ENTRIES, Files, Registry};

#[derive(Debug, Clone)]
pub struct Directory {
    name: String,
    root: PathBuf,
}

impl Directory {
    /// The root itself may be a link. It is followed once, here.
    pub fn open(name: &str, root: &Path) -> std::io::Result<Self> {
        let root = root.canonicalize()?;
        if !root.is_dir() {
            return Err(ErrorKind::NotADirectory.into());
        }
        Ok(Self {
            name: name.to_owned(),
            root,
        })
    }

    fn io(&self, path: &FilePath, source: std::io::Error) -> RegistryError {
        RegistryError::Io {
            path: self.path_of(path),
            source,
        }
    }

    /// The file of a path without links. `None` if it does not exist.
    fn place(&self, path: &FilePath) -> Result<Option<(PathBuf, Metadata)>, RegistryError> {
        let mut place = self.root.clone();
        let mut metadata = place
            .symlink_metadata()
            .map_err(|error| self.io(path, error))?;
        for name in path.names() {
            place.push(name);
            metadata = match place.symlink_metadata() {
                Ok(metadata) => metadata,
                Err(error)
                    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
                {
                    return Ok(None);
                }
                Err(error) => return Err(self.io(path, error)),
            };
            if metadata.is_symlink() {
                return Err(RegistryError::NotOrdinary {
                    path: self.path_of(path),
                });
            }
        }
        Ok(Some((place, metadata)))
    }

    fn read_now(&self, path: &FilePath) -> Result<Option<Vec<u8>>, RegistryError> {
        let Some((place, metadata)) = self.place(path)? else {
            return Ok(None);
        };
        if metadata.is_dir() {
            return Ok(None);
        }
        if !metadata.is_file() {
            return Err(RegistryError::NotOrdinary {
                path: self.path_of(path),
            });
        }
        let file = File::open(place).map_err(|error| self.io(path, error))?;
        let mut bytes = Vec::new();
        let limit = limit_of(path);
        file.take(u64::try_from(limit).unwrap_or(u64::MAX) + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| self.io(path, error))?;
        if bytes.len() > limit {
            return Err(RegistryError::FileTooLarge {
                file: self.path_of(path),
                limit,
            });
        }
        Ok(Some(bytes))
    }

    fn entries_now(&self, path: &FilePath) -> Result<Option<Vec<Entry>>, RegistryError> {
        let Some((place, metadata)) = self.place(path)? else {
            return Ok(None);
        };
        if !metadata.is_dir() {
            return Ok(None);
        }
        let mut entries = Vec::new();
        for entry in place.read_dir().map_err(|error| self.io(path, error))? {
            let entry = entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?)));
            let (name, kind) = entry.map_err(|error| self.io(path, error))?;
            // A name that is not UTF-8 cannot be part of a reference.
            let Some(name) = name.into_string().ok().filter(|name| !is_of_git(name)) else {
                continue;
            };
            if entries.len() + 1 >= FOLDER_ENTRIES {
                return Err(RegistryError::TooManyEntries {
                    folder: self.path_of(path),
                    limit: FOLDER_ENTRIES,
                });
            }
            entries.push(Entry {
                name,
                kind: kind_of(kind),
                revision: None,
            });
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(Some(entries))
    }
}

fn kind_of(kind: std::fs::FileType) -> EntryKind {
    if kind.is_dir() {
        EntryKind::Folder
    } else if kind.is_file() {
        EntryKind::File
    } else {
        EntryKind::Other
    }
}

#[async_trait]
impl Files for Directory {
    async fn read(&self, file: &FilePath) -> Result<Option<Vec<u8>>, RegistryError> {
        let (this, path) = (self.clone(), file.clone());
        let read = tokio::task::spawn_blocking(move || this.read_now(&path)).await;
        read.unwrap_or_else(|error| Err(self.io(file, error.into())))
    }

    fn path_of(&self, file: &FilePath) -> String {
        format!("{}/{file}", self.name)
    }

    fn url_of(&self, file: &FilePath) -> String {
        let place = self.root.join(file.as_str());
        url::Url::from_file_path(&place).map_or_else(|()| place.display().to_string(), String::from)
    }
}

#[async_trait]
impl Registry for Directory {
    fn summary(&self) -> RegistrySummary {
        RegistrySummary {
            name: self.name.clone(),
            definition: RegistryDefinition::new(
                RegistryType::Directory,
                self.url_of(&FilePath::root()),
            ),
        }
    }

    async fn entries(&self, folder: &FilePath) -> Result<Option<Vec<Entry>>, RegistryError> {
        let (this, path) = (self.clone(), folder.clone());
        let read = tokio::task::spawn_blocking(move || this.entries_now(&path)).await;
        read.unwrap_or_else(|error| Err(self.io(folder, error.into())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> FilePath {
        FilePath::parse(text).unwrap()
    }

    #[tokio::test]
    async fn links_are_refused_wherever_they_lead() {
        let (outside, inside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("secret"), "s").unwrap();
        let link = |to: PathBuf, name: &str| {
            std::os::unix::fs::symlink(to, inside.path().join(name)).unwrap()
        };
        link(outside.path().into(), "folder");
        link(outside.path().join("secret"), "file");
        let registry = Directory::open("default", inside.path()).unwrap();
        for name in ["file", "folder/secret", "folder"] {
            let error = registry.read(&path(name)).await.unwrap_err();
            assert!(
                matches!(error, RegistryError::NotOrdinary { .. }),
                "{name}: {error}"
            );
        }
        assert!(registry.entries(&path("folder")).await.is_err());
        let entries = registry.entries(&FilePath::root()).await.unwrap().unwrap();
        assert!(
            entries.iter().all(|entry| entry.kind == EntryKind::Other),
            "{entries:?}"
        );
    }

    #[tokio::test]
    async fn a_pipe_is_no_file_and_holds_nobody_up() {
        let folder = tempfile::tempdir().unwrap();
        let socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
        let registry = Directory::open("default", folder.path()).unwrap();
        let error = registry.read(&path("socket")).await.unwrap_err();
        assert!(
            matches!(error, RegistryError::NotOrdinary { .. }),
            "{error}"
        );
        drop(socket);
    }
}
