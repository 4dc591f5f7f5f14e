//! The reads whose answers are in the store: a manager that does not have it may give them too.
//!
//! All others also depend on what the manager that has the store keeps in memory: running operations, sessions of browsers,
//! registries that were asked before.

use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use actix_web::Route;
use actix_web::dev::{Extensions, ServiceRequest};
use actix_web::guard::fn_guard;
use actix_web::middleware::{Next, from_fn};
use actix_web::web::Data;

use super::repeated::Handler;
use crate::service::Services;

const READS: &[Handler] = &[
    ("deployments", "list"),
    ("deployments", "get"),
    ("manifests", "list"),
    ("manifests", "get"),
    ("manifests", "diff"),
    ("manifests", "layout"),
    ("stored_templates", "list"),
    ("stored_templates", "get"),
    ("types", "list"),
    ("types", "instances"),
];

pub fn is_read(handler: Handler) -> bool {
    READS.contains(&handler)
}

/// Use cases that are there once the store can be read. Clones share them.
#[derive(Clone, Default)]
pub struct LateServices(Arc<OnceLock<Services>>);

impl LateServices {
    /// From now on, the routes are answered.
    pub fn are(&self, services: Services) {
        if self.0.set(services).is_err() {
            tracing::debug!("the services are there already");
        }
    }

    /// A route of these use cases. It fits no request before they are there.
    pub fn around(&self, route: Route) -> Route {
        let (late, ready) = (self.clone(), self.clone());
        let route = route.wrap(from_fn(
            move |mut request: ServiceRequest, next: Next<_>| {
                if let Some(services) = late.0.get() {
                    let mut data = Extensions::new();
                    data.insert(Data::new(services.clone()));
                    request.add_data_container(Rc::new(data));
                }
                next.call(request)
            },
        ));
        route.guard(fn_guard(move |_| ready.0.get().is_some()))
    }
}
