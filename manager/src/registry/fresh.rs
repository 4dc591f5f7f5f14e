//! Something read from a registry, kept until it is old, and used beyond that while the registry is away.
//!
//! One reader loads, the others wait for it. A registry that is away is asked again only after a pause, so that it holds
//! up nobody who can do with what is held; that what is held is old is told ([`Fresh::stale`]).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use common::api::error::ErrorCode;
use jiff::Timestamp;

use super::RegistryError;

/// After a failure the registry is left alone this long.
const PAUSE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Fresh<T> {
    lives: Duration,
    /// Held while it is loaded.
    loading: tokio::sync::Mutex<()>,
    held: Mutex<Option<Held<T>>>,
}

#[derive(Debug)]
struct Held<T> {
    value: Arc<T>,
    loaded: Timestamp,
    until: Instant,
    /// Why it could not be loaded again.
    stale: Option<String>,
}

impl<T> Fresh<T> {
    pub fn new(lives: Duration) -> Self {
        Self {
            lives,
            loading: tokio::sync::Mutex::default(),
            held: Mutex::default(),
        }
    }

    /// What is held, or what `load` gives; `load` is given what is held.
    pub async fn get<F>(
        &self,
        load: impl FnOnce(Option<Arc<T>>) -> F,
    ) -> Result<Arc<T>, RegistryError>
    where
        F: Future<Output = Result<Arc<T>, RegistryError>>,
    {
        if let Some(value) = self.current() {
            return Ok(value);
        }
        let _loading = self.loading.lock().await;
        if let Some(value) = self.current() {
            return Ok(value);
        }
        let before = self.lock().as_ref().map(|held| held.value.clone());
        match load(before).await {
            Ok(value) => {
                self.put(value.clone());
                Ok(value)
            }
            Err(error) => self.keep(error),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.lock().is_none()
    }

    /// What is known from before; it is old already, and bridges an absence.
    pub fn seed(&self, value: Arc<T>, loaded: Timestamp) {
        let mut held = self.lock();
        if held.is_none() {
            *held = Some(Held {
                value,
                loaded,
                until: Instant::now(),
                stale: None,
            });
        }
    }

    /// What a user must know about the age of what is held.
    pub fn stale(&self) -> Option<String> {
        let held = self.lock();
        let held = held.as_ref()?;
        let reason = held.stale.as_ref()?;
        Some(format!("what it held at {} is used: {reason}", held.loaded))
    }

    /// It is loaded again at the next use.
    pub fn expire(&self) {
        if let Some(held) = &mut *self.lock()
            && held.stale.is_none()
        {
            held.until = Instant::now();
        }
    }

    fn current(&self) -> Option<Arc<T>> {
        let held = self.lock();
        let held = held.as_ref().filter(|held| Instant::now() < held.until);
        held.map(|held| held.value.clone())
    }

    fn put(&self, value: Arc<T>) {
        *self.lock() = Some(Held {
            value,
            loaded: Timestamp::now(),
            until: Instant::now() + self.lives,
            stale: None,
        });
    }

    /// Only absence is bridged: what a registry says wins over what it said.
    fn keep(&self, error: RegistryError) -> Result<Arc<T>, RegistryError> {
        let mut held = self.lock();
        let Some(held) = held
            .as_mut()
            .filter(|_| error.code() == ErrorCode::RegistryUnavailable)
        else {
            return Err(error);
        };
        tracing::warn!(%error, loaded = %held.loaded, "a registry is away; what it held is used: {error}");
        held.until = Instant::now() + PAUSE;
        held.stale = Some(error.to_string());
        Ok(held.value.clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Held<T>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn away() -> RegistryError {
        RegistryError::TimedOut {
            what: "x".to_owned(),
            seconds: 1,
        }
    }

    #[tokio::test]
    async fn it_is_loaded_once_by_many_and_again_when_it_is_old() {
        let (fresh, loads) = (Fresh::new(Duration::MAX / 4), AtomicUsize::new(0));
        let load = || {
            fresh.get(|_| async {
                tokio::task::yield_now().await;
                Ok(Arc::new(loads.fetch_add(1, Ordering::SeqCst)))
            })
        };
        let both = tokio::join!(load(), load());
        assert_eq!((*both.0.unwrap(), *both.1.unwrap()), (0, 0));
        fresh.expire();
        assert_eq!(*load().await.unwrap(), 1);
    }

    #[tokio::test]
    async fn what_is_held_bridges_an_absence_and_says_so() {
        let fresh = Fresh::new(Duration::ZERO);
        assert!(
            fresh
                .get(async |_| Err::<Arc<u8>, _>(away()))
                .await
                .is_err()
        );
        fresh.get(async |_| Ok(Arc::new(1))).await.unwrap();
        assert_eq!(fresh.stale(), None);
        let held = fresh.get(async |_| Err(away())).await.unwrap();
        assert_eq!(*held, 1);
        assert!(fresh.stale().unwrap().contains("too slow"));
        let left_alone = fresh.get(async |_| Ok(Arc::new(2))).await.unwrap();
        assert_eq!(*left_alone, 1, "it is not asked again at once");
    }

    #[tokio::test]
    async fn what_a_registry_says_is_not_bridged() {
        let fresh = Fresh::new(Duration::ZERO);
        fresh.get(async |_| Ok(Arc::new(1))).await.unwrap();
        let gone = RegistryError::RegistryMissing {
            registry: "r".to_owned(),
        };
        assert!(fresh.get(async |_| Err(gone)).await.is_err());
    }
}
