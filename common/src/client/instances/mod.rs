//! The instances of a service: the processes at a list of URLs. Each request goes to one of them.
//!
//! It is the ready instance with the fewest requests in hand. An instance that fails is left out at once, until it says
//! that it is ready. If no instance is ready, requests go to all of them in turn.
//!
//! With one URL there is nothing to choose, and nobody asks whether the instance is ready.

mod instance;
mod metrics;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use reqwest::RequestBuilder;
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::instance::Instance;
use super::access::ClientAccess;
use super::error::ClientError;
use super::http::{Endpoint, repeatedly};
use crate::json::Limits;
use crate::server::observe::health::Readiness;

pub use self::instance::Chosen;

/// The pause between two looks at the instances.
const PAUSE: Duration = Duration::from_secs(2);
/// An instance that takes longer to say whether it is ready is left out.
const PATIENCE: Duration = Duration::from_secs(5);

/// Which failures lead to a further attempt at another instance.
pub type Again = fn(&ClientError) -> bool;

/// The instance did not receive the request.
pub fn unreached(error: &ClientError) -> bool {
    matches!(error, ClientError::Unreachable { .. })
}

#[derive(Debug, Clone)]
pub struct Instances {
    all: Arc<[Arc<Instance>]>,
    turn: Arc<AtomicUsize>,
}

impl Instances {
    /// `urls` is one URL, or several with commas between them. Several are watched from now on, which needs a runtime.
    ///
    /// # Errors
    /// One of them is not a service's address, or is there twice.
    pub fn new(
        service: &'static str,
        urls: &str,
        answers: Limits,
        access: &ClientAccess,
    ) -> Result<Self, ClientError> {
        let listed: Vec<_> = urls.split(',').map(str::trim).collect();
        let is_repeated = |(at, url): (usize, &&str)| listed[..at].contains(url);
        if listed.iter().enumerate().any(is_repeated) {
            return Err(ClientError::InvalidUrl {
                url: urls.to_owned(),
                reason: "it names an instance twice".to_owned(),
            });
        }
        let open = |url: &&str| Endpoint::new(service, url, answers, access);
        let endpoints: Vec<_> = listed.iter().map(open).collect::<Result<_, _>>()?;
        let is_one = endpoints.len() == 1;
        let all = endpoints.into_iter();
        let all: Arc<[_]> = all
            .map(|endpoint| Instance::new(endpoint, is_one))
            .collect();
        if !is_one {
            let watched = all.iter().map(Arc::downgrade).collect();
            tokio::spawn(instance::watch(watched, PAUSE, PATIENCE));
        }
        Ok(Self {
            all,
            turn: Arc::default(),
        })
    }

    pub fn are_several(&self) -> bool {
        self.all.len() > 1
    }

    /// The body of a request as JSON. All attempts share it.
    pub(super) async fn body<T: Serialize + Send + Sync + 'static>(
        &self,
        value: Arc<T>,
    ) -> Result<Bytes, ClientError> {
        Chosen::new(&self.all[0]).body(value).await
    }

    /// The readiness report of each instance, with its URL.
    pub async fn readiness(
        &self,
        deadline: Duration,
    ) -> Vec<(String, Result<Readiness, ClientError>)> {
        let looks = self.all.iter().map(|instance| instance.look(deadline));
        let urls = self.all.iter().map(|instance| instance.url());
        urls.zip(join_all(looks).await).collect()
    }

    /// A call that is safe to repeat, with retries while the service is unreachable.
    pub(super) async fn fetch_repeatedly<T: DeserializeOwned + Send + 'static>(
        &self,
        request: impl Fn(&Endpoint) -> RequestBuilder,
        deadline: Duration,
    ) -> Result<T, ClientError> {
        repeatedly(|| self.fetch(&request, deadline, ClientError::is_transient)).await
    }

    /// Sends the request to one instance after another as long as `again` allows, and decodes the answer.
    pub(super) async fn fetch<T: DeserializeOwned + Send + 'static>(
        &self,
        request: impl Fn(&Endpoint) -> RequestBuilder,
        deadline: Duration,
        again: Again,
    ) -> Result<T, ClientError> {
        let call = |chosen: Chosen| {
            let request = request(&chosen);
            async move { chosen.fetch(request, Some(deadline)).await }
        };
        self.spread(call, again).await
    }

    /// Calls one instance after another as long as `again` allows.
    pub(super) async fn spread<T, F>(
        &self,
        call: impl Fn(Chosen) -> F,
        again: Again,
    ) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        let mut tried = Vec::new();
        loop {
            let chosen = self.choose(&tried);
            let instance = chosen.instance();
            let error = match call(chosen).await {
                Err(error) if again(&error) => error,
                outcome => return outcome.inspect_err(|error| instance.note(error)),
            };
            instance.note(&error);
            tried.push(instance);
            // The one that is overloaded may have room before one that is unavailable is back.
            let is_gone = instance::is_gone(&error);
            let may_help = |one: &Arc<Instance>| !is_in(one, &tried) && (is_gone || one.is_ready());
            if !self.all.iter().any(may_help) {
                return Err(error);
            }
        }
    }

    /// An instance that was not tried: the ready one with the fewest requests, or the next one if none is ready.
    fn choose(&self, tried: &[Arc<Instance>]) -> Chosen {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % self.all.len();
        let in_turn = self.all[turn..].iter().chain(&self.all[..turn]);
        let rank = |one: &&Arc<Instance>| (is_in(one, tried), !one.is_ready(), one.requests());
        // The first of those with the lowest rank.
        let best = in_turn.min_by_key(rank);
        Chosen::new(best.unwrap_or(&self.all[0]))
    }

    /// Every instance, and whether it was ready.
    pub(super) fn each(&self) -> impl Iterator<Item = (Chosen, bool)> {
        let all = self.all.iter();
        all.map(|instance| (Chosen::new(instance), instance.is_ready()))
    }
}

fn is_in(one: &Arc<Instance>, some: &[Arc<Instance>]) -> bool {
    some.iter().any(|other| Arc::ptr_eq(one, other))
}
