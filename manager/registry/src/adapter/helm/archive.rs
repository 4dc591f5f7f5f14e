//! One archive of a chart repository.

use async_trait::async_trait;
use common::registry::{FilePath, PACKED};
use common_chart::index::Archive;

use super::Repository;
use crate::RegistryError;
use crate::adapter::Files;
use crate::cache::Staleness;

pub struct ArchiveFile {
    repository: Repository,
    archive: Archive,
}

impl ArchiveFile {
    pub fn new(repository: Repository, archive: Archive) -> Self {
        Self {
            repository,
            archive,
        }
    }
}

/// Only the archive is there.
#[async_trait]
impl Files for ArchiveFile {
    async fn read(&self, file: &FilePath) -> Result<Option<Vec<u8>>, RegistryError> {
        match file.as_str().ends_with(PACKED) {
            true => self.repository.archive(&self.archive).await.map(Some),
            false => Ok(None),
        }
    }

    fn path_of(&self, file: &FilePath) -> String {
        self.repository.path_of(file)
    }

    fn url_of(&self, _: &FilePath) -> String {
        let url = self.repository.joined(&self.archive.url);
        url.map_or_else(|_| self.archive.url.clone(), String::from)
    }

    fn stale(&self) -> Option<Staleness> {
        self.repository.stale()
    }

    fn expire(&self) {
        self.repository.expire();
    }
}
