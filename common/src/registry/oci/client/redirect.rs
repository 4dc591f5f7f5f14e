//! Where a registry leads on, and how far it is followed.

use reqwest::header::LOCATION;
use reqwest::{Method, Request};
use url::Url;

use super::{Answer, Client, OciError, Outcome, Transport};
use crate::address::loggable;

pub const REDIRECTS: usize = 5;

impl<T: Transport> Client<T> {
    /// Follows the redirects of a blob without the login.
    pub(super) async fn elsewhere(&self, first: Answer, limit: usize) -> Outcome<Answer, T::Error> {
        let mut answer = first;
        for _ in 0..REDIRECTS {
            let Some(to) = answer.target().filter(|to| keeps_tls(&answer.url, to)) else {
                break;
            };
            answer = self.send(Request::new(Method::GET, to), limit).await?;
            if !answer.status.is_redirection() {
                return Ok(answer);
            }
        }
        let url = loggable(&answer.url);
        Err(OciError::Redirects { url })
    }

    /// The URL of the next request. It must be on the same host, because another host must not receive the login.
    pub(super) fn location(&self, answer: &Answer) -> Outcome<Url, T::Error> {
        match answer.header(LOCATION) {
            Some(to) => self.within(&answer.url, to),
            None => Err(OciError::Redirects {
                url: loggable(&answer.url),
            }),
        }
    }

    pub(super) fn within(&self, from: &Url, to: &str) -> Outcome<Url, T::Error> {
        let target = from.join(to).map_err(|_| OciError::Redirects {
            url: loggable(from),
        })?;
        match target.origin() == self.base.origin() {
            true => Ok(target),
            false => Err(OciError::Elsewhere {
                url: loggable(from),
                to: target.host_str().unwrap_or_default().to_owned(),
            }),
        }
    }
}

/// A request over TLS is not redirected to one without TLS.
pub fn keeps_tls(from: &Url, to: &Url) -> bool {
    to.scheme() == "https" || to.scheme() == from.scheme()
}
