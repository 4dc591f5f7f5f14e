//! An OpenTelemetry collector on loopback: it keeps the spans that it receives.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use prost::Message;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::Loopback;

/// Bytes of the head of a request.
const HEAD: usize = 16 * 1024;

/// Ends with the test.
pub struct Collector {
    server: Loopback,
    spans: Spans,
}

type Spans = Arc<Mutex<Vec<Span>>>;

/// A span as it was sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub service: String,
    pub name: String,
    pub trace: Vec<u8>,
    pub id: Vec<u8>,
    /// Empty for the first one of a trace.
    pub parent: Vec<u8>,
    pub attributes: BTreeMap<String, String>,
}

impl Collector {
    pub async fn serve() -> Result<Self> {
        let spans = Spans::default();
        let kept = spans.clone();
        let server = Loopback::serve(move |client| answer(client, kept.clone())).await?;
        Ok(Self { server, spans })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    pub fn spans(&self) -> Vec<Span> {
        let spans = self.spans.lock();
        spans.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn answer(mut client: TcpStream, spans: Spans) -> Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < HEAD {
        head.push(client.read_u8().await?);
    }
    let head = String::from_utf8(head)?.to_lowercase();
    ensure!(head.starts_with("post /v1/traces "), "{head}");
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"));
    let mut body = vec![0; length.context("no length")?.trim().parse()?];
    client.read_exact(&mut body).await?;
    let sent = read(&body)?;
    spans
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .extend(sent);
    let done = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    client.write_all(done).await?;
    Ok(client.shutdown().await?)
}

fn read(body: &[u8]) -> Result<Vec<Span>> {
    let mut spans = Vec::new();
    for one in ExportTraceServiceRequest::decode(body)?.resource_spans {
        let resource = attributes(one.resource.unwrap_or_default().attributes);
        let service = resource.get("service.name").context("a nameless service")?;
        for span in one.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            spans.push(Span {
                service: service.clone(),
                name: span.name,
                trace: span.trace_id,
                id: span.span_id,
                parent: span.parent_span_id,
                attributes: attributes(span.attributes),
            });
        }
    }
    Ok(spans)
}

fn attributes(found: Vec<KeyValue>) -> BTreeMap<String, String> {
    let text = |one: KeyValue| {
        let text = match one.value.and_then(|any| any.value) {
            Some(Value::StringValue(text)) => text,
            other => format!("{other:?}"),
        };
        (one.key, text)
    };
    found.into_iter().map(text).collect()
}
