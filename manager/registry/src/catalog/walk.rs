//! All files below the folder of a version.

use common::model::Version;
use common::registry::FilePath;

use crate::RegistryError;
use crate::adapter::{Entry, EntryKind, Registry};

/// A folder, and how much of it is read.
pub struct Walk<'a> {
    pub registry: &'a dyn Registry,
    pub folder: &'a FilePath,
    /// The folder is a template's, and folders of versions in it do not belong to the version.
    pub is_whole: bool,
    /// The largest number of files.
    pub files: usize,
    /// The largest number of folders within each other.
    pub depth: usize,
}

impl Walk<'_> {
    /// Every file and other entry. `None` if a limit is exceeded. `skips` leaves out entries of the folder itself.
    pub async fn run(
        self,
        skips: impl Fn(&Entry) -> bool,
    ) -> Result<Option<Vec<FilePath>>, RegistryError> {
        let (mut found, mut level) = (Vec::new(), vec![self.folder.clone()]);
        for _ in 0..self.depth {
            let mut below = Vec::new();
            for folder in level {
                let entries = self.registry.entries(&folder).await?.unwrap_or_default();
                let is_top = folder == *self.folder;
                for entry in entries {
                    let is_version = entry.name.parse::<Version>().is_ok();
                    match entry.kind {
                        EntryKind::Folder if self.is_whole && is_top && is_version => {}
                        EntryKind::Folder => below.push(folder.join_listed(&entry.name)?),
                        _ if is_top && skips(&entry) => {}
                        EntryKind::File | EntryKind::Other => {
                            found.push(folder.join_listed(&entry.name)?);
                        }
                    }
                }
                if found.len() + below.len() > self.files {
                    return Ok(None);
                }
            }
            if below.is_empty() {
                return Ok(Some(found));
            }
            level = below;
        }
        Ok(None)
    }
}
