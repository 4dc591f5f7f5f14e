//! Answers that are kept: used without a request while they are young enough, asked for with their validators after
//! that (RFC 9110, 13: `If-None-Match`, `If-Modified-Since`), and used in spite of their age while their host is away.

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
use crate::cache::stale_while_revalidate::Old;
use crate::cache::{About, Cache, Entry, Key, digest};

/// What may be used without a request.
#[derive(Debug, Clone, Copy)]
pub enum Age {
    /// Whatever is kept: the URL names the content for good.
    Any,
    /// What was given at this time or later.
    Since(Timestamp),
}

impl Age {
    pub fn up_to(age: Duration) -> Self {
        let age = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
        let since = Timestamp::now().saturating_sub(age);
        Self::Since(since.unwrap_or(Timestamp::MIN))
    }

    /// The host is asked.
    pub fn new() -> Self {
        Self::Since(Timestamp::MAX)
    }

    fn covers(self, about: &About) -> bool {
        match self {
            Self::Any => true,
            Self::Since(time) => about.given >= time,
        }
    }
}

/// An answer, given just now or before.
#[derive(Debug)]
pub struct Kept {
    pub status: StatusCode,
    pub content_type: Option<String>,
    pub body: Bytes,
    /// Of the body, in hexadecimal.
    pub sha256: String,
    pub old: Option<Old>,
}

impl Kept {
    fn new(entry: &Entry, old: Option<Old>) -> Self {
        Self {
            status: StatusCode::from_u16(entry.about.status).unwrap_or_default(),
            content_type: entry.about.content_type.clone(),
            body: entry.body.clone(),
            sha256: entry.about.sha256.clone(),
            old,
        }
    }

    fn outdated(entry: &Entry, reason: String) -> Self {
        let given = entry.about.given;
        Self::new(entry, Some(Old { given, reason }))
    }
}

impl Web {
    /// As [`Self::get`], through what is kept.
    pub async fn fetch(
        &self,
        url: &Url,
        accept: &str,
        limit: usize,
        age: Age,
    ) -> Result<Kept, WebError> {
        let Some(cache) = &self.shared.cache else {
            let answer = self.get(url, accept, limit).await?;
            return Ok(Kept::new(&entry(url, answer), None));
        };
        let key = Key::of(&[&self.realm, accept, url.as_str()]);
        if let Some(young) = held(cache, &key, limit)
            .await
            .filter(|e| age.covers(&e.about))
        {
            return Ok(Kept::new(&young, None));
        }
        let _turn = cache.turn(&key).await;
        let held = held(cache, &key, limit).await;
        if let Some(young) = held.as_ref().filter(|entry| age.covers(&entry.about)) {
            return Ok(Kept::new(young, None));
        }
        let conditions = held
            .as_ref()
            .map(|entry| conditions(&entry.about))
            .unwrap_or_default();
        let asked = self.ask(url, &conditions, accept, limit);
        match (asked.await, held) {
            (Ok(answer), Some(held)) if answer.status == StatusCode::NOT_MODIFIED => {
                let entry = Entry::clone(&held).confirmed();
                Ok(Kept::new(&*cache.put(&key, entry).await, None))
            }
            (Ok(answer), Some(held)) if answer.status.is_server_error() => {
                let status = answer.status;
                let url = url.to_string();
                Ok(Kept::outdated(
                    &held,
                    WebError::Status { url, status }.to_string(),
                ))
            }
            (Err(error), Some(held)) if error.is_absence() => {
                Ok(Kept::outdated(&held, error.to_string()))
            }
            (Ok(answer), _) => {
                let keep = may_be_kept(&answer);
                let entry = entry(url, answer);
                Ok(match keep {
                    true => Kept::new(&*cache.put(&key, entry).await, None),
                    false => Kept::new(&entry, None),
                })
            }
            (Err(error), _) => Err(error),
        }
    }
}

async fn held(cache: &Cache, key: &Key, limit: usize) -> Option<std::sync::Arc<Entry>> {
    let entry = cache.get(key).await;
    entry.filter(|entry| entry.body.len() <= limit)
}

fn conditions(about: &About) -> Vec<(HeaderName, HeaderValue)> {
    let header = |name: HeaderName, value: &Option<String>| {
        let value = HeaderValue::from_str(value.as_ref()?).ok()?;
        Some((name, value))
    };
    let all = [
        header(IF_NONE_MATCH, &about.etag),
        header(IF_MODIFIED_SINCE, &about.last_modified),
    ];
    all.into_iter().flatten().collect()
}

/// That there is nothing is worth keeping too: most templates' folders lack some file that is looked for.
fn may_be_kept(answer: &Answer) -> bool {
    let forbidden = text(&answer.headers, &CACHE_CONTROL)
        .is_some_and(|text| text.to_ascii_lowercase().contains("no-store"));
    let lasting = [StatusCode::OK, StatusCode::NOT_FOUND, StatusCode::GONE];
    lasting.contains(&answer.status) && !forbidden
}

fn entry(url: &Url, answer: Answer) -> Entry {
    let header = |name: &HeaderName| text(&answer.headers, name).map(str::to_owned);
    let about = About {
        name: url.to_string(),
        status: answer.status.as_u16(),
        given: Timestamp::now(),
        etag: header(&ETAG),
        last_modified: header(&LAST_MODIFIED),
        content_type: header(&CONTENT_TYPE),
        sha256: digest(&answer.body),
    };
    Entry {
        about,
        body: answer.body.into(),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
