//! Repeated requests (`Idempotency-Key`): the same operation and the same answer.
//!
//! The answer is always the recorded one, even if the deployment has changed or was deleted: a caller that lost the
//! first answer must learn what its request did. The header `Idempotent-Replayed` marks the answer, so that nobody
//! takes it for the present state.

use common::api::error::{ErrorBody, ErrorCode};
use common::canonical;
use common::model::{Identity, ManifestName, OperationId, OperationStatus};
use jiff::Timestamp;
use serde_json::json;

use super::Draft;
use crate::error::Error;
use crate::store::operations::requests::{self, Request};
use crate::store::{Store, operations};
use crate::workflow::engine::watch::Outcome;
use crate::workflow::{Engine, OperationHandle};

pub struct Repeats<'a> {
    pub store: &'a Store,
    pub engine: &'a Engine,
}

pub enum Repeat {
    /// A repeated request, with the operation that the first one started.
    Same(OperationHandle),
    /// A new request, with the record to store if it has a key.
    New(Option<Request>),
}

impl Repeats<'_> {
    pub async fn look(
        &self,
        draft: &Draft,
        manifest: Option<&ManifestName>,
        id: &OperationId,
    ) -> Result<Repeat, Error> {
        let Some(key) = &draft.idempotency_key else {
            return Ok(Repeat::New(None));
        };
        let key = &own(key, draft.caller.identity.as_ref());
        let (digest, now) = (digest(draft, manifest), Timestamp::now());
        match requests::find(self.store, key, now).await? {
            None => Ok(Repeat::New(Some(Request {
                key: key.clone(),
                operation: id.clone(),
                digest,
                at: now,
                answer: None,
            }))),
            Some(before) if before.digest == digest => {
                let handle = self.handle(&before.operation).await?;
                Ok(Repeat::Same(handle.repeated()))
            }
            Some(before) => Err(other_request(&before)),
        }
    }

    async fn handle(&self, id: &OperationId) -> Result<OperationHandle, Error> {
        if let Some(handle) = self.engine.handle(id) {
            return Ok(handle);
        }
        match operations::get(self.store, id).await? {
            Some(record) if record.operation.status == OperationStatus::Done => {
                Ok(OperationHandle::past(Outcome {
                    operation: record.operation,
                    deployment: record.answer,
                }))
            }
            Some(_) => Err(Error::new(
                ErrorCode::Unavailable,
                format!("operation {id} is not gone on with yet; try again"),
            )),
            None => Err(conflict(format!(
                "the Idempotency-Key belongs to operation {id}, of which nothing is kept any more; use a new key"
            ))),
        }
    }
}

/// The key was given with another request before.
pub fn other_request(before: &Request) -> Error {
    let started = match before.answer {
        Some(_) => String::new(),
        None => format!(", which started operation {}", before.operation),
    };
    conflict(format!(
        "the Idempotency-Key was given before with another request{started}; use a new key"
    ))
}

/// A key belongs to its caller: two callers may choose the same key independently.
pub fn own(key: &str, identity: Option<&Identity>) -> String {
    match identity {
        None => key.to_owned(),
        Some(identity) => format!("{} {key}", canonical::digest(&json!(identity.user()))),
    }
}

fn conflict(message: String) -> Error {
    Error::Refused(Box::new(ErrorBody::new(
        ErrorCode::IdempotencyConflict,
        message,
    )))
}

/// A digest of everything that identifies the request.
fn digest(draft: &Draft, manifest: Option<&ManifestName>) -> String {
    let request = json!({
        "deployment": draft.name,
        "intent": draft.intent,
        "manifest": manifest,
        "input": draft.input,
        "options": draft.options,
        "timeoutMs": u64::try_from(draft.timeout.as_millis()).unwrap_or(u64::MAX),
        "precondition": draft.precondition,
    });
    canonical::digest(&request).to_string()
}
