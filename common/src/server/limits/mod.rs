//! The limits of a service, for one caller and for all callers: requests per second, requests at the same time, streams,
//! connections, bytes of bodies.
//!
//! ```text
//! connection ─► [connections] ─► head ─► [requests] ─► authentication ─► [the caller's share] ─► [bytes of bodies] ─► handler
//! ```
//!
//! A request over a caller's share receives 429, one over a limit of the service 503, both with Retry-After. Without
//! authentication, shares apply only if they are set. A caller is then an address.

pub(super) mod bodies;
pub(super) mod pace;
mod share;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use actix_web::http::Method;
use actix_web::web::Data;
use actix_web::{HttpMessage, HttpRequest};

use self::bodies::Bodies;
use self::share::Shares;
pub use self::share::{Admission, Stream};
use super::answer::error::ApiError;
use crate::api::error::ErrorCode;
use crate::memory;

/// The flags. Shares apply to authenticated callers, by user name.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitFlags {
    /// Connections at the same time; further ones wait.
    #[arg(
        long,
        env = "DM_MAX_CONNECTIONS",
        value_name = "N",
        default_value = "20000"
    )]
    pub max_connections: NonZeroU32,
    /// Requests at the same time; further ones receive 503.
    #[arg(
        long,
        env = "DM_MAX_REQUESTS",
        value_name = "N",
        default_value = "5000"
    )]
    pub max_requests: NonZeroU32,
    /// Mebibytes of request bodies in memory at the same time; further requests receive 503 [default: an eighth of the service's memory, from 96 to 512].
    #[arg(long, env = "DM_MAX_BODY_MEMORY", value_name = "MIB")]
    pub max_body_memory: Option<NonZeroU32>,
    /// Reads of one caller per second, with bursts of twice as many; further ones receive 429 [default: 1000; unlimited without authentication].
    #[arg(long, env = "DM_CALLER_READS", value_name = "N")]
    pub caller_reads: Option<NonZeroU32>,
    /// Writes of one caller per second, with bursts of twice as many; further ones receive 429 [default: 200; unlimited without authentication].
    #[arg(long, env = "DM_CALLER_WRITES", value_name = "N")]
    pub caller_writes: Option<NonZeroU32>,
    /// Requests of one caller at the same time [default: 1000; unlimited without authentication].
    #[arg(long, env = "DM_CALLER_REQUESTS", value_name = "N")]
    pub caller_requests: Option<NonZeroU32>,
    /// Event streams of one caller at the same time [default: 500; unlimited without authentication].
    #[arg(long, env = "DM_CALLER_STREAMS", value_name = "N")]
    pub caller_streams: Option<NonZeroU32>,
}

impl Default for LimitFlags {
    fn default() -> Self {
        let number = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        Self {
            max_connections: number(20_000),
            max_requests: number(5_000),
            max_body_memory: None,
            caller_reads: None,
            caller_writes: None,
            caller_requests: None,
            caller_streams: None,
        }
    }
}

/// A caller's share. Absent parts are unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub reads: Option<u32>,
    pub writes: Option<u32>,
    pub requests: Option<u32>,
    pub streams: Option<u32>,
}

impl LimitFlags {
    /// Bytes of all bodies at once.
    fn body_bytes(&self) -> usize {
        let bytes = match self.max_body_memory {
            Some(mebibytes) => u64::from(mebibytes.get()) << 20,
            None => memory::body_bytes(memory::available_bytes()),
        };
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    fn share(&self, known: bool) -> Share {
        let or = |flag: Option<NonZeroU32>, default: u32| {
            flag.map(NonZeroU32::get).or(known.then_some(default))
        };
        Share {
            reads: or(self.caller_reads, 1000),
            writes: or(self.caller_writes, 200),
            requests: or(self.caller_requests, 1000),
            streams: or(self.caller_streams, 500),
        }
    }
}

/// The limits of the process, and their current use.
#[derive(Debug)]
pub(super) struct Limits {
    pub bodies: Arc<Bodies>,
    shares: Arc<Shares>,
    requests: Arc<AtomicUsize>,
    max_requests: usize,
}

/// One of the requests at the same time.
pub(super) struct InHand(Arc<AtomicUsize>);

impl Drop for InHand {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Limits {
    /// `known`: callers are authenticated.
    pub fn new(flags: &LimitFlags, known: bool) -> Self {
        Self {
            bodies: Arc::new(Bodies::new(flags.body_bytes())),
            shares: Arc::new(Shares::new(flags.share(known))),
            requests: Arc::default(),
            max_requests: flags.max_requests.get() as usize,
        }
    }

    /// Accepts a request, if the limit allows.
    pub fn take(&self) -> Result<InHand, ApiError> {
        let in_hand = InHand(self.requests.clone());
        if self.requests.fetch_add(1, Ordering::Relaxed) < self.max_requests {
            return Ok(in_hand);
        }
        Err(overloaded(format!(
            "the service already handles {} requests, its limit: retry later",
            self.max_requests
        )))
    }
}

/// 503: the request is valid, and a retry after a second may succeed.
fn overloaded(message: String) -> ApiError {
    ApiError::new(ErrorCode::Unavailable, message).retry_after(1)
}

/// The name under which a request's caller is counted.
#[derive(Debug, Clone)]
struct CallerName(String);

/// Counts a request of an authenticated caller. Keep the returned value until the request is answered.
pub fn admit(request: &HttpRequest, caller: &str) -> Result<Admission, ApiError> {
    let Some(limits) = request.app_data::<Data<Limits>>() else {
        return Ok(Admission::default());
    };
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let admission = limits.shares.admit(caller, reads)?;
    let name = CallerName(caller.to_owned());
    request.extensions_mut().insert(name);
    Ok(admission)
}

/// Counts a stream of the caller, after [`admit`]. Keep the returned value until the stream ends.
pub fn stream(request: &HttpRequest) -> Result<Stream, ApiError> {
    let name = request.extensions().get::<CallerName>().cloned();
    match (request.app_data::<Data<Limits>>(), name) {
        (Some(limits), Some(CallerName(caller))) => limits.shares.stream(&caller),
        _ => Ok(Stream::default()),
    }
}
