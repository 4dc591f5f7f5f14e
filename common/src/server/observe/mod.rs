//! Wraps each request: its id, its span, its log line, its metrics.

pub mod health;
pub mod metrics;

use std::borrow::Cow;
use std::time::Instant;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::middleware::Next;
use percent_encoding::{CONTROLS, percent_decode_str, utf8_percent_encode};
use tracing::field::Empty;
use tracing::{Instrument, Span};

use crate::address::without_user;
use crate::request_id;
use crate::telemetry::traces::{self, SPANS};

/// Answers contain text of callers: browsers must not render, frame or cache them.
const SAFE: [(HeaderName, &str); 3] = [
    (CACHE_CONTROL, "no-store"),
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; frame-ancestors 'none'",
    ),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

/// What monitoring asks for every few seconds.
const PROBES: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

pub(super) async fn observe<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, actix_web::Error> {
    let offered = request
        .headers()
        .get(request_id::HEADER)
        .and_then(|value| value.to_str().ok());
    let id = request_id::accept(offered);
    let span = tracing::info_span!("request", request.id = %id, http.method = %request.method(), http.path = %loggable_path(request.path()));
    request_id::scope(id.clone(), answer(request, next, id).instrument(span)).await
}

/// The path for the log. It may contain the URL of a template, and that URL may contain a password.
fn loggable_path(path: &str) -> Cow<'_, str> {
    if !path.contains([':', '%']) {
        return path.into();
    }
    let decoded = percent_decode_str(path).decode_utf8_lossy();
    let shown = without_user(&decoded);
    match shown == decoded {
        true => path.into(),
        false => utf8_percent_encode(&shown, CONTROLS).to_string().into(),
    }
}

async fn answer<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
    id: String,
) -> Result<ServiceResponse<B>, actix_web::Error> {
    let started = Instant::now();
    let method = request.method().clone();
    let span = traced(&request, &id);
    let mut response = next.call(request).instrument(span.clone()).await?;
    let route = response
        .request()
        .match_pattern()
        .unwrap_or_else(|| "none".to_owned());
    let status = response.status().as_u16();
    traces::rename(&span, format!("{method} {route}"));
    span.record("http.response.status_code", status);
    metrics::count(&route, method.as_str(), status, started.elapsed());
    tracing::debug!(http.route = %route, http.status = status, took_ms = started.elapsed().as_millis(), "answered {status}");
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert(HeaderName::from_static(request_id::HEADER), value);
    }
    for (name, value) in SAFE {
        // The manager's page has a policy and a lifetime of its own.
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    Ok(response)
}

/// The request in a trace. Probes would only be noise there.
fn traced(request: &ServiceRequest, id: &str) -> Span {
    if PROBES.contains(&request.path()) {
        return Span::none();
    }
    let span = tracing::debug_span!(target: SPANS, "request", otel.kind = "server", request.id = %id, http.response.status_code = Empty);
    let parent = request.headers().get(traces::HEADER);
    if let Some(parent) = parent.and_then(|value| value.to_str().ok()) {
        traces::go_on(&span, parent);
    }
    span
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_told_without_a_password_that_it_names() {
        for (path, expected) in [
            ("/types/redis:v1/instances", "/types/redis:v1/instances"),
            ("/types/a%0ab/instances", "/types/a%0ab/instances"),
            (
                "/types/https%3A%2F%2Fme:hunter2%40host%2Ft/metadata",
                "/types/https://(redacted)@host/t/metadata",
            ),
            (
                "/types/https://me:hunter2@host%0A/t/metadata",
                "/types/https://(redacted)@host%0A/t/metadata",
            ),
        ] {
            assert_eq!(loggable_path(path), expected);
        }
    }
}
