//! A source in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::{File, Folder, Source, SourceError};

/// Clones share what it holds.
#[derive(Clone)]
pub struct FakeSource(Arc<Mutex<Result<Vec<File>, SourceError>>>);

impl FakeSource {
    /// It has one file, with these beside it.
    pub fn new(text: &str, beside: &[(&str, &str)]) -> Self {
        let source = Self(Arc::new(Mutex::new(Ok(Vec::new()))));
        source.put(text, beside);
        source
    }

    pub fn put(&self, text: &str, beside: &[(&str, &str)]) {
        let beside = beside.iter();
        let beside = beside.map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_owned()));
        *self.0.lock().unwrap() = Ok(vec![File {
            path: "fake/catalog.yaml".into(),
            text: text.to_owned(),
            beside: Folder::Held(Arc::new(BTreeMap::from_iter(beside))),
        }]);
    }

    pub fn fail(&self, error: SourceError) {
        *self.0.lock().unwrap() = Err(error);
    }
}

#[async_trait]
impl Source for FakeSource {
    fn name(&self) -> String {
        "fake".to_owned()
    }

    async fn fetch(&self) -> Result<Vec<File>, SourceError> {
        self.0.lock().unwrap().clone()
    }
}
