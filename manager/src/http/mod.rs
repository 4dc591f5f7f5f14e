//! The REST API. The route table has a line for each route, and each noun has a file of handlers.
//!
//! Handlers parse requests and build answers. Decisions are made in `service`.

mod admin;
mod deployments;
mod metrics;
mod openapi;
mod operations;
mod readiness;
mod registries;
mod requests;
mod templates;
mod whoami;

#[cfg(test)]
mod tests;

use actix_web::Route;
use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, ServiceConfig};
use common::server::at;

use self::admin::clusters;
use self::deployments::{activity, live, manifests, previews};
use self::operations::{events, many};
use self::registries::credentials;
use self::requests::guard::Need::{self, *};
pub use self::requests::stored::LateServices;
use self::requests::{guard, kubernetes, repeated, stored};
use self::templates::{expand, export, stored_templates, types};
use crate::auth::Resource::*;
use crate::auth::Verb::*;
use crate::service::Services;

/// `"/path" METHOD noun::verb NEED, METHOD noun::verb NEED;`: the handler, the name of its description, and what its
/// callers need.
macro_rules! routes {
    ($($path:literal $first:ident $noun:ident :: $verb:ident $need:expr $(, $method:ident $nouns:ident :: $verbs:ident $needs:expr)*;)*) => {
        /// The route table as data.
        pub const ROUTES: &[openapi::Route] = &[$(
            openapi::Route {
                path: $path,
                method: stringify!($first),
                handler: (stringify!($noun), stringify!($verb)),
                describe: openapi::describe::$noun::$verb,
                need: $need,
            },
            $(openapi::Route {
                path: $path,
                method: stringify!($method),
                handler: (stringify!($nouns), stringify!($verbs)),
                describe: openapi::describe::$nouns::$verbs,
                need: $needs,
            },)*
        )*];

        pub fn routes(routes: &mut ServiceConfig, services: &Services) {
            routes.app_data(Data::new(services.clone()));
            $(
                routes.service(at($path, [
                    (Method::$first, guarded($need, (stringify!($noun), stringify!($verb)), web::to($noun::$verb))),
                    $((Method::$method, guarded($needs, (stringify!($nouns), stringify!($verbs)), web::to($nouns::$verbs))),)*
                ]));
            )*
        }

        /// The routes that the store alone answers, for a process that only reads it. `answered` is around each of them, and
        /// `others` takes the other methods of their paths.
        pub fn stored_reads(
            routes: &mut ServiceConfig,
            services: &LateServices,
            answered: impl Fn(Route) -> Route,
            others: impl Fn() -> Route,
        ) {
            $(
                if stored::is_read((stringify!($noun), stringify!($verb))) {
                    let route = guarded($need, (stringify!($noun), stringify!($verb)), web::to($noun::$verb));
                    let route = services.around(answered(route)).method(Method::$first);
                    routes.service(web::resource($path).route(route).default_service(others()));
                } else {
                    // The first path of the table that fits counts here too.
                    routes.service(web::resource($path).default_service(others()));
                }
            )*
        }
    };
}

/// The description of the API, as `GET /openapi.json` returns it.
pub fn description() -> serde_json::Value {
    openapi::document(ROUTES)
}

/// Whether a request with an `Idempotency-Key` is done once, however often it comes.
pub fn is_repeatable(route: &openapi::Route) -> bool {
    repeated::is_repeatable(route.need, route.handler)
}

/// A route with its guard. The answers to writes are kept within it, so that repeats are guarded too.
fn guarded(need: Need, handler: repeated::Handler, route: Route) -> Route {
    let route = match repeated::is_kept(need, handler) {
        true => route.wrap(from_fn(repeated::repeated)),
        false => route,
    };
    let guarded = route.wrap(from_fn(move |request, next| {
        guard::guard(need, request, next)
    }));
    guarded.wrap(from_fn(kubernetes::status))
}

