//! A value from a registry that is used until it is old, and longer while the registry is unreachable.
//!
//! One caller loads the value, and the others wait. After a failure the registry gets no request for a [`PAUSE`]. Meanwhile
//! callers get the old value, at the latest after [`PATIENCE`], and [`StaleWhileRevalidate::stale`] says how old it is.
//! Without an old value they get the last error. A load runs to its end, even if its caller leaves.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::time::timeout;

use super::Staleness;
use crate::RegistryError;

/// After a failure, a registry or a host gets no request for this time.
pub const PAUSE: Duration = Duration::from_secs(10);
/// The longest time that a caller waits for a registry if there is an old value.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct StaleWhileRevalidate<T>(Arc<Shared<T>>);

struct Shared<T> {
    lives: Duration,
    /// Locked during a load.
    loading: Arc<tokio::sync::Mutex<()>>,
    state: Mutex<State<T>>,
}

enum State<T> {
    Empty,
    Held(Held<T>),
    /// There is no value, and the registry gets no request for a while.
    Away {
        until: Instant,
        error: Arc<RegistryError>,
    },
}

struct Held<T> {
    value: Arc<T>,
    loaded: Timestamp,
    until: Instant,
    /// Why the last load failed.
    stale: Option<String>,
}

/// A loaded value.
#[derive(Debug)]
pub struct Loaded<T> {
    pub value: Arc<T>,
    pub staleness: Option<Staleness>,
}

impl<T> From<T> for Loaded<T> {
    fn from(value: T) -> Self {
        Self::from(Arc::new(value))
    }
}

impl<T> From<Arc<T>> for Loaded<T> {
    fn from(value: Arc<T>) -> Self {
        Self {
            value,
            staleness: None,
        }
    }
}

impl<T> Clone for StaleWhileRevalidate<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for StaleWhileRevalidate<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaleWhileRevalidate")
            .field("lives", &self.0.lives)
            .finish_non_exhaustive()
    }
}

impl<T: Send + Sync + 'static> StaleWhileRevalidate<T> {
    pub fn new(lives: Duration) -> Self {
        Self(Arc::new(Shared {
            lives,
            loading: Arc::default(),
            state: Mutex::new(State::Empty),
        }))
    }

    /// The current value, or the result of `load`, which gets the old value.
    pub async fn get<F>(
        &self,
        load: impl FnOnce(Option<Arc<T>>) -> F,
    ) -> Result<Arc<T>, RegistryError>
    where
        F: Future<Output = Result<Loaded<T>, RegistryError>> + Send + 'static,
    {
        if let Some(current) = self.current() {
            return current;
        }
        match self.held() {
            None => self.load(load).await,
            Some(held) => match timeout(PATIENCE, self.load(load)).await {
                Ok(loaded) => loaded,
                Err(_) => {
                    self.late();
                    Ok(held)
                }
            },
        }
    }

    pub fn is_empty(&self) -> bool {
        self.held().is_none()
    }

    /// Sets a value of an earlier process. It is old already, and serves while the registry is unreachable.
    pub fn prefill(&self, value: Arc<T>, loaded: Timestamp) {
        let mut state = self.lock();
        if !matches!(*state, State::Held(_)) {
            *state = State::Held(Held {
                value,
                loaded,
                until: Instant::now(),
                stale: None,
            });
        }
    }

    /// How old the value is, if the registry did not confirm it in time.
    pub fn stale(&self) -> Option<Staleness> {
        match &*self.lock() {
            State::Held(held) => held.stale.as_ref().map(|reason| Staleness {
                given: held.loaded,
                reason: reason.clone(),
            }),
            State::Empty | State::Away { .. } => None,
        }
    }

    /// Drops the value.
    pub fn forget(&self) {
        *self.lock() = State::Empty;
    }

    /// Makes the next use load the value again.
    pub fn expire(&self) {
        if let State::Held(held) = &mut *self.lock()
            && held.stale.is_none()
        {
            held.until = Instant::now();
        }
    }

    async fn load<F>(&self, load: impl FnOnce(Option<Arc<T>>) -> F) -> Result<Arc<T>, RegistryError>
    where
        F: Future<Output = Result<Loaded<T>, RegistryError>> + Send + 'static,
    {
        let loading = self.0.loading.clone().lock_owned().await;
        if let Some(current) = self.current() {
            return current;
        }
        let (this, loaded) = (self.clone(), load(self.held()));
        let task = tokio::spawn(async move {
            let outcome = this.settle(loaded.await);
            drop(loading);
            outcome
        });
        task.await.unwrap_or_else(|_| Err(RegistryError::Cut))
    }

    /// The value or the error that needs no load.
    fn current(&self) -> Option<Result<Arc<T>, RegistryError>> {
        let now = Instant::now();
        match &*self.lock() {
            State::Held(held) if now < held.until => Some(Ok(held.value.clone())),
            State::Away { until, error } if now < *until => {
                Some(Err(RegistryError::Again(error.clone())))
            }
            State::Empty | State::Held(_) | State::Away { .. } => None,
        }
    }

    /// The value at any age.
    pub fn held(&self) -> Option<Arc<T>> {
        match &*self.lock() {
            State::Held(held) => Some(held.value.clone()),
            State::Empty | State::Away { .. } => None,
        }
    }

    fn settle(&self, outcome: Result<Loaded<T>, RegistryError>) -> Result<Arc<T>, RegistryError> {
        match outcome {
            Ok(loaded) => Ok(self.put(loaded)),
            Err(error) if error.is_absence() => self.keep(error),
            // A refusal is an answer, and replaces the old value.
            Err(error) => Err(error),
        }
    }

    fn put(&self, loaded: Loaded<T>) -> Arc<T> {
        let (now, value) = (Instant::now(), loaded.value);
        let held = match loaded.staleness {
            None => Held {
                value: value.clone(),
                loaded: Timestamp::now(),
                until: now + self.0.lives,
                stale: None,
            },
            Some(staleness) => Held {
                value: value.clone(),
                loaded: staleness.given,
                until: now + PAUSE,
                stale: Some(staleness.reason),
            },
        };
        *self.lock() = State::Held(held);
        value
    }

    fn keep(&self, error: RegistryError) -> Result<Arc<T>, RegistryError> {
        tracing::warn!(%error, "a registry is unreachable: {error}");
        let (until, mut state) = (Instant::now() + PAUSE, self.lock());
        if let State::Held(held) = &mut *state {
            held.until = until;
            held.stale = Some(error.to_string());
            return Ok(held.value.clone());
        }
        let error = Arc::new(error);
        *state = State::Away {
            until,
            error: error.clone(),
        };
        Err(RegistryError::Again(error))
    }

    /// The load still runs, and callers get the old value.
    fn late(&self) {
        if let State::Held(held) = &mut *self.lock() {
            held.until = Instant::now() + PAUSE;
            held.stale = Some("it is slow to answer".to_owned());
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
