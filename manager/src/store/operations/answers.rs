//! The answer of a request with an idempotency key that starts no operation. It is committed together with what the
//! request changes, so a repeat finds both or neither.
//!
//! ```text
//! the use case announces its answer ──► the next commit has it too ──► a repeat is answered with it
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::requests::{self, Request};
use crate::store::{Changes, Store, StoreError, json};

tokio::task_local! {
    static KEYED: Arc<Keyed>;
}

const CREATED: u16 = 201;
const DONE: u16 = 200;

/// An answer of the API, as it was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub status: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// JSON.
    pub body: String,
}

/// A request with a key while it runs.
#[derive(Debug)]
pub struct Keyed {
    /// Without the answer.
    request: Request,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    location: Option<String>,
    announced: Option<Answer>,
    is_kept: bool,
}

impl Keyed {
    pub fn new(request: Request) -> Arc<Self> {
        Arc::new(Self {
            request,
            state: Mutex::default(),
        })
    }

    /// Does the work of the request.
    pub async fn during<T>(self: Arc<Self>, work: impl Future<Output = T>) -> T {
        KEYED.scope(self, work).await
    }

    /// Whether the answer was committed with the changes.
    pub fn is_kept(&self) -> bool {
        self.state().is_kept
    }

    /// Commits the answer of a request that did not announce it.
    pub async fn keep(&self, store: &Store, answer: Answer) -> Result<(), StoreError> {
        let mut changes = Changes::default();
        self.add(store, &mut changes, answer).await?;
        store.commit(changes).await
    }

    async fn add(
        &self,
        store: &Store,
        changes: &mut Changes,
        answer: Answer,
    ) -> Result<(), StoreError> {
        let request = Request {
            answer: Some(answer),
            ..self.request.clone()
        };
        requests::add(store, changes, &request).await
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No holder of the lock panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The path of what the request creates.
pub fn location(path: &str) {
    let _ = KEYED.try_with(|keyed| keyed.state().location = Some(path.to_owned()));
}

/// The answer if the next commit creates something.
pub fn created(body: &impl Serialize) -> Result<(), StoreError> {
    announce(CREATED, None, body)
}

/// The answer if the next commit succeeds.
pub fn done(body: &impl Serialize) -> Result<(), StoreError> {
    announce(DONE, None, body)
}

/// As [`done`], with an `ETag`.
pub fn tagged(tag: &str, body: &impl Serialize) -> Result<(), StoreError> {
    announce(DONE, Some(format!("\"{tag}\"")), body)
}

fn announce(status: u16, etag: Option<String>, body: &impl Serialize) -> Result<(), StoreError> {
    let Ok(keyed) = KEYED.try_with(Arc::clone) else {
        return Ok(());
    };
    let body = json(body)?;
    let mut state = keyed.state();
    let location = state.location.clone().filter(|_| status == CREATED);
    state.announced = Some(Answer {
        status,
        location,
        etag,
        body,
    });
    Ok(())
}

/// Adds an announced answer to the changes. Gives the request, if there is one.
pub(in crate::store) async fn join(
    store: &Store,
    changes: &mut Changes,
) -> Result<Option<Arc<Keyed>>, StoreError> {
    let Ok(keyed) = KEYED.try_with(Arc::clone) else {
        return Ok(None);
    };
    let Some(answer) = keyed.state().announced.take() else {
        return Ok(None);
    };
    keyed.add(store, changes, answer).await?;
    Ok(Some(keyed))
}

/// The changes are committed, and with them the answer.
pub(in crate::store) fn kept(keyed: Option<Arc<Keyed>>) {
    if let Some(keyed) = keyed {
        keyed.state().is_kept = true;
    }
}
