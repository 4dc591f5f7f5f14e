//! One instance of a service: whether it is ready, and what it has in hand.

use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures::future::join_all;

use super::metrics;
use crate::address::loggable;
use crate::client::error::ClientError;
use crate::client::http::Endpoint;
use crate::server::observe::health::Readiness;

#[derive(Debug)]
pub struct Instance {
    endpoint: Endpoint,
    requests: AtomicUsize,
    /// Why it is left out.
    fault: Mutex<Option<String>>,
    /// There is no other one, so it is never left out.
    is_only: bool,
}

impl Instance {
    pub(super) fn new(endpoint: Endpoint, is_only: bool) -> Arc<Self> {
        let instance = Self {
            endpoint,
            requests: AtomicUsize::new(0),
            fault: Mutex::default(),
            is_only,
        };
        instance.show(true);
        Arc::new(instance)
    }

    pub(super) fn url(&self) -> String {
        let url = loggable(self.endpoint.url());
        url.trim_end_matches('/').to_owned()
    }

    pub(super) fn is_ready(&self) -> bool {
        self.fault().is_none()
    }

    pub(super) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    /// Leaves the instance out if the error says that it is not there.
    pub(super) fn note(&self, error: &ClientError) {
        if is_gone(error) {
            self.set(Some(error.to_string()));
        }
    }

    /// Asks the instance whether it is ready.
    pub(super) async fn look(&self, deadline: Duration) -> Result<Readiness, ClientError> {
        let found = self.endpoint.readiness(deadline).await;
        self.set(match &found {
            Ok(readiness) => readiness.fault(),
            Err(error) => Some(error.to_string()),
        });
        found
    }

    fn set(&self, fault: Option<String>) {
        if self.is_only {
            return;
        }
        let (service, url) = (self.endpoint.service(), self.url());
        let mut known = self.fault();
        match (&*known, &fault) {
            (None, Some(reason)) => {
                tracing::warn!(%url, "{service} at {url} gets no requests until it is ready: {reason}");
            }
            (Some(_), None) => tracing::info!(%url, "{service} at {url} is ready again"),
            (None, None) | (Some(_), Some(_)) => {}
        }
        *known = fault;
        self.show(known.is_none());
    }

    fn show(&self, is_ready: bool) {
        if !self.is_only {
            metrics::ready(self.endpoint.service(), &self.url(), is_ready);
        }
    }

    fn fault(&self) -> MutexGuard<'_, Option<String>> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if !self.is_only {
            metrics::forget(self.endpoint.service(), &self.url());
        }
    }
}

/// Whether the error says that the instance is not there, and not only that it has too much to do.
pub(super) fn is_gone(error: &ClientError) -> bool {
    matches!(
        error,
        ClientError::Unreachable { .. } | ClientError::BrokenOff { .. }
    )
}

/// Looks at the instances again and again, until nobody uses them any more.
pub(super) async fn watch(watched: Vec<Weak<Instance>>, pause: Duration, patience: Duration) {
    loop {
        let alive: Vec<_> = watched.iter().filter_map(Weak::upgrade).collect();
        if alive.is_empty() {
            return;
        }
        join_all(alive.iter().map(|instance| instance.look(patience))).await;
        drop(alive);
        tokio::time::sleep(pause).await;
    }
}

/// An instance with one request more in hand, as long as this lives.
#[derive(Debug)]
pub struct Chosen(Arc<Instance>);

impl Chosen {
    pub(super) fn new(instance: &Arc<Instance>) -> Self {
        instance.requests.fetch_add(1, Ordering::Relaxed);
        Self(instance.clone())
    }

    pub(super) fn instance(&self) -> Arc<Instance> {
        self.0.clone()
    }

    /// Leaves the instance out if the error says that it is not there.
    pub fn note(&self, error: &ClientError) {
        self.0.note(error);
    }
}

impl Clone for Chosen {
    fn clone(&self) -> Self {
        Self::new(&self.0)
    }
}

impl Drop for Chosen {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Deref for Chosen {
    type Target = Endpoint;

    fn deref(&self) -> &Endpoint {
        &self.0.endpoint
    }
}
