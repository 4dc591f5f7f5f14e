//! The one use case: expand a configuration within a deadline.
//!
//! Untrusted input is parsed only in an expansion process ([`crate::process`]). The server admits requests, passes
//! their bytes to a process, passes the answers on, and reports the reason if a process ends without an answer. The
//! process is ended when its caller goes away, or at the deadline.

mod conversation;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use common::api::error::{ErrorBody, ErrorCode};
use common::api::expander::{ExpandRequest, ExpandResponse};
use common::server::observe::health::Check;
use common::server::{ApiError, Format};
use tokio::time::Instant;

use crate::admission::{Caller, NoPermit, Permit, Permits};
use crate::blame::Blame;
use crate::process::{Death, Expand, Limits, Named, Pool, PoolOptions};
use crate::sandbox::Sandbox;
use conversation::{Conversation, Outcome};

/// The settings of an operator.
#[derive(Debug, Clone)]
pub struct Options {
    /// Wall time of one expansion with all its templates.
    pub timeout: Duration,
    /// Expansions at the same time, each in its own process.
    pub at_once: usize,
    pub limits: Limits,
    /// The program of the processes. Default: this program.
    pub program: Option<PathBuf>,
}

/// A request that is not parsed.
#[derive(Debug, Clone)]
pub struct Asked {
    pub caller: Caller,
    pub request_id: String,
    pub format: Format,
    pub body: Vec<u8>,
}

/// An answer that is not parsed: an `ExpandResponse` in JSON, or the error with this code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub code: Option<ErrorCode>,
    pub body: Vec<u8>,
}

/// Called before an answer of this size is read into memory.
pub type Room<'a> = &'a dyn Fn(usize) -> Result<(), ApiError>;

/// Has configurations expanded.
pub struct Expander {
    timeout: Duration,
    memory_bytes: u64,
    sandbox: Arc<Sandbox>,
    pool: Arc<Pool>,
    places: Arc<Permits>,
    blame: Blame,
}

impl Expander {
    pub fn new(options: Options, sandbox: Sandbox) -> std::io::Result<Self> {
        Ok(Self {
            timeout: options.timeout,
            memory_bytes: options.limits.memory_bytes,
            sandbox: Arc::new(sandbox),
            places: Permits::new(options.at_once),
            pool: Pool::new(PoolOptions {
                program: options.program,
                limits: options.limits,
            })?,
            blame: Blame::default(),
        })
    }

    /// The answer to a request. An error is the server's own: the request was not admitted, or its process ended
    /// without an answer.
    pub async fn answer(&self, asked: &Asked, room: Room<'_>) -> Result<Answer, ApiError> {
        let deadline = Instant::now() + self.timeout;
        let _place = self.place(&asked.caller, deadline).await?;
        // An expansion has no effects, so one that was lost without fault of its input is repeated, and gives the same
        // bytes.
        match self.attempt(asked, room, deadline).await? {
            Outcome::Lost(first) => {
                tracing::warn!(error = %first, "an expansion lost its process; trying again");
                match self.attempt(asked, room, deadline).await? {
                    Outcome::Lost(error) => Err(ApiError(error)),
                    Outcome::Answered(answer) => Ok(answer),
                }
            }
            Outcome::Answered(answer) => Ok(answer),
        }
    }

    /// [`Self::answer`] for a caller that has the request and needs the answer as values.
    pub async fn expand(&self, request: ExpandRequest) -> Result<ExpandResponse, ApiError> {
        let body = serde_json::to_vec(&request).map_err(|error| ApiError::internal(&error))?;
        let asked = Asked {
            caller: Caller::default(),
            request_id: String::new(),
            format: Format::Json,
            body,
        };
        let answer = self.answer(&asked, &|_| Ok(())).await?;
        answer.read()
    }

    async fn place(&self, caller: &Caller, deadline: Instant) -> Result<Permit, ApiError> {
        let place = self.places.take(caller, deadline).await;
        place.map_err(|reason| {
            let message = match reason {
                NoPermit::QueueFull => {
                    "the caller has the maximum number of waiting expansions; try again later"
                }
                NoPermit::AllQueuesFull => {
                    "the maximum number of expansions is waiting; try again later"
                }
                NoPermit::TooLate => "the maximum number of expansions is running; try again later",
            };
            ApiError::new(ErrorCode::Unavailable, message)
        })
    }

    async fn attempt(
        &self,
        asked: &Asked,
        room: Room<'_>,
        deadline: Instant,
    ) -> Result<Outcome, ApiError> {
        let lent = self.pool.take().await.map_err(|error| {
            tracing::error!(%error, "an expansion process cannot be started");
            ApiError::new(
                ErrorCode::ExpanderUnavailable,
                "a process for the expansion cannot be started: the server's log has the cause",
            )
        })?;
        let now = std::time::Instant::now();
        let expand = Expand {
            request_id: asked.request_id.clone(),
            format: asked.format,
            body_bytes: asked.body.len(),
            refused: self.blame.refused(&asked.caller, now),
        };
        let conversation = Conversation::new(&self.sandbox, &asked.caller, deadline);
        match conversation.run(lent, &expand, &asked.body, room).await? {
            Ok(outcome) => Ok(outcome),
            Err(death) => self.died(&death, asked),
        }
    }

    fn died(&self, death: &Death, asked: &Asked) -> Result<Outcome, ApiError> {
        let mut error = death.error(Named {
            timeout: self.timeout,
            memory_bytes: self.memory_bytes,
        });
        error.request_id.clone_from(&asked.request_id);
        if death.is_lost() {
            return Ok(Outcome::Lost(error));
        }
        if let Some(digest) = death.culprit() {
            let now = std::time::Instant::now();
            self.blame.died(&asked.caller, digest, now);
        }
        Err(ApiError(error))
    }

    /// Jinja needs a process. Python also needs its worker, and a kernel that can lock it down.
    pub async fn checks(&self) -> Vec<Check> {
        let jinja = self.pool.warm_up().await.map(|()| {
            format!(
                "{} processes wait, {} may run at once",
                self.pool.waiting(),
                self.places.total()
            )
        });
        let python = self.sandbox.health().await.map(|health| {
            let missing = health.lockdown.missing();
            let lockdown = match missing.is_empty() {
                true => "locked down".to_owned(),
                false => format!("NOT fully locked down: {} missing", missing.join(", ")),
            };
            format!(
                "Python {}, {lockdown}, process {}, {} sessions",
                health.python_version, health.process_id, health.sessions
            )
        });
        vec![Check::of("jinja", jinja), Check::of("python", python)]
    }
}

impl Answer {
    /// The answer as values, for callers that may crash while parsing it: `expandybird expand`, tests.
    pub fn read(&self) -> Result<ExpandResponse, ApiError> {
        let unreadable = |error: serde_json::Error| ApiError::internal(&error);
        match self.code {
            None => serde_json::from_slice(&self.body).map_err(unreadable),
            Some(_) => {
                let error: ErrorBody = serde_json::from_slice(&self.body).map_err(unreadable)?;
                Err(ApiError(error))
            }
        }
    }
}