routes! {
    "/readyz" GET readiness::get Nothing;
    "/openapi.json" GET openapi::get Nothing;
    "/metrics" GET metrics::get Authenticated;
    "/whoami" GET whoami::get Authenticated;
    "/admin/backup" GET admin::backup ClusterScoped(Store, Get);
    "/admin/restore" POST admin::restore ClusterScoped(Store, Create);
    "/admin/verify" GET admin::verify ClusterScoped(Store, Get);
    "/admin/rotate" POST admin::rotate ClusterScoped(Store, Update);
    "/admin/upgrade" GET admin::formats ClusterScoped(Store, Get), POST admin::upgrade ClusterScoped(Store, Update);
    "/deployments" GET deployments::list Filtered, POST deployments::create InBody;
    "/deployments/{deployment}" GET deployments::get Deployment(Get), PUT deployments::update Deployment(Update), DELETE deployments::delete Deployment(Delete);
    "/deployments/{deployment}/rollback" POST deployments::rollback Deployment(Update);
    "/deployments/{deployment}/upgrade" POST deployments::upgrade Deployment(Update);
    "/deployments/{deployment}/test" POST deployments::test Deployment(Update);
    "/deployments/{deployment}/stop" POST operations::stop Deployment(Update);
    "/deployments/{deployment}/preview" GET previews::get Deployment(Get), DELETE previews::delete Deployment(Update);
    "/deployments/{deployment}/diff" POST previews::diff Deployment(Get);
    "/deployments/{deployment}/resources" GET live::resources Deployment(Get);
    "/deployments/{deployment}/events" GET activity::events Deployment(Get);
    "/deployments/{deployment}/logs" GET activity::logs Deployment(Get);
    "/deployments/{deployment}/graph" GET live::graph Deployment(Get);
    "/deployments/{deployment}/manifests" GET manifests::list Deployment(Get);
    "/deployments/{deployment}/manifests/{manifest}" GET manifests::get Deployment(Get);
    "/deployments/{deployment}/manifests/{manifest}/diff" GET manifests::diff Deployment(Get);
    "/deployments/{deployment}/manifests/{manifest}/layout" GET manifests::layout Deployment(Get);
    "/templates/whatif" POST templates::whatif Filtered;
    "/templates" GET stored_templates::list Filtered, POST stored_templates::create InBody;
    "/templates/{template}" GET stored_templates::get Filtered, PUT stored_templates::replace InBody, PATCH stored_templates::patch InBody, DELETE stored_templates::delete InBody;
    "/templates/{template}/processed" POST stored_templates::process_stored Filtered;
    "/processedtemplates" POST stored_templates::process Authenticated;
    "/api/v1/namespaces/{namespace}/templates" GET stored_templates::list Filtered, POST stored_templates::create InBody;
    "/api/v1/namespaces/{namespace}/templates/{template}" GET stored_templates::get Filtered, PUT stored_templates::replace InBody, PATCH stored_templates::patch InBody, DELETE stored_templates::delete InBody;
    "/api/v1/namespaces/{namespace}/templates/{template}/processed" POST stored_templates::process_stored Filtered;
    "/api/v1/namespaces/{namespace}/processedtemplates" POST stored_templates::process Authenticated;
    "/apis/template.openshift.io/v1/namespaces/{namespace}/templates" GET stored_templates::list Filtered, POST stored_templates::create InBody;
    "/apis/template.openshift.io/v1/namespaces/{namespace}/templates/{template}" GET stored_templates::get Filtered, PUT stored_templates::replace InBody, PATCH stored_templates::patch InBody, DELETE stored_templates::delete InBody;
    "/apis/template.openshift.io/v1/namespaces/{namespace}/templates/{template}/processed" POST stored_templates::process_stored Filtered;
    "/apis/template.openshift.io/v1/namespaces/{namespace}/processedtemplates" POST stored_templates::process Authenticated;
    "/types" GET types::list Filtered;
    "/types/{type}/instances" GET types::instances Filtered;
    "/types/{type}/metadata" GET types::metadata Authenticated;
    "/types/{type}/registry" GET types::registry Authenticated;
    "/registries" GET registries::list Authenticated;
    "/registries/{registry}" GET registries::get Authenticated, POST registries::create ClusterScoped(Registries, Create), DELETE registries::delete ClusterScoped(Registries, Delete);
    "/registries/{registry}/refresh" POST registries::refresh Authenticated;
    "/registries/{registry}/types" GET registries::templates Authenticated;
    "/registries/{registry}/types/{type}" GET registries::template Authenticated;
    "/registries/{registry}/download" GET registries::download Authenticated;
    "/credentials" GET credentials::list ClusterScoped(Credentials, List);
    "/credentials/{credential}" GET credentials::get ClusterScoped(Credentials, Get), POST credentials::set ClusterScoped(Credentials, Update), DELETE credentials::delete ClusterScoped(Credentials, Delete);
    "/clusters" GET clusters::list Authenticated, POST clusters::create ClusterScoped(Clusters, Create);
    "/clusters/{cluster}" GET clusters::get Authenticated, PUT clusters::replace ClusterScoped(Clusters, Update), DELETE clusters::delete ClusterScoped(Clusters, Delete);
    "/events" GET many::get Filtered;
    "/expand" POST expand::post Authenticated;
    "/export" GET export::get Filtered, POST export::post Filtered;
    "/operations" GET operations::list Filtered;
    "/operations/{operation}" GET operations::get Operation(Get);
    "/operations/{operation}/events" GET events::get Operation(Get);
    "/operations/{operation}/cancel" POST operations::cancel Operation(Update);
}
