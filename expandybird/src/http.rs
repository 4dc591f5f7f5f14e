//! The routes of expandybird.

use actix_web::web::{self, Data, Json, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use common::api::expander::{ExpandRequest, ExpandResponse};
use common::server::{ApiError, Body, at, health, method_not_allowed, metrics};

use crate::service::Expander;

pub fn routes(config: &mut ServiceConfig, expander: &Data<Expander>) {
    config
        .app_data(Data::clone(expander))
        .service(at("/metrics", "GET").route(web::get().to(metrics::metrics)))
        .service(
            web::resource("/expand")
                .route(web::post().to(expand))
                .default_service(web::to(method_not_allowed)),
        )
        .service(
            web::resource("/readyz")
                .route(web::get().to(readyz))
                .default_service(web::to(method_not_allowed)),
        );
}

async fn expand(
    expander: Data<Expander>,
    request: Body<ExpandRequest>,
) -> Result<Json<ExpandResponse>, ApiError> {
    expander.expand(request.0).await.map(Json)
}

async fn readyz(request: HttpRequest, expander: Data<Expander>) -> HttpResponse {
    health::readiness(&request, expander.checks().await)
}
