//! Templates that were fetched once and cannot change: kept in memory, by the revision of their folder.

use std::sync::{Arc, Mutex, PoisonError};

use crate::cache::Recent;
use crate::catalog::fetch::TemplateFile;

/// Some thousand templates as they are usually, and eight of the largest.
const KEPT_BYTES: u64 = 64 * 1024 * 1024;
/// What a file takes beside its text.
const FILE_BYTES: usize = 200;

/// A folder's path with its registry, and the revision of all that is in it.
pub type Key = (String, String);

#[derive(Debug)]
pub struct Templates(Mutex<Recent<Key, Arc<Vec<TemplateFile>>>>);

impl Default for Templates {
    fn default() -> Self {
        Self(Mutex::new(Recent::new(KEPT_BYTES)))
    }
}

impl Templates {
    pub fn get(&self, key: &Key) -> Option<Arc<Vec<TemplateFile>>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(key).cloned()
    }

    pub fn put(&self, key: Key, files: Arc<Vec<TemplateFile>>) {
        let sizes = files.iter().map(|file| file.content.len() + FILE_BYTES);
        let size = u64::try_from(sizes.sum::<usize>()).unwrap_or(u64::MAX);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.put(key, files, size);
    }
}
