//! The conversation of the server with a process during a request.

use common::api::error::{ErrorBody, ErrorCode};
use common::server::ApiError;
use tokio::time::{Instant, timeout_at};

use super::{Answer, Room};
use crate::admission::Caller;
use crate::deaths;
use crate::process::{Cause, Death, Event, Expand, Lent, ProcessError, Reply};
use crate::sandbox::{HowEnded, Lease, Sandbox, SandboxError};

/// How an attempt ended.
#[derive(Debug)]
pub enum Outcome {
    Answered(Answer),
    /// A process was lost, and no input is the cause.
    Lost(ErrorBody),
}

/// Why there is no result.
enum Failed {
    Process(ProcessError),
    /// The server cannot accept the answer.
    Here(ApiError),
}

impl From<ProcessError> for Failed {
    fn from(error: ProcessError) -> Self {
        Self::Process(error)
    }
}

/// One request's conversation.
pub struct Conversation<'a> {
    sandbox: &'a Sandbox,
    caller: &'a Caller,
    deadline: Instant,
    python: Option<Lease>,
    /// The error code of a refused Python process: only then may the process return it.
    refusal: Option<ErrorCode>,
    /// A Python process was lost.
    lost: bool,
}

impl<'a> Conversation<'a> {
    pub fn new(sandbox: &'a Sandbox, caller: &'a Caller, deadline: Instant) -> Self {
        Self {
            sandbox,
            caller,
            deadline,
            python: None,
            refusal: None,
            lost: false,
        }
    }

    /// Runs until the answer, the deadline or the end of the process.
    pub async fn run(
        mut self,
        mut process: Lent,
        expand: &Expand,
        body: &[u8],
        room: Room<'_>,
    ) -> Result<Result<Outcome, Death>, ApiError> {
        let deadline = self.deadline;
        let talk = self.talk(&mut process, expand, body, room);
        let cause = match timeout_at(deadline, talk).await {
            Ok(Ok((answer, worn))) => {
                if !worn {
                    process.give_back();
                }
                return Ok(Ok(self.outcome(answer)));
            }
            Ok(Err(Failed::Here(error))) => return Err(error),
            Ok(Err(Failed::Process(ProcessError::Gone))) => None,
            Ok(Err(Failed::Process(error))) => {
                tracing::warn!(%error, "an expansion process did not keep to its part");
                Some(Cause::Garbled)
            }
            Err(_) => Some(Cause::Deadline),
        };
        let death = process.end(cause).await;
        deaths::expansion(death.cause);
        tracing::warn!(cause = ?death.cause, "an expansion ended without an answer");
        Ok(Err(death))
    }

    async fn talk(
        &mut self,
        process: &mut Lent,
        expand: &Expand,
        body: &[u8],
        room: Room<'_>,
    ) -> Result<(Answer, bool), Failed> {
        process.send(expand, body).await?;
        loop {
            match process.event().await? {
                Event::Python => {
                    let (reply, stream) = self.python().await;
                    process.reply(&reply, stream).await?;
                    if let Some(lease) = &self.python {
                        lease.fork_ahead();
                    }
                }
                Event::PythonEnded { opened } => {
                    let how = self.how_python_ended(opened).await;
                    process.say(&how).await?;
                }
                Event::Answer { code, bytes, worn } => {
                    if !self.may_answer(code) {
                        return Err(ProcessError::Garbled.into());
                    }
                    room(bytes).map_err(Failed::Here)?;
                    let body = process.body(bytes).await?;
                    return Ok((Answer { code, body }, worn));
                }
            }
        }
    }

    /// A process for Python templates, or why there is none.
    async fn python(&mut self) -> (Reply, Option<std::os::fd::OwnedFd>) {
        match self.sandbox.lease(self.caller, self.deadline).await {
            Ok(mut lease) => {
                let stream = lease.stream();
                self.python = Some(lease);
                (Reply::Granted, stream)
            }
            Err(error) => {
                self.lost |= matches!(error, SandboxError::Lost);
                let code = error.code();
                self.refusal = Some(code);
                let message = error.to_string();
                (Reply::Refused { code, message }, None)
            }
        }
    }

    async fn how_python_ended(&mut self, opened: bool) -> HowEnded {
        let how = match &mut self.python {
            Some(lease) => lease.how_it_ended(opened).await,
            None => HowEnded::Lost,
        };
        deaths::python(how);
        if how == HowEnded::Lost {
            self.lost = true;
            self.refusal = Some(ErrorCode::Unavailable);
        }
        how
    }

    /// A process reports on its input. Only the server can know that the service is unavailable.
    fn may_answer(&self, code: Option<ErrorCode>) -> bool {
        code.is_none_or(|code| code.status() < 500 || self.refusal == Some(code))
    }

    fn outcome(mut self, answer: Answer) -> Outcome {
        if let Some(lease) = self.python.take() {
            lease.finish();
        }
        match self.lost && answer.code == Some(ErrorCode::Unavailable) {
            true => Outcome::Lost(ErrorBody::new(
                ErrorCode::Unavailable,
                "the process for Python templates was lost twice, but the templates are not the cause; try again",
            )),
            false => Outcome::Answered(answer),
        }
    }
}
