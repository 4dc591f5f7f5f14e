//! The listeners of a manager on etcd, from its start until it has the store and serves by itself.

use std::sync::Arc;

use actix_web::web::ServiceConfig;
use common::client::ClientAccess;
use common::server::{Listening, ServeError, Serving};

use super::{Relays, Repeatable};
use crate::keys::Ring;
use crate::store::kv::{Candidate, Owner};

/// A manager that waits for the store. It listens, and passes requests on.
pub struct Standby {
    candidate: Arc<Candidate>,
    api: Waiting,
    broker: Option<Waiting>,
}

/// The server of one listener.
struct Waiting {
    relays: Relays,
    /// For the server that follows. While it is there, the system accepts connections for it.
    address: Option<Listening>,
    server: Serving,
}

impl Standby {
    /// `own` adds the routes of the API that this manager may answer by itself.
    ///
    /// # Errors
    /// If the servers cannot start.
    pub fn start(
        candidate: Arc<Candidate>,
        api: Listening,
        broker: Option<Listening>,
        access: &ClientAccess,
        ring: &Arc<Ring>,
        own: impl Fn(&mut ServiceConfig) + Clone + Send + 'static,
    ) -> anyhow::Result<Self> {
        let relays = |url, repeatable| {
            Relays::new(candidate.owners(), url, repeatable, access, ring.clone())
        };
        let for_api = relays(
            |owner: &Owner| owner.url.as_deref(),
            Repeatable::DeploymentsApi,
        )?;
        let api = Waiting::start(api, for_api, own)?;
        let broker = match broker {
            Some(broker) => {
                let for_broker = relays(|owner| owner.broker.as_deref(), Repeatable::Broker)?;
                Some(Waiting::start(broker, for_broker, |_: &mut _| {})?)
            }
            None => None,
        };
        Ok(Self {
            candidate,
            api,
            broker,
        })
    }

    /// Waits for the store. None if the process is to stop before: from the signal on, new connections are refused. The
    /// store may still come then, while requests are in hand: the process [stops](Self::stops), and leaves it to others.
    ///
    /// # Errors
    /// If a server failed.
    pub async fn until<T>(
        &mut self,
        store: impl Future<Output = T>,
        signal: impl Future<Output = ()>,
    ) -> Result<Option<T>, ServeError> {
        let mut store = std::pin::pin!(store);
        tokio::select! {
            opened = &mut store => return Ok(Some(opened)),
            ended = self.ended() => return ended.map(|()| None),
            () = signal => {}
        }
        drop(self.addresses());
        // Requests in hand still need to know who has the store.
        tokio::select! {
            opened = store => Ok(Some(opened)),
            ended = self.ended() => ended.map(|()| None),
        }
    }

    /// Whether the signal came before the store: there are no addresses for servers that follow.
    pub const fn stops(&self) -> bool {
        self.api.address.is_none()
    }

    async fn ended(&mut self) -> Result<(), ServeError> {
        match &mut self.broker {
            Some(broker) => tokio::select! {
                ended = self.api.server.ended() => ended,
                ended = broker.server.ended() => ended,
            },
            None => self.api.server.ended().await,
        }
    }

    /// Waits until what arrived on its connections is answered. A signal has stopped its servers.
    pub async fn drained(&mut self) {
        let api = self.api.server.ended();
        let broker = async {
            match &mut self.broker {
                Some(broker) => broker.server.ended().await,
                None => Ok(()),
            }
        };
        if let Err(error) = tokio::try_join!(api, broker) {
            tracing::warn!(%error, "a server that stops failed: {error}");
        }
    }

    pub fn candidate(&self) -> &Arc<Candidate> {
        &self.candidate
    }

    /// What the API and the service broker pass on when this manager has had the store, and stops.
    pub fn relays(&self) -> (Relays, Option<Relays>) {
        let broker = self.broker.as_ref().map(|broker| broker.relays.clone());
        (self.api.relays.clone(), broker)
    }

    /// The addresses for the servers that follow, once.
    pub fn addresses(&mut self) -> Option<(Listening, Option<Listening>)> {
        let broker = self.broker.as_mut().map(|broker| broker.address.take());
        Some((self.api.address.take()?, broker.flatten()))
    }

    /// Leaves new connections to the servers that follow, and passes on to them what still arrives on open ones. They
    /// must be serving. The result is kept until the process ends.
    pub async fn hand_over(self) -> Self {
        self.api.server.stop_accepting().await;
        if let Some(broker) = &self.broker {
            broker.server.stop_accepting().await;
        }
        self.candidate.announce();
        self
    }
}

impl Waiting {
    fn start(
        address: Listening,
        relays: Relays,
        own: impl Fn(&mut ServiceConfig) + Clone + Send + 'static,
    ) -> Result<Self, ServeError> {
        let all = relays.clone();
        let server = address
            .again()?
            .start(move |routes| all.routes(routes, own.clone()))?;
        Ok(Self {
            relays,
            // This process decides when the servers that follow stop: after the store is given up.
            address: Some(address.deaf_to_signals()),
            server,
        })
    }
}
