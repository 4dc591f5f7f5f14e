//! `/readyz`.

use actix_web::HttpResponse;
use actix_web::web::Data;
use common::server::health::readiness;

use crate::service::Services;

pub async fn get(services: Data<Services>) -> HttpResponse {
    readiness(services.readiness.checks().await)
}
