//! The listener of the service broker, beside that of the API.

#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use common::server::{CallerPolicy, Listen, ServeError, serve};
use manager_broker::{Access, Broker, BrokerOptions, Catalogs, Front, routes};

use crate::service::broker::BrokerDeployments;
use crate::service::writes::Writes;

/// A service broker that is ready to listen.
pub struct BrokerListener {
    address: SocketAddr,
    listen: Listen,
    broker: Broker,
    front: Front,
}

impl BrokerListener {
    /// None without `--broker-listen`. TLS and limits are those of the API.
    pub fn open(
        options: &BrokerOptions,
        listen: &Listen,
        writes: Arc<Writes>,
    ) -> anyhow::Result<Option<Self>> {
        let Some(address) = options.broker_listen else {
            return Ok(None);
        };
        let (basic, token) = (&options.broker_basic_file, &options.broker_token_file);
        let access = Access::open(basic.as_deref(), token.as_deref())?;
        let catalogs = Arc::new(Catalogs::open(options.broker_config.clone()));
        let deployments = Arc::new(BrokerDeployments { writes });
        Ok(Some(Self {
            address,
            listen: Listen {
                listen: Some(address),
                port_file: options.broker_port_file.clone(),
                ..listen.clone()
            },
            broker: Broker::new(catalogs, deployments, options.broker_lenient),
            front: Front::new(Arc::new(access), options),
        }))
    }

    /// Follows the operations that ran when the manager stopped. Returns their number.
    pub async fn recover(&self) -> anyhow::Result<usize> {
        let recovered = self.broker.recover().await;
        recovered.context("failed to read the unfinished operations of the service broker")
    }

    pub async fn serve(self) -> Result<(), ServeError> {
        let Self {
            address,
            listen,
            broker,
            front,
        } = self;
        serve(&listen, address, CallerPolicy::Checked, move |config| {
            routes(config, &broker, &front);
        })
        .await
    }
}
