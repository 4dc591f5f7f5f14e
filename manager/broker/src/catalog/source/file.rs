//! A file on disk.

use std::path::{Path, PathBuf};

use async_trait::async_trait;

use super::{File, Folder, Source, SourceError};

pub struct FileSource {
    path: PathBuf,
}

impl FileSource {
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }
}

#[async_trait]
impl Source for FileSource {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    async fn fetch(&self) -> Result<Vec<File>, SourceError> {
        let text = tokio::fs::read_to_string(&self.path).await;
        let text = text.map_err(|error| {
            SourceError::Faulty(format!("{} cannot be read: {error}", self.name()))
        })?;
        let folder = self.path.parent().unwrap_or(Path::new(""));
        Ok(vec![File {
            path: self.path.clone(),
            text,
            beside: Folder::Disk(folder.to_owned()),
        }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_is_read_as_it_is_now() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.yaml");
        let source = FileSource::new(path.clone());
        let missing = source.fetch().await.unwrap_err();
        assert!(
            matches!(&missing, SourceError::Faulty(reason) if reason.contains("cannot be read"))
        );
        std::fs::write(&path, "services: []").unwrap();
        let [file] = &source.fetch().await.unwrap()[..] else {
            panic!("one file")
        };
        assert_eq!((file.text.as_str(), &file.path), ("services: []", &path));
        std::fs::write(folder.path().join("web.jinja"), "resources: []").unwrap();
        assert_eq!(file.beside.text("web.jinja").unwrap(), "resources: []");
        assert_eq!(source.fetch().await.unwrap(), std::slice::from_ref(file));
    }
}
