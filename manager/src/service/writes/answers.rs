//! Repeated requests (`Idempotency-Key`) that start no operation: the answer of the first one.
//!
//! Requests that start an operation are repeated as [`super::repeats`] says. Both have their keys in one place: a key
//! belongs to one request.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use common::canonical;
use common::model::{Identity, OperationId};
use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::Notify;

use super::asked::check_key;
use super::repeats::{other_request, own};
use crate::error::Error;
use crate::store::operations::answers::Keyed;
pub use crate::store::operations::answers::{Answer, location};
use crate::store::operations::requests::{self, Request};
use crate::store::{Store, StoreError};

/// The operation of a request that starts none.
const NONE: &str = "none";

#[derive(Debug)]
pub struct Answers {
    store: Store,
    running: Mutex<HashSet<String>>,
    ended: Notify,
}

/// A request as its repeat is compared with it.
#[derive(Debug)]
pub enum Repeat {
    /// It was done before, and answered so.
    Answered(Answer),
    New(New),
}

/// A request that is done now. Requests with the same key wait until it is dropped.
#[derive(Debug)]
pub struct New {
    pub keyed: Arc<Keyed>,
    turn: Turn,
}

#[derive(Debug)]
struct Turn {
    answers: Arc<Answers>,
    key: String,
}

impl Answers {
    pub fn new(store: Store) -> Self {
        Self {
            store,
            running: Mutex::default(),
            ended: Notify::new(),
        }
    }

    /// `request` is all that says what is requested.
    ///
    /// # Errors
    /// The key was given with another request, or is not valid.
    pub async fn look(
        self: &Arc<Self>,
        key: &str,
        caller: Option<&Identity>,
        request: &Value,
    ) -> Result<Repeat, Error> {
        check_key(key)?;
        let key = own(key, caller);
        let turn = self.turn(key.clone()).await;
        let (digest, now) = (canonical::digest(request).to_string(), Timestamp::now());
        match requests::find(&self.store, &key, now).await? {
            Some(Request {
                digest: before,
                answer: Some(answer),
                ..
            }) if before == digest => Ok(Repeat::Answered(answer)),
            Some(before) => Err(other_request(&before)),
            None => {
                let operation = OperationId::parse(NONE);
                let request = Request {
                    key,
                    operation: operation.map_err(|error| Error::invalid(&error))?,
                    digest,
                    at: now,
                    answer: None,
                };
                let keyed = Keyed::new(request);
                Ok(Repeat::New(New { keyed, turn }))
            }
        }
    }

    /// Waits until no other request with the key runs.
    async fn turn(self: &Arc<Self>, key: String) -> Turn {
        loop {
            let mut ended = std::pin::pin!(self.ended.notified());
            ended.as_mut().enable();
            if self.running().insert(key.clone()) {
                let answers = self.clone();
                return Turn { answers, key };
            }
            ended.await;
        }
    }

    fn running(&self) -> MutexGuard<'_, HashSet<String>> {
        // No holder of the lock panics.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl New {
    /// Keeps the answer of a request that did not commit it with its changes.
    pub async fn keep(&self, answer: Answer) -> Result<(), StoreError> {
        self.keyed.keep(&self.turn.answers.store, answer).await
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.answers.running().remove(&self.key);
        self.answers.ended.notify_waiters();
    }
}
