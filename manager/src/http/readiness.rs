//! `/readyz`.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use common::server::observe::health::readiness;

use crate::service::Services;

pub async fn get(request: HttpRequest, services: Data<Services>) -> HttpResponse {
    readiness(&request, services.readiness.checks().await)
}
