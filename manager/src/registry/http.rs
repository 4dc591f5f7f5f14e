//! The folder of a full URL: files by name, without a listing.

use async_trait::async_trait;
use common::api::manager::RegistrySummary;
use common::model::{RegistryDefinition, RegistryType};
use reqwest::StatusCode;
use url::Url;

use super::path::FilePath;
use super::web::{Web, WebError};
use super::{FILE_BYTES, Files, RegistryError};

#[derive(Debug, Clone)]
pub struct UrlFolder {
    web: Web,
    base: Url,
}

impl UrlFolder {
    /// `base` ends with a `/`.
    pub fn new(web: Web, base: Url) -> Self {
        Self { web, base }
    }

    /// How it is shown where registries are.
    pub fn summary(&self) -> RegistrySummary {
        RegistrySummary {
            name: self.base.origin().ascii_serialization(),
            definition: RegistryDefinition::new(RegistryType::Http, self.base.as_str()),
        }
    }

    /// A file's bytes, of which there may be more than those of a template.
    pub async fn read_up_to(
        &self,
        file: &FilePath,
        limit: usize,
    ) -> Result<Option<Vec<u8>>, RegistryError> {
        let url = self.url(file);
        let answer = self.web.get(&url, "*/*", limit).await?;
        match answer.status {
            StatusCode::OK => Ok(Some(answer.body)),
            StatusCode::NOT_FOUND | StatusCode::GONE => Ok(None),
            status => Err(WebError::Status {
                url: url.into(),
                status,
            }
            .into()),
        }
    }

    fn url(&self, file: &FilePath) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(file.names());
        }
        url
    }
}

#[async_trait]
impl Files for UrlFolder {
    async fn read(&self, file: &FilePath) -> Result<Option<Vec<u8>>, RegistryError> {
        self.read_up_to(file, FILE_BYTES).await
    }

    fn path_of(&self, file: &FilePath) -> String {
        self.url(file).into()
    }

    fn url_of(&self, file: &FilePath) -> String {
        self.url(file).into()
    }
}
