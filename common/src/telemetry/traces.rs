//! Traces: which services worked for one request, on what, and how long. They go to an OpenTelemetry collector (OTLP over
//! HTTP, protobuf), if there is one.
//!
//! Only spans of the target [`SPANS`] are sent. They have names, ids, codes and times. They never have bodies, properties,
//! credentials or messages, so logs are no part of traces. Without a collector, these spans cost nothing.
//!
//! A batch is sent by a thread of its own. While the collector is unavailable, spans are dropped, and nothing waits.

use std::collections::HashMap;
use std::time::Duration;

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use reqwest::ClientBuilder;
use tokio::runtime::Handle;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use url::Url;

use super::Output;
use super::collector::Collector;

/// The target of spans that are sent.
pub const SPANS: &str = "spans";
/// The header that says which span a request belongs to (W3C Trace Context).
pub const HEADER: &str = "traceparent";

/// The last spans of a process have this long.
const LAST: Duration = Duration::from_secs(2);
/// The variables of the OpenTelemetry specification that name a collector.
const STANDARD: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];

/// The flags of a process that can send traces.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct TraceFlags {
    /// URL of an OpenTelemetry collector that receives traces, such as http://127.0.0.1:4318 [default: that of
    /// OTEL_EXPORTER_OTLP_ENDPOINT, or no traces].
    #[arg(long, env = "DM_TRACES", value_name = "URL")]
    pub traces: Option<Url>,
}

/// Why traces cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    #[error("--traces {0} is not the URL of a collector: write it like http://127.0.0.1:4318")]
    Url(Url),
    #[error("the settings of the collector are not usable: {0}")]
    Exporter(#[from] ExporterBuildError),
    #[error("no client for the collector: {0}")]
    Client(#[from] reqwest::Error),
}

/// The way to the collector.
pub struct Traces {
    provider: SdkTracerProvider,
}

impl TraceFlags {
    /// None if there is no collector. `service` is the name in traces, unless `OTEL_SERVICE_NAME` has another.
    ///
    /// # Errors
    /// A setting is wrong. An unavailable collector is no error.
    pub fn open(
        &self,
        service: &'static str,
        client: ClientBuilder,
    ) -> Result<Option<Traces>, TracesError> {
        if self.traces.is_none() && !is_standard() {
            return Ok(None);
        }
        let client = client.no_proxy().build()?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Collector::new(client, Handle::current()));
        let exporter = match &self.traces {
            Some(url) => exporter.with_endpoint(endpoint(url)?),
            None => exporter,
        };
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter.build()?)
            .with_resource(resource(service))
            .build();
        Ok(Some(Traces { provider }))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the OpenTelemetry specification names these variables"
)]
fn is_standard() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|url| !url.is_empty());
    STANDARD.into_iter().any(is_set)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the OpenTelemetry specification names this variable"
)]
fn resource(service: &'static str) -> Resource {
    let resource = Resource::builder();
    match std::env::var_os("OTEL_SERVICE_NAME") {
        Some(_) => resource.build(),
        None => resource.with_service_name(service).build(),
    }
}

/// Where a collector receives traces.
fn endpoint(url: &Url) -> Result<String, TracesError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(TracesError::Url(url.clone()));
    }
    let base = url.as_str().trim_end_matches('/');
    Ok(format!("{base}/v1/traces"))
}

impl Traces {
    pub(super) fn layer(&self) -> Output {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("deployment-manager"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_target(false)
            .with_level(false)
            .with_filter(filter_fn(|metadata| {
                metadata.is_span() && metadata.target() == SPANS
            }))
            .boxed()
    }

    /// Sends what is left. An unavailable collector does not hold the process up for long.
    pub async fn end(self) {
        let provider = self.provider;
        // It waits for a thread that needs this runtime. An error has been logged.
        let ended = tokio::task::spawn_blocking(move || drop(provider.shutdown_with_timeout(LAST)));
        let _ = ended.await;
    }
}

/// The current span, as the header [`HEADER`] has it. None without a collector.
pub fn current() -> Option<String> {
    let mut headers = HashMap::new();
    TraceContextPropagator::new().inject_context(&Span::current().context(), &mut headers);
    headers.remove(HEADER)
}

/// Makes the span, which has not begun, a part of the one in a header. A malformed header has no effect.
pub fn go_on(span: &Span, header: &str) {
    if span.is_disabled() {
        return;
    }
    let headers = HashMap::from([(HEADER.to_owned(), header.to_owned())]);
    let parent = TraceContextPropagator::new().extract(&headers);
    // `Err`: another subscriber is in use, which sends no traces.
    let _ = span.set_parent(parent);
}

/// Gives a span that has begun its final name.
pub fn rename(span: &Span, name: String) {
    if !span.is_disabled() {
        span.context().span().update_name(name);
    }
}
