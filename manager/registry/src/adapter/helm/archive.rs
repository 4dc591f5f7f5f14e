//! One archive of a chart repository.

use async_trait::async_trait;
use common::registry::{FilePath, PACKED};
use common_chart::index::Archive;

use super::{Repository, is_provenance};
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

/// Only the archive is there, and perhaps its provenance.
#[async_trait]
impl Files for ArchiveFile {
    async fn read(&self, file: &FilePath) -> Result<Option<Vec<u8>>, RegistryError> {
        let name = file.as_str();
        if name.ends_with(PACKED) {
            return self.repository.archive(&self.archive).await.map(Some);
        }
        match is_provenance(name) {
            true => self.repository.provenance(&self.archive).await,
            false => Ok(None),
        }
    }

    fn path_of(&self, file: &FilePath) -> String {
        self.repository.path_of(file)
    }

    fn url_of(&self, file: &FilePath) -> String {
        self.repository.address(&self.archive, file)
    }

    fn stale(&self) -> Option<Staleness> {
        self.repository.stale()
    }

    fn expire(&self) {
        self.repository.expire();
    }
}
