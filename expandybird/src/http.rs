//! The routes of expandybird.

use actix_web::http::StatusCode;
use actix_web::http::header::ContentType;
use actix_web::web::{Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use common::api::expander::CALLER_HEADER;
use common::server::observe::{health, metrics};
use common::server::request::body;
use common::server::{ApiError, RawBody};

use crate::admission::Caller;
use crate::service::{Answer, Asked, Expander};

common::route_table! {
    "/readyz" GET readyz;
    "/metrics" GET metrics::metrics;
    "/expand" POST expand;
}

/// Every route.
pub fn routes(config: &mut ServiceConfig, expander: &Data<Expander>) {
    config
        .app_data(Data::clone(expander))
        .configure(serve_routes);
}

async fn expand(
    request: HttpRequest,
    expander: Data<Expander>,
    raw: RawBody,
) -> Result<HttpResponse, ApiError> {
    let asked = Asked {
        caller: caller(&request),
        request_id: common::request_id::current().unwrap_or_default(),
        format: raw.format,
        body: raw.bytes,
    };
    let room = |bytes| body::hold(&request, bytes);
    expander.answer(&asked, &room).await.map(passed_on)
}

/// The caller, from the manager's header. Only the manager may call.
fn caller(request: &HttpRequest) -> Caller {
    let name = request.headers().get(CALLER_HEADER);
    name.and_then(|name| name.to_str().ok())
        .map(Caller::new)
        .unwrap_or_default()
}

fn passed_on(answer: Answer) -> HttpResponse {
    let status = answer
        .code
        .and_then(|code| StatusCode::from_u16(code.status()).ok())
        .unwrap_or(StatusCode::OK);
    HttpResponse::build(status)
        .content_type(ContentType::json())
        .body(answer.body)
}

async fn readyz(request: HttpRequest, expander: Data<Expander>) -> HttpResponse {
    health::readiness(&request, expander.checks().await)
}
