//! The REST API: every route a line, handlers in one file a noun.
//!
//! Handlers take a request apart and put an answer together; what is decided is decided in `service`.

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

use actix_web::web::{self, Data, ServiceConfig, get, post, put};
use common::server::at;

use crate::service::Services;

pub fn routes(routes: &mut ServiceConfig, services: &Services) {
    routes
        .app_data(Data::new(services.clone()))
        .service(at("/readyz").route(get().to(readiness::get)))
        .service(
            at("/deployments")
                .route(get().to(deployments::list))
                .route(post().to(deployments::create)),
        )
        .service(
            at("/deployments/{deployment}")
                .route(get().to(deployments::get))
                .route(put().to(deployments::update))
                .route(web::delete().to(deployments::delete)),
        )
        .service(at("/deployments/{deployment}/resources").route(get().to(deployments::resources)))
        .service(at("/deployments/{deployment}/manifests").route(get().to(manifests::list)))
        .service(
            at("/deployments/{deployment}/manifests/{manifest}").route(get().to(manifests::get)),
        )
        .service(
            at("/deployments/{deployment}/manifests/{manifest}/layout")
                .route(get().to(manifests::layout)),
        )
        .service(at("/types").route(get().to(types::list)))
        .service(at("/types/{type}/instances").route(get().to(types::instances)))
        .service(at("/types/{type}/metadata").route(get().to(types::metadata)))
        .service(at("/types/{type}/registry").route(get().to(types::registry)))
        .service(at("/registries").route(get().to(registries::list)))
        .service(at("/registries/{registry}").route(get().to(registries::get)))
        .service(at("/registries/{registry}/types").route(get().to(registries::templates)))
        .service(at("/registries/{registry}/types/{type}").route(get().to(registries::template)))
        .service(at("/registries/{registry}/download").route(get().to(registries::download)))
        .service(at("/expand").route(post().to(expand::post)))
        .service(at("/operations").route(get().to(operations::list)))
        .service(at("/operations/{operation}").route(get().to(operations::get)))
        .service(at("/operations/{operation}/events").route(get().to(events::get)));
}
