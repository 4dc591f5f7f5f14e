//! The routes of the protocol. Handlers read requests; decisions are made in `service`.

mod answer;
mod bindings;
mod catalog;
mod front;
mod instances;
mod request;
mod witness;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, ServiceConfig};
use common::server::at;

use crate::access::Access;
use crate::options::{ApiVersion, BrokerOptions};
use crate::service::Broker;

pub use witness::{Answered, Witness};

/// What each request is checked against before its handler.
#[derive(Clone)]
pub struct Front {
    access: Arc<Access>,
    minimum: ApiVersion,
    lenient: bool,
    witness: Option<Arc<dyn Witness>>,
}

impl Front {
    pub fn new(access: Arc<Access>, options: &BrokerOptions) -> Self {
        Self {
            access,
            minimum: options.broker_min_version,
            lenient: options.broker_lenient,
            witness: None,
        }
    }

    /// The same, with a record of what was changed or denied.
    #[must_use]
    pub fn with_witness(self, witness: Arc<dyn Witness>) -> Self {
        Self {
            witness: Some(witness),
            ..self
        }
    }
}

const INSTANCE: &str = "/service_instances/{instance}";
const BINDING: &str = "/service_instances/{instance}/service_bindings/{binding}";

/// Adds `/v2/…`.
pub fn routes(routes: &mut ServiceConfig, broker: &Broker, front: &Front) {
    let front = front.clone();
    let scope = web::scope("/v2")
        .app_data(Data::new(broker.clone()))
        .wrap(from_fn(move |request, next| {
            let front = front.clone();
            async move { front::check(&front, request, next).await }
        }))
        .service(at("/catalog", [(Method::GET, web::to(catalog::get))]))
        .service(at(
            &format!("{INSTANCE}/last_operation"),
            [(Method::GET, web::to(instances::poll))],
        ))
        .service(at(
            &format!("{BINDING}/last_operation"),
            [(Method::GET, web::to(bindings::poll))],
        ))
        .service(at(
            BINDING,
            [
                (Method::PUT, web::to(bindings::bind)),
                (Method::GET, web::to(bindings::get)),
                (Method::DELETE, web::to(bindings::unbind)),
            ],
        ))
        .service(at(
            INSTANCE,
            [
                (Method::PUT, web::to(instances::provision)),
                (Method::GET, web::to(instances::get)),
                (Method::PATCH, web::to(instances::update)),
                (Method::DELETE, web::to(instances::deprovision)),
            ],
        ));
    routes.service(scope);
}
