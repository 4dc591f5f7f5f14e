//! The folder of a full URL: files by name, without a listing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use common::api::manager::RegistrySummary;
use common::model::{RegistryDefinition, RegistryType};
use common::registry::{FilePath, limit_of};
use reqwest::StatusCode;
use url::Url;

use crate::RegistryError;
use crate::adapter::Files;
use crate::cache::Staleness;
use crate::transport::{CachedAnswer, MaxAge, Web, WebError};

#[derive(Debug, Clone)]
pub struct UrlFolder {
    web: Web,
    base: Url,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    age: MaxAge,
    /// Set if an old response was used.
    staleness: Option<Staleness>,
}

impl UrlFolder {
    /// `base` ends with a `/`. Cached responses up to `age` are used without a request.
    pub fn new(web: Web, base: Url, age: MaxAge) -> Self {
        let state = Arc::new(Mutex::new(State {
            age,
            staleness: None,
        }));
        Self { web, base, state }
    }

    /// The folder in the form of a registry.
    pub fn summary(&self) -> RegistrySummary {
        RegistrySummary {
            name: self.base.origin().ascii_serialization(),
            definition: RegistryDefinition::new(RegistryType::Http, self.base.as_str()),
        }
    }

    /// A file, which may be larger than a template's file. `None` if it does not exist.
    pub async fn get(
        &self,
        file: &FilePath,
        limit: usize,
        age: MaxAge,
    ) -> Result<Option<CachedAnswer>, RegistryError> {
        let url = self.url(file);
        let kept = self.web.fetch(&url, "*/*", limit, age).await?;
        match kept.status {
            StatusCode::OK => Ok(Some(kept)),
            StatusCode::NOT_FOUND | StatusCode::GONE => Ok(None),
            status => Err(WebError::Status {
                url: url.into(),
                status,
            }
            .into()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        let age = self.state().age;
        let Some(kept) = self.get(file, limit_of(file), age).await? else {
            return Ok(None);
        };
        if kept.staleness.is_some() {
            self.state().staleness = kept.staleness;
        }
        Ok(Some(kept.body.into()))
    }

    fn path_of(&self, file: &FilePath) -> String {
        self.url(file).into()
    }

    fn url_of(&self, file: &FilePath) -> String {
        self.url(file).into()
    }

    fn stale(&self) -> Option<Staleness> {
        self.state().staleness.clone()
    }

    fn expire(&self) {
        self.state().age = MaxAge::ZERO;
    }
}
