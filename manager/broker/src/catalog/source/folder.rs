//! The files beside a document of the catalog: templates, schemas and charts that it names.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Folder {
    /// On disk. Only the files that a document names are read.
    Disk(PathBuf),
    /// All files, by their paths.
    Held(Arc<BTreeMap<String, Vec<u8>>>),
}

impl Folder {
    pub fn has(&self, path: &str) -> bool {
        match self {
            Self::Disk(folder) => folder.join(path).is_file(),
            Self::Held(files) => files.contains_key(path),
        }
    }

    pub fn bytes(&self, path: &str) -> Result<Vec<u8>, String> {
        match self {
            Self::Disk(folder) => {
                let file = folder.join(path);
                std::fs::read(&file)
                    .map_err(|error| format!("{} cannot be read: {error}", file.display()))
            }
            Self::Held(files) => files.get(path).cloned().ok_or_else(|| {
                let known: Vec<_> = files.keys().map(String::as_str).collect();
                let known = match known.is_empty() {
                    true => "there are no files beside the document".to_owned(),
                    false => format!("the files beside the document are {}", known.join(", ")),
                };
                format!("{path} cannot be read: {known}")
            }),
        }
    }

    pub fn text(&self, path: &str) -> Result<String, String> {
        String::from_utf8(self.bytes(path)?)
            .map_err(|_| format!("{path} cannot be read: it is not text in UTF-8"))
    }

    /// Where a file is on disk. It may change there without any change of a document.
    pub fn place(&self, path: &str) -> Option<PathBuf> {
        match self {
            Self::Disk(folder) => Some(folder.join(path)),
            Self::Held(_) => None,
        }
    }
}
