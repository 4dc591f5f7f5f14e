//! The distribution protocol (OCI distribution specification 1.1): tags, manifests, blobs, authentication.
//!
//! The [`Transport`] decides which addresses are allowed, deadlines and retries. The client follows redirects itself. A
//! login is sent only to the registry and to the token server that the registry names. A blob on another host is
//! fetched without the login, and must have the expected digest.

mod error;
mod login;
mod push;
mod redirect;
mod transport;

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use reqwest::header::{ACCEPT, HeaderValue};
use reqwest::{Method, Request, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use self::error::NAMES;
use self::login::{RepositoryAction, copied};
use self::redirect::REDIRECTS;
use super::manifest::{self, Descriptor, Manifest};
use crate::address::loggable;
use crate::canonical::{Digest, digest_bytes};

pub use error::OciError;
pub use transport::{Answer, Transport};

/// The maximum size of a manifest: the specification's minimum for registries.
const MANIFEST_BYTES: usize = 4 * 1024 * 1024;
/// The maximum size of a page of a list, or of a token.
const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// The requested page size. A registry may return fewer items.
const PAGE: &str = "1000";
const PAGES: usize = 1_000;
/// One registry, with the login of the transport.
#[derive(Debug)]
pub struct Client<T> {
    transport: T,
    base: Url,
    /// Tokens, by repository and action.
    tokens: Mutex<HashMap<String, HeaderValue>>,
}

#[derive(Deserialize)]
struct Tags {
    tags: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Catalog {
    repositories: Option<Vec<String>>,
}

type Outcome<T, E> = Result<T, OciError<E>>;

impl<T: Transport> Client<T> {
    /// `base` is the root URL of the host.
    pub fn new(transport: T, base: Url) -> Self {
        Self {
            transport,
            base,
            tokens: Mutex::default(),
        }
    }

    /// The tags of a repository. `None` if there is no such repository.
    pub async fn tags(&self, repository: &str) -> Outcome<Option<BTreeSet<String>>, T::Error> {
        let url = self.url(repository, &["tags", "list"]);
        self.list(url, repository, |page: Tags| page.tags).await
    }

    /// All repositories. `None` if the registry does not list them for this login.
    pub async fn catalog(&self) -> Outcome<Option<BTreeSet<String>>, T::Error> {
        let mut url = self.base.clone();
        url.set_path("v2/_catalog");
        let listed = self.list(url, "", |page: Catalog| page.repositories).await;
        match listed {
            Err(OciError::Closed { .. }) => Ok(None),
            Err(OciError::Status {
                status: StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED,
                ..
            }) => Ok(None),
            listed => listed,
        }
    }

    /// The manifest of a tag, with its digest. `None` if there is no such tag.
    pub async fn manifest(
        &self,
        repository: &str,
        tag: &str,
    ) -> Outcome<Option<(Digest, Manifest)>, T::Error> {
        let url = self.url(repository, &["manifests", tag]);
        let mut request = Request::new(Method::GET, url.clone());
        let accept = HeaderValue::from_static(manifest::MANIFEST);
        request.headers_mut().insert(ACCEPT, accept);
        let found = self.found(request, repository, MANIFEST_BYTES).await?;
        let read = |answer: Answer| Ok((digest_bytes(&answer.body), parsed(&url, &answer.body)?));
        found.map(read).transpose()
    }

    /// The content that a manifest describes.
    pub async fn blob(
        &self,
        repository: &str,
        descriptor: &Descriptor,
        limit: usize,
    ) -> Outcome<Vec<u8>, T::Error> {
        let url = self.blob_url(repository, &descriptor.digest);
        let request = Request::new(Method::GET, url.clone());
        let mut answer = self
            .authorized(request, repository, RepositoryAction::Pull, limit)
            .await?;
        if answer.status.is_redirection() {
            answer = self.elsewhere(answer, limit).await?;
        }
        if !answer.status.is_success() {
            return Err(self.refused(&answer).await);
        }
        match descriptor.describes(&answer.body) {
            true => Ok(answer.body),
            false => Err(OciError::Digest {
                url: loggable(&url),
            }),
        }
    }

    /// The location of a content, for messages.
    pub fn blob_url(&self, repository: &str, digest: &Digest) -> Url {
        self.url(repository, &["blobs", &digest.to_string()])
    }

    fn url(&self, repository: &str, rest: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.clear()
                .push("v2")
                .extend(repository.split('/'))
                .extend(rest);
        }
        url
    }

    /// The pages of a list. Each page has the URL of the next.
    async fn list<P: DeserializeOwned>(
        &self,
        mut url: Url,
        repository: &str,
        names: impl Fn(P) -> Option<Vec<String>>,
    ) -> Outcome<Option<BTreeSet<String>>, T::Error> {
        url.query_pairs_mut().append_pair("n", PAGE);
        let mut all = BTreeSet::new();
        for _ in 0..PAGES {
            let request = Request::new(Method::GET, url.clone());
            let Some(page) = self.found(request, repository, PAGE_BYTES).await? else {
                return Ok(None);
            };
            all.extend(names(parsed(&url, &page.body)?).unwrap_or_default());
            if all.len() > NAMES {
                break;
            }
            match page.next_page() {
                Some(next) => url = self.within(&url, &next)?,
                None => return Ok(Some(all)),
            }
        }
        Err(OciError::TooManyNames {
            url: loggable(&url),
        })
    }

    /// A success, or `None` if it does not exist.
    async fn found(
        &self,
        mut request: Request,
        repository: &str,
        limit: usize,
    ) -> Outcome<Option<Answer>, T::Error> {
        for _ in 0..=REDIRECTS {
            let answer = self
                .authorized(copied(&request), repository, RepositoryAction::Pull, limit)
                .await?;
            match answer.status {
                status if status.is_success() => return Ok(Some(answer)),
                status if status.is_redirection() => *request.url_mut() = self.location(&answer)?,
                StatusCode::NOT_FOUND => return Ok(None),
                _ => return Err(self.refused(&answer).await),
            }
        }
        let url = request.url().to_string();
        Err(OciError::Redirects { url })
    }

    async fn refused(&self, answer: &Answer) -> OciError<T::Error> {
        let (url, status) = (loggable(&answer.url), answer.status);
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let login = self.transport.login().await;
                OciError::Closed {
                    url,
                    login: login.is_ok_and(|login| login.is_some()),
                    status,
                }
            }
            status => OciError::Status { url, status },
        }
    }

    async fn send(&self, request: Request, limit: usize) -> Outcome<Answer, T::Error> {
        let sent = self.transport.send(request, limit).await;
        sent.map_err(OciError::Transport)
    }
}

fn parsed<T: DeserializeOwned, E: std::error::Error + 'static>(
    url: &Url,
    bytes: &[u8],
) -> Outcome<T, E> {
    serde_json::from_slice(bytes).map_err(|error| OciError::Malformed {
        url: loggable(url),
        reason: error.to_string(),
    })
}
