//! The REST API: every route a line, handlers in one file a noun.
//!
//! Handlers take a request apart and put an answer together; what is decided is decided in `service`.

mod admin;
mod deployments;
mod events;
mod expand;
mod extract;
mod manifests;
mod operations;
mod readiness;
mod registries;
mod types;

#[cfg(test)]
mod tests;

use actix_web::http::Method;
use actix_web::web::{Data, ServiceConfig, method};
use common::server::at;

use crate::service::Services;

/// `"/path" METHOD handler, METHOD handler;`
macro_rules! routes {
    ($($path:literal $first:ident $handler:path $(, $method:ident $further:path)*;)*) => {
        pub fn routes(routes: &mut ServiceConfig, services: &Services) {
            routes.app_data(Data::new(services.clone()));
            $(
                let methods = concat!(stringify!($first) $(, ", ", stringify!($method))*);
                let resource = at($path, methods).route(method(Method::$first).to($handler));
                routes.service(resource$(.route(method(Method::$method).to($further)))*);
            )*
        }
    };
}

routes! {
    "/readyz" GET readiness::get;
    "/admin/backup" GET admin::backup;
    "/admin/restore" POST admin::restore;
    "/admin/verify" GET admin::verify;
    "/deployments" GET deployments::list, POST deployments::create;
    "/deployments/{deployment}" GET deployments::get, PUT deployments::update, DELETE deployments::delete;
    "/deployments/{deployment}/resources" GET deployments::resources;
    "/deployments/{deployment}/manifests" GET manifests::list;
    "/deployments/{deployment}/manifests/{manifest}" GET manifests::get;
    "/deployments/{deployment}/manifests/{manifest}/layout" GET manifests::layout;
    "/types" GET types::list;
    "/types/{type}/instances" GET types::instances;
    "/types/{type}/metadata" GET types::metadata;
    "/types/{type}/registry" GET types::registry;
    "/registries" GET registries::list;
    "/registries/{registry}" GET registries::get;
    "/registries/{registry}/types" GET registries::templates;
    "/registries/{registry}/types/{type}" GET registries::template;
    "/registries/{registry}/download" GET registries::download;
    "/expand" POST expand::post;
    "/operations" GET operations::list;
    "/operations/{operation}" GET operations::get;
    "/operations/{operation}/events" GET events::get;
}
