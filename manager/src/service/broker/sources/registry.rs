//! A version of a template in a registry, as every reference means it.
//!
//! The registry keeps answers as for templates: `--registry-refresh` says for how long, and a refresh of the registry ends
//! it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use common::model::{Import, TypeName};
use common::registry::PACKED;
use common::work;
use manager_broker::{Address, File, Folder, Source, SourceError};
use manager_registry::Registries;

/// Most looks are answered from what the registry keeps.
const INTERVAL: Duration = Duration::from_secs(2);

pub struct RegistrySource {
    pub registries: Arc<Registries>,
    pub reference: TypeName,
}

#[async_trait]
impl Source for RegistrySource {
    fn name(&self) -> String {
        Address::Registry(self.reference.clone()).to_string()
    }

    fn interval(&self) -> Duration {
        INTERVAL
    }

    async fn fetch(&self) -> Result<Vec<File>, SourceError> {
        let found = self.registries.resolve(&self.reference).await;
        let found = found.map_err(|error| {
            let message = format!("{}: {error}", self.name());
            match error.code().status() {
                500.. => SourceError::Unreachable(message),
                _ => SourceError::Faulty(message),
            }
        })?;
        let reference = self.reference.clone();
        Ok(work::large(move || files(&reference, found.imports)).await)
    }
}

fn files(reference: &TypeName, imports: Vec<Import>) -> Vec<File> {
    let is_template = |import: &Import| import.name == reference.as_str();
    let (template, others): (Vec<_>, Vec<_>) = imports.into_iter().partition(is_template);
    let files = template.into_iter().map(|template| {
        let folder = template.path().rsplit_once('/');
        let folder = folder.map_or("", |(folder, _)| folder);
        File {
            path: PathBuf::from(template.path()),
            beside: Folder::Held(Arc::new(held(folder, &others))),
            text: template.content,
        }
    });
    files.collect()
}

/// The files that the schema of the template imports, by their paths in its folder.
fn held(folder: &str, imports: &[Import]) -> BTreeMap<String, Vec<u8>> {
    let held = imports.iter().filter_map(|import| {
        let path = import.path().strip_prefix(folder)?;
        let path = path.trim_start_matches('/').to_owned();
        let content = match path.ends_with(PACKED) {
            true => BASE64_STANDARD.decode(&import.content).ok()?,
            false => import.content.clone().into_bytes(),
        };
        Some((path, content))
    });
    held.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestBed;

    #[tokio::test]
    async fn a_version_of_a_registry_is_read_with_what_its_schema_imports() {
        let bed = TestBed::new();
        let app = bed.manager().await;
        let source = |reference: &str| RegistrySource {
            registries: app.services.catalog.registries.clone(),
            reference: TypeName::parse(reference.to_owned()).unwrap(),
        };
        let missing = source("shop:v1").fetch().await.unwrap_err();
        assert!(
            matches!(&missing, SourceError::Faulty(reason) if reason.contains("registry:shop:v1")),
            "{missing:?}"
        );
        bed.add_file("shop/v1/shop.broker.yaml", "services: []");
        bed.add_file(
            "shop/v1/shop.broker.yaml.schema",
            "imports: [{path: types/web.jinja}]",
        );
        bed.add_file("shop/v1/types/web.jinja", "resources: []");
        let files = source("shop:v1").fetch().await.unwrap();
        assert_eq!(files[0].text, "services: []");
        assert!(
            files[0].path.ends_with("shop/v1/shop.broker.yaml"),
            "{files:?}"
        );
        assert_eq!(
            files[0].beside.text("types/web.jinja").unwrap(),
            "resources: []"
        );
        bed.add_file("shop/v1.0.1/shop.broker.yaml", "services: [1]");
        let newer = source("shop:v1").fetch().await.unwrap();
        assert_eq!(newer[0].text, "services: [1]");
    }
}
