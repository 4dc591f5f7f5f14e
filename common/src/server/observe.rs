//! Around every request: its id, its span, its line in the log, its place in the metrics.

use std::time::Instant;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::middleware::Next;
use tracing::Instrument;

use super::metrics;
use crate::request_id;

/// Answers hold what callers wrote: nothing may take them for a page, show them in a frame, or keep them.
const SAFE: [(HeaderName, &str); 3] = [
    (CACHE_CONTROL, "no-store"),
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; frame-ancestors 'none'",
    ),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

pub(super) async fn observe<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, actix_web::Error> {
    let offered = request
        .headers()
        .get(request_id::HEADER)
        .and_then(|value| value.to_str().ok());
    let id = request_id::accept(offered);
    let span = tracing::info_span!("request", request.id = %id, http.method = %request.method(), http.path = request.path());
    request_id::scope(id.clone(), answer(request, next, id).instrument(span)).await
}

async fn answer<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
    id: String,
) -> Result<ServiceResponse<B>, actix_web::Error> {
    let started = Instant::now();
    let method = request.method().clone();
    let mut response = next.call(request).await?;
    let route = response
        .request()
        .match_pattern()
        .unwrap_or_else(|| "none".to_owned());
    let status = response.status().as_u16();
    metrics::count(&route, method.as_str(), status, started.elapsed());
    tracing::debug!(http.route = %route, http.status = status, took_ms = started.elapsed().as_millis(), "answered {status}");
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert(HeaderName::from_static(request_id::HEADER), value);
    }
    for (name, value) in SAFE {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}
