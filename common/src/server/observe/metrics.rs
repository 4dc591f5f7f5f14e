//! `GET /metrics`, in Prometheus' text format: requests by route, and the process itself.

use std::sync::LazyLock;
use std::time::Duration;

use actix_web::HttpResponse;
use prometheus::{HistogramVec, IntCounterVec, Opts, Registry, TextEncoder};

use crate::server::answer::error::ApiError;

/// All metrics of the process; services register their own here.
pub static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let registry = Registry::new();
    add(
        &registry,
        prometheus::process_collector::ProcessCollector::for_self(),
    );
    registry
});

static REQUESTS: LazyLock<Option<IntCounterVec>> = LazyLock::new(|| {
    let opts = Opts::new(
        "dm_http_requests_total",
        "Requests answered, by route pattern, method and status.",
    );
    let counter = IntCounterVec::new(opts, &["route", "method", "status"]).ok()?;
    register(counter.clone());
    Some(counter)
});

static SECONDS: LazyLock<Option<HistogramVec>> = LazyLock::new(|| {
    let opts = prometheus::HistogramOpts::new(
        "dm_http_request_seconds",
        "Time to the answer's head, by route pattern.",
    );
    let histogram = HistogramVec::new(opts, &["route"]).ok()?;
    register(histogram.clone());
    Some(histogram)
});

/// Registers a metric.
pub fn register(collector: impl prometheus::core::Collector + 'static) {
    add(&REGISTRY, collector);
}

fn add(registry: &Registry, collector: impl prometheus::core::Collector + 'static) {
    if let Err(error) = registry.register(Box::new(collector)) {
        tracing::warn!(%error, "a metric could not be registered and will not be shown");
    }
}

/// Counts one answered request. `route` is the pattern, never the path: callers must not create new time series.
pub(in crate::server) fn count(route: &str, method: &str, status: u16, took: Duration) {
    if let Some(requests) = &*REQUESTS {
        requests
            .with_label_values(&[route, method, status.to_string().as_str()])
            .inc();
    }
    if let Some(seconds) = &*SECONDS {
        seconds
            .with_label_values(&[route])
            .observe(took.as_secs_f64());
    }
}

/// The handler of the route. Each service registers it beside its other routes, so the same authentication applies.
pub async fn metrics() -> Result<HttpResponse, ApiError> {
    let text = TextEncoder::new()
        .encode_to_string(&REGISTRY.gather())
        .map_err(|error| ApiError::internal(&error))?;
    Ok(HttpResponse::Ok()
        .content_type("text/plain; version=0.0.4; charset=utf-8")
        .body(text))
}
