//! The REST API: every route a line, handlers in one file a noun.
//!
//! Handlers take a request apart and put an answer together; what is decided is decided in `service`.

mod admin;
mod credentials;
mod deployments;
mod events;
mod expand;
mod extract;
mod live;
mod manifests;
mod openapi;
mod operations;
mod previews;
mod readiness;
mod registries;
mod types;

#[cfg(test)]
mod tests;

use actix_web::http::Method;
use actix_web::web::{Data, ServiceConfig, method};
use common::server::at;

use crate::service::Services;

/// `"/path" METHOD noun::verb, METHOD noun::verb;` – the handler, and under the same name what it takes and answers.
macro_rules! routes {
    ($($path:literal $first:ident $noun:ident :: $verb:ident $(, $method:ident $nouns:ident :: $verbs:ident)*;)*) => {
        /// The table, for those who read it.
        pub const ROUTES: &[openapi::Route] = &[$(
            openapi::Route {
                path: $path,
                method: stringify!($first),
                describe: openapi::describe::$noun::$verb,
            },
            $(openapi::Route {
                path: $path,
                method: stringify!($method),
                describe: openapi::describe::$nouns::$verbs,
            },)*
        )*];

        pub fn routes(routes: &mut ServiceConfig, services: &Services) {
            routes.app_data(Data::new(services.clone()));
            $(
                let methods = concat!(stringify!($first) $(, ", ", stringify!($method))*);
                let resource = at($path, methods).route(method(Method::$first).to($noun::$verb));
                routes.service(resource$(.route(method(Method::$method).to($nouns::$verbs)))*);
            )*
        }
    };
}

routes! {
    "/readyz" GET readiness::get;
    "/openapi.json" GET openapi::get;
    "/admin/backup" GET admin::backup;
    "/admin/restore" POST admin::restore;
    "/admin/verify" GET admin::verify;
    "/deployments" GET deployments::list, POST deployments::create;
    "/deployments/{deployment}" GET deployments::get, PUT deployments::update, DELETE deployments::delete;
    "/deployments/{deployment}/rollback" POST deployments::rollback;
    "/deployments/{deployment}/stop" POST operations::stop;
    "/deployments/{deployment}/preview" GET previews::get, DELETE previews::delete;
    "/deployments/{deployment}/diff" POST previews::diff;
    "/deployments/{deployment}/resources" GET live::resources;
    "/deployments/{deployment}/graph" GET live::graph;
    "/deployments/{deployment}/manifests" GET manifests::list;
    "/deployments/{deployment}/manifests/{manifest}" GET manifests::get;
    "/deployments/{deployment}/manifests/{manifest}/layout" GET manifests::layout;
    "/types" GET types::list;
    "/types/{type}/instances" GET types::instances;
    "/types/{type}/metadata" GET types::metadata;
    "/types/{type}/registry" GET types::registry;
    "/registries" GET registries::list;
    "/registries/{registry}" GET registries::get, POST registries::create, DELETE registries::delete;
    "/registries/{registry}/types" GET registries::templates;
    "/registries/{registry}/types/{type}" GET registries::template;
    "/registries/{registry}/download" GET registries::download;
    "/credentials" GET credentials::list;
    "/credentials/{credential}" GET credentials::get, POST credentials::set, DELETE credentials::delete;
    "/expand" POST expand::post;
    "/operations" GET operations::list;
    "/operations/{operation}" GET operations::get;
    "/operations/{operation}/events" GET events::get;
    "/operations/{operation}/cancel" POST operations::cancel;
}
