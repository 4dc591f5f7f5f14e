//! The listener of the service broker, beside that of the API.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use anyhow::Context as _;
use common::request_id;
use common::server::{CallerPolicy, Listen, Listening, ServeError, Serving};
use manager_broker::{Access, Answered, Broker, BrokerOptions, Catalogs, Front, Witness, routes};

use crate::audit::{Audit, Event, Outcome};
use crate::relay::{Leaving, Relays};
use crate::service::Services;

/// A service broker that is ready to serve.
pub struct BrokerListener {
    broker: Broker,
    front: Front,
    catalogs: Arc<Catalogs>,
}

impl BrokerListener {
    /// Binds the address of the service broker; none without `--broker-listen`. TLS and limits are those of the API.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub fn bind(options: &BrokerOptions, listen: &Listen) -> Result<Option<Listening>, ServeError> {
        let Some(address) = options.broker_listen else {
            return Ok(None);
        };
        let listen = Listen {
            listen: Some(address),
            port_file: options.broker_port_file.clone(),
            ..listen.clone()
        };
        Listening::bind(&listen, address, CallerPolicy::Checked).map(Some)
    }

    /// # Errors
    /// If the files with the passwords of platforms cannot be read.
    pub async fn open(options: &BrokerOptions, services: &Services) -> anyhow::Result<Self> {
        let (basic, token) = (&options.broker_basic_file, &options.broker_token_file);
        let access = Access::open(basic.as_deref(), token.as_deref())?;
        let sources = services.broker_sources(options.broker_config_user.clone());
        let sources = options.broker_config.iter().map(|one| sources.open(one));
        let catalogs = Arc::new(Catalogs::open(sources.collect()).await);
        let deployments = Arc::new(services.broker_deployments());
        let auditor = Arc::new(Auditor(services.audit.clone()));
        Ok(Self {
            broker: Broker::new(catalogs.clone(), deployments, options.broker_lenient)
                .in_namespace(options.broker_namespace.clone()),
            front: Front::new(Arc::new(access), options).with_witness(auditor),
            catalogs,
        })
    }

    /// Follows the operations that ran when the manager stopped. Returns their number.
    pub async fn recover(&self) -> anyhow::Result<usize> {
        let recovered = self.broker.recover().await;
        recovered.context("failed to read the unfinished operations of the service broker")
    }

    /// From now on, the catalog follows its sources. `leaving` is when the manager leaves its store to others, and what
    /// is passed on to them then.
    ///
    /// # Errors
    /// If the server cannot start.
    pub fn start(
        self,
        listening: Listening,
        (leaving, relays): (Leaving, Option<Relays>),
    ) -> Result<Serving, ServeError> {
        let Self {
            broker,
            front,
            catalogs,
        } = self;
        tokio::spawn(async move { catalogs.follow().await });
        listening.start(move |config| {
            leaving.routes(config, relays.clone(), |config| {
                routes(config, &broker, &front);
            });
        })
    }
}

/// Writes what platforms ask for into the audit log.
struct Auditor(Audit);

impl Witness for Auditor {
    fn answered(&self, answered: &Answered<'_>) {
        self.0.record(&Event::Request {
            request_id: request_id::current(),
            user: answered.user,
            groups: &[],
            address: answered.address.as_deref(),
            method: answered.method,
            route: &answered.route,
            deployment: None,
            operation: None,
            status: answered.status,
            outcome: match answered.status {
                202 => Outcome::Accepted,
                200..=299 | 410 => Outcome::Done,
                401 | 403 => Outcome::Denied,
                _ => Outcome::Failed,
            },
            code: None,
        });
    }
}
