//! Cached responses are used without a request while they are young enough. After that the request has their validators
//! (RFC 9110, 13: `If-None-Match`, `If-Modified-Since`). While their host is unreachable they are used at any age.

use std::time::Duration;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use reqwest::StatusCode;
use reqwest::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, LAST_MODIFIED,
};
use url::Url;

use super::{Answer, Web, WebError};
use crate::cache::{DiskCache, Entry, Key, Metadata, Staleness, digest};

/// The age up to which a cached response is used without a request.
#[derive(Debug, Clone, Copy)]
pub enum MaxAge {
    /// Any age: the content of the URL never changes.
    Any,
    /// A response of this time or later.
    Since(Timestamp),
}

impl MaxAge {
    /// Always sends a request.
    pub const ZERO: Self = Self::Since(Timestamp::MAX);

    pub fn from_duration(age: Duration) -> Self {
        let age = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
        let since = Timestamp::now().saturating_sub(age);
        Self::Since(since.unwrap_or(Timestamp::MIN))
    }

    fn covers(self, metadata: &Metadata) -> bool {
        match self {
            Self::Any => true,
            Self::Since(time) => metadata.given >= time,
        }
    }
}

/// A response of the host or of the cache.
#[derive(Debug)]
pub struct CachedAnswer {
    pub status: StatusCode,
    pub content_type: Option<String>,
    pub body: Bytes,
    /// Digest of the body, in hexadecimal.
    pub sha256: String,
    pub staleness: Option<Staleness>,
}

impl CachedAnswer {
    fn new(entry: &Entry, staleness: Option<Staleness>) -> Self {
        Self {
            status: StatusCode::from_u16(entry.metadata.status).unwrap_or_default(),
            content_type: entry.metadata.content_type.clone(),
            body: entry.body.clone(),
            sha256: entry.metadata.sha256.clone(),
            staleness,
        }
    }

    fn outdated(entry: &Entry, reason: String) -> Self {
        let given = entry.metadata.given;
        Self::new(entry, Some(Staleness { given, reason }))
    }
}

impl Web {
    /// [`Self::get`] through the cache.
    pub async fn fetch(
        &self,
        url: &Url,
        accept: &str,
        limit: usize,
        age: MaxAge,
    ) -> Result<CachedAnswer, WebError> {
        let Some(cache) = &self.shared.cache else {
            let answer = self.get(url, accept, limit).await?;
            return Ok(CachedAnswer::new(&entry(url, answer), None));
        };
        let key = Key::new(&[&self.realm, accept, url.as_str()]);
        if let Some(young) = held(cache, &key, limit)
            .await
            .filter(|e| age.covers(&e.metadata))
        {
            return Ok(CachedAnswer::new(&young, None));
        }
        let _turn = cache.turn(&key).await;
        let held = held(cache, &key, limit).await;
        if let Some(young) = held.as_ref().filter(|entry| age.covers(&entry.metadata)) {
            return Ok(CachedAnswer::new(young, None));
        }
        let conditions = held
            .as_ref()
            .map(|entry| conditions(&entry.metadata))
            .unwrap_or_default();
        let asked = self.ask(url, &conditions, accept, limit);
        match (asked.await, held) {
            (Ok(answer), Some(held)) if answer.status == StatusCode::NOT_MODIFIED => {
                let entry = Entry::clone(&held).confirmed();
                Ok(CachedAnswer::new(&*cache.put(&key, entry).await, None))
            }
            (Ok(answer), Some(held)) if answer.status.is_server_error() => {
                let status = answer.status;
                let url = url.to_string();
                Ok(CachedAnswer::outdated(
                    &held,
                    WebError::Status { url, status }.to_string(),
                ))
            }
            (Err(error), Some(held)) if error.is_absence() => {
                Ok(CachedAnswer::outdated(&held, error.to_string()))
            }
            (Ok(answer), _) => {
                let keep = may_be_kept(&answer);
                let entry = entry(url, answer);
                Ok(match keep {
                    true => CachedAnswer::new(&*cache.put(&key, entry).await, None),
                    false => CachedAnswer::new(&entry, None),
                })
            }
            (Err(error), _) => Err(error),
        }
    }
}

async fn held(cache: &DiskCache, key: &Key, limit: usize) -> Option<std::sync::Arc<Entry>> {
    let entry = cache.get(key).await;
    entry.filter(|entry| entry.body.len() <= limit)
}

fn conditions(metadata: &Metadata) -> Vec<(HeaderName, HeaderValue)> {
    let header = |name: HeaderName, value: &Option<String>| {
        let value = HeaderValue::from_str(value.as_ref()?).ok()?;
        Some((name, value))
    };
    let all = [
        header(IF_NONE_MATCH, &metadata.etag),
        header(IF_MODIFIED_SINCE, &metadata.last_modified),
    ];
    all.into_iter().flatten().collect()
}

/// A missing file is cached too, because most templates lack some of the possible files.
fn may_be_kept(answer: &Answer) -> bool {
    let forbidden = text(&answer.headers, &CACHE_CONTROL)
        .is_some_and(|text| text.to_ascii_lowercase().contains("no-store"));
    let lasting = [StatusCode::OK, StatusCode::NOT_FOUND, StatusCode::GONE];
    lasting.contains(&answer.status) && !forbidden
}

fn entry(url: &Url, answer: Answer) -> Entry {
    let header = |name: &HeaderName| text(&answer.headers, name).map(str::to_owned);
    let metadata = Metadata {
        name: url.to_string(),
        status: answer.status.as_u16(),
        given: Timestamp::now(),
        etag: header(&ETAG),
        last_modified: header(&LAST_MODIFIED),
        content_type: header(&CONTENT_TYPE),
        sha256: digest(&answer.body),
    };
    Entry {
        metadata,
        body: answer.body.into(),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
