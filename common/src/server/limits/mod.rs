//! What one caller, and all together, may take of a service: requests in a second and at once, streams, connections,
//! bytes of bodies.
//!
//! ```text
//! connection ─► [connections] ─► head ─► [requests at once] ─► who asks ─► [the caller's share] ─► [bytes of bodies] ─► handler
//! ```
//!
//! What is over a caller's share answers 429, what is over the service's own 503, both with Retry-After. Where nobody is
//! told apart there are no shares unless they are set: then a caller is an address.

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
use super::error::ApiError;
use crate::api::error::ErrorCode;

/// The flags. Shares count for callers who prove who they are, each by its name.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitFlags {
    /// Connections at once; more wait to be accepted.
    #[arg(
        long,
        env = "DM_MAX_CONNECTIONS",
        value_name = "N",
        default_value = "20000"
    )]
    pub max_connections: NonZeroU32,
    /// Requests at once; more are answered 503.
    #[arg(
        long,
        env = "DM_MAX_REQUESTS",
        value_name = "N",
        default_value = "5000"
    )]
    pub max_requests: NonZeroU32,
    /// Mebibytes of requests' bodies in memory at once; what is over it is answered 503 [default: 512; expandybird: an eighth of its memory, at most that].
    #[arg(long, env = "DM_MAX_BODY_MEMORY", value_name = "MIB")]
    pub max_body_memory: Option<NonZeroU32>,
    /// Reads of one caller in a second, twice as many at once; more are answered 429 [default: 1000; none without authentication].
    #[arg(long, env = "DM_CALLER_READS", value_name = "N")]
    pub caller_reads: Option<NonZeroU32>,
    /// Writes of one caller in a second, likewise [default: 200; none without authentication].
    #[arg(long, env = "DM_CALLER_WRITES", value_name = "N")]
    pub caller_writes: Option<NonZeroU32>,
    /// Requests of one caller at once [default: 1000; none without authentication].
    #[arg(long, env = "DM_CALLER_REQUESTS", value_name = "N")]
    pub caller_requests: Option<NonZeroU32>,
    /// Streams of events of one caller at once [default: 500; none without authentication].
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

/// Mebibytes of bodies at once, where nothing else is said.
const BODY_MEMORY: u32 = 512;

/// A caller's share; absent parts are unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub reads: Option<u32>,
    pub writes: Option<u32>,
    pub requests: Option<u32>,
    pub streams: Option<u32>,
}

impl LimitFlags {
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

/// The limits of the process, and what is taken of them.
#[derive(Debug)]
pub(super) struct Limits {
    pub bodies: Arc<Bodies>,
    shares: Arc<Shares>,
    requests: Arc<AtomicUsize>,
    max_requests: usize,
}

/// One request among those at once.
pub(super) struct InHand(Arc<AtomicUsize>);

impl Drop for InHand {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Limits {
    /// `known`: callers prove who they are.
    pub fn new(flags: &LimitFlags, known: bool) -> Self {
        Self {
            bodies: Arc::new(Bodies::new(
                flags.max_body_memory.map_or(BODY_MEMORY, NonZeroU32::get) as usize * 1024 * 1024,
            )),
            shares: Arc::new(Shares::new(flags.share(known))),
            requests: Arc::default(),
            max_requests: flags.max_requests.get() as usize,
        }
    }

    /// Takes a request in hand, if the service can.
    pub fn take(&self) -> Result<InHand, ApiError> {
        let in_hand = InHand(self.requests.clone());
        if self.requests.fetch_add(1, Ordering::Relaxed) < self.max_requests {
            return Ok(in_hand);
        }
        Err(overloaded(format!(
            "the service has {} requests in hand and takes no more: try again",
            self.max_requests
        )))
    }
}

/// 503: nothing is wrong with the request, and a second later there may be room.
fn overloaded(message: String) -> ApiError {
    ApiError::new(ErrorCode::Unavailable, message).retry_after(1)
}

/// By what name a request's caller is counted.
#[derive(Debug, Clone)]
struct CallerName(String);

/// Counts a request as its caller's, who is known by now; keep what it gives until the request is answered.
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

/// Counts a stream as its caller's, after [`admit`]; keep what it gives until the stream ends.
pub fn stream(request: &HttpRequest) -> Result<Stream, ApiError> {
    let name = request.extensions().get::<CallerName>().cloned();
    match (request.app_data::<Data<Limits>>(), name) {
        (Some(limits), Some(CallerName(caller))) => limits.shares.stream(&caller),
        _ => Ok(Stream::default()),
    }
}
