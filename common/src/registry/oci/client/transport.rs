//! How requests reach a registry, and what it answers.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue, LINK, LOCATION};
use reqwest::{Request, StatusCode};
use url::Url;

/// Sends requests to the registry.
pub trait Transport: Send + Sync {
    type Error: std::error::Error + Send + Sync + 'static;

    /// Sends the request unchanged, and follows no redirect. A body of more than `limit` bytes is an error.
    fn send(
        &self,
        request: Request,
        limit: usize,
    ) -> impl Future<Output = Result<Answer, Self::Error>> + Send;

    /// The login as `Authorization: Basic …`. `None` for anonymous access.
    fn login(&self) -> impl Future<Output = Result<Option<HeaderValue>, Self::Error>> + Send;
}

/// An answer of any status.
#[derive(Debug)]
pub struct Answer {
    /// The URL of the request.
    pub url: Url,
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub(super) fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(super) fn target(&self) -> Option<Url> {
        self.url.join(self.header(LOCATION)?).ok()
    }

    /// `Link: </v2/a/tags/list?last=b&n=1>; rel="next"` (RFC 8288).
    pub(super) fn next_page(&self) -> Option<String> {
        let (target, relation) = self.header(LINK)?.strip_prefix('<')?.split_once('>')?;
        relation.contains("next").then(|| target.to_owned())
    }
}
