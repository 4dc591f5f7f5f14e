//! The Template objects that the manager has stored in a namespace: each is a service.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::model::Namespace;
use common::work;
use manager_broker::{Address, File, Folder, Source, SourceError};
use serde_json::Value;

use crate::store::{Store, templates};

/// A look reads all of the namespace.
const INTERVAL: Duration = Duration::from_secs(2);

pub struct TemplatesSource {
    pub store: Store,
    pub namespace: Namespace,
}

#[async_trait]
impl Source for TemplatesSource {
    fn name(&self) -> String {
        Address::Templates(self.namespace.clone()).to_string()
    }

    fn interval(&self) -> Duration {
        INTERVAL
    }

    /// A namespace without Templates offers nothing, and is no fault.
    async fn fetch(&self) -> Result<Vec<File>, SourceError> {
        let found = templates::all(&self.store, &self.namespace).await;
        let found = found.map_err(|error| {
            SourceError::Unreachable(format!("{} cannot be read: {error}", self.name()))
        })?;
        let namespace = self.namespace.clone();
        Ok(work::large(move || files(&namespace, found)).await)
    }
}

fn files(namespace: &Namespace, templates: Vec<Value>) -> Vec<File> {
    let none = Folder::Held(Arc::default());
    let file = |template: Value| {
        let name = template["metadata"]["name"].as_str().unwrap_or_default();
        File {
            path: PathBuf::from(format!("templates/{namespace}/{name}.template.json")),
            text: template.to_string(),
            beside: none.clone(),
        }
    };
    templates.into_iter().map(file).collect()
}
