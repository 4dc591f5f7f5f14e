//! Limits the requests to each host: a few at the same time, none for a while after a failure, and none before the time
//! in the answer (`Retry-After`, GitHub's `X-RateLimit-Reset`).
//!
//! ```text
//!        fails                  the pause is over
//! open ─────────► paused ──────────────────────────► one request looks ── answers ─► open
//!   └─ names a time ─► limited ─ the time has come ─► open      └── fails ─► paused
//! ```
//!
//! So a caller of an unreachable host gets an error immediately, and simultaneous callers share one request. Each realm
//! has its own limits, so references of callers cannot block a registry.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use tokio::sync::{Semaphore, SemaphorePermit};
use url::Url;

use super::client::REQUEST;
use super::{Answer, WebError};
use crate::cache::PAUSE;

/// Requests to one host at the same time.
const AT_ONCE: usize = 8;
/// The pause that GitHub's documentation asks for if an answer has no time.
const UNNAMED_LIMIT: Duration = Duration::from_secs(60);
/// The longest pause. A host that names a later time may be wrong.
const LONGEST_LIMIT: Duration = Duration::from_secs(24 * 3600);
/// How many hosts are remembered. Beyond that, hosts without a pause are forgotten.
const REMEMBERED: usize = 1_000;

#[derive(Debug, Default)]
pub struct Hosts(Mutex<HashMap<(String, String), Arc<Host>>>);

impl Hosts {
    pub fn for_url(&self, url: &Url, realm: &str) -> Arc<Host> {
        let origin = url.origin().ascii_serialization();
        let mut known = lock(&self.0);
        if known.len() >= REMEMBERED {
            known.retain(|_, host| Arc::strong_count(host) > 1 || host.is_paused());
        }
        let host = known.entry((origin.clone(), realm.to_owned()));
        let host = host.or_insert_with(|| Arc::new(Host::new(origin)));
        host.clone()
    }
}

#[derive(Debug)]
pub struct Host {
    origin: String,
    permits: Semaphore,
    pause: Mutex<Option<Pause>>,
}

#[derive(Debug)]
struct Pause {
    until: Instant,
    /// The reason for users. For a rate limit, the time that the host gave.
    named: Timestamp,
    why: Why,
}

#[derive(Debug)]
enum Why {
    Away(String),
    Limited,
}

impl Host {
    fn new(origin: String) -> Self {
        Self {
            origin,
            permits: Semaphore::new(AT_ONCE),
            pause: Mutex::default(),
        }
    }

    /// Waits for a permit. Fails immediately during a pause.
    pub async fn enter(&self) -> Result<Option<SemaphorePermit<'_>>, WebError> {
        self.refusal()?;
        // It is never closed. Without a permit, the request would only not be counted.
        let permit = self.permits.acquire().await.ok();
        self.admit()?;
        Ok(permit)
    }

    /// Takes the outcome of a request into account. A response that limits the rate becomes an error.
    pub fn judge(&self, outcome: Result<Answer, WebError>) -> Result<Answer, WebError> {
        match &outcome {
            Ok(answer) => {
                if let Some(until) = limit(answer) {
                    self.limit(until);
                    if is_refused(answer) {
                        return Err(WebError::RateLimited {
                            host: self.origin.clone(),
                            until,
                        });
                    }
                } else if is_gateway(answer.status) {
                    self.pause(format!("it answered {}", answer.status));
                } else {
                    *lock(&self.pause) = None;
                }
            }
            Err(WebError::Unreachable { reason, .. }) => self.pause(reason.clone()),
            Err(error @ WebError::TimedOut { .. }) => self.pause(error.to_string()),
            Err(_) => {}
        }
        outcome
    }

    fn is_paused(&self) -> bool {
        lock(&self.pause).is_some()
    }

    fn refusal(&self) -> Result<(), WebError> {
        match &*lock(&self.pause) {
            Some(pause) if Instant::now() < pause.until => Err(self.paused(pause)),
            _ => Ok(()),
        }
    }

    /// After a pause, one request tries the host, and the others wait for its outcome.
    fn admit(&self) -> Result<(), WebError> {
        let mut held = lock(&self.pause);
        match &mut *held {
            None => Ok(()),
            Some(pause) if Instant::now() < pause.until => Err(self.paused(pause)),
            Some(pause) => {
                match pause.why {
                    Why::Limited => *held = None,
                    Why::Away(_) => *pause = pause.longer(REQUEST),
                }
                Ok(())
            }
        }
    }

    fn paused(&self, pause: &Pause) -> WebError {
        let (host, until) = (self.origin.clone(), pause.named);
        match &pause.why {
            Why::Away(reason) => WebError::Paused {
                host,
                until,
                reason: reason.clone(),
            },
            Why::Limited => WebError::RateLimited { host, until },
        }
    }

    fn pause(&self, reason: String) {
        *lock(&self.pause) = Some(Pause {
            until: Instant::now() + PAUSE,
            named: after(PAUSE),
            why: Why::Away(reason),
        });
    }

    fn limit(&self, named: Timestamp) {
        let left = named.duration_since(Timestamp::now());
        let left = Duration::try_from(left).unwrap_or_default();
        *lock(&self.pause) = Some(Pause {
            until: Instant::now() + left.min(LONGEST_LIMIT),
            named,
            why: Why::Limited,
        });
    }
}

impl Pause {
    fn longer(&self, time: Duration) -> Self {
        let why = match &self.why {
            Why::Away(reason) => Why::Away(reason.clone()),
            Why::Limited => Why::Limited,
        };
        Self {
            until: Instant::now() + time,
            named: after(time),
            why,
        }
    }
}

fn after(time: Duration) -> Timestamp {
    Timestamp::now() + SignedDuration::try_from(time).unwrap_or_default()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_gateway(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT
    )
}

/// Whether the answer is a refusal because of too many requests.
fn is_refused(answer: &Answer) -> bool {
    !answer.status.is_success() && answer.status != StatusCode::NOT_MODIFIED
}

/// Until when the host wants no further request. A successful answer may be the last one within its limit.
fn limit(answer: &Answer) -> Option<Timestamp> {
    let spent = text(&answer.headers, "x-ratelimit-remaining") == Some("0");
    let named = || retry_after(&answer.headers).or_else(|| reset(&answer.headers));
    match answer.status {
        StatusCode::TOO_MANY_REQUESTS => Some(named().unwrap_or_else(|| after(UNNAMED_LIMIT))),
        StatusCode::FORBIDDEN if spent => Some(named().unwrap_or_else(|| after(UNNAMED_LIMIT))),
        StatusCode::FORBIDDEN | StatusCode::SERVICE_UNAVAILABLE => retry_after(&answer.headers),
        status if status.is_success() && spent => reset(&answer.headers),
        _ => None,
    }
}

/// Seconds, or a date (RFC 9110, 10.2.3).
fn retry_after(headers: &HeaderMap) -> Option<Timestamp> {
    let value = text(headers, RETRY_AFTER.as_str())?;
    if let Ok(seconds) = value.parse::<u32>() {
        return Some(after(Duration::from_secs(seconds.into())));
    }
    let date = jiff::fmt::rfc2822::parse(value).ok()?;
    Some(date.timestamp())
}

fn reset(headers: &HeaderMap) -> Option<Timestamp> {
    let seconds = text(headers, "x-ratelimit-reset")?.parse().ok()?;
    Timestamp::from_second(seconds).ok()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests;
