//! The requests to the collector.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::runtime::Handle;

/// They come from a thread without a runtime.
#[derive(Debug)]
pub struct Collector {
    client: reqwest::Client,
    runtime: Handle,
    /// Whether the last request failed, so that only changes are logged.
    has_failed: AtomicBool,
}

impl Collector {
    pub fn new(client: reqwest::Client, runtime: Handle) -> Self {
        Self {
            client,
            runtime,
            has_failed: AtomicBool::new(false),
        }
    }

    fn note(&self, fault: Option<&str>) {
        let had_failed = self.has_failed.swap(fault.is_some(), Ordering::Relaxed);
        match fault {
            Some(fault) if !had_failed => {
                tracing::warn!("the collector does not take traces, so they are dropped: {fault}");
            }
            None if had_failed => tracing::info!("the collector takes traces again"),
            _ => {}
        }
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let request = reqwest::Request::try_from(request)?;
        let client = self.client.clone();
        let sent = self.runtime.spawn(async move {
            let answer = client.execute(request).await?;
            let status = answer.status();
            Ok::<_, reqwest::Error>((status, answer.bytes().await?))
        });
        let (status, body) = match sent.await? {
            Ok(answer) => answer,
            Err(error) => {
                self.note(Some(&cause(&error)));
                return Err(error.into());
            }
        };
        let fault = (!status.is_success()).then(|| format!("it answers {status}"));
        self.note(fault.as_deref());
        let mut response = Response::new(body);
        *response.status_mut() = status;
        Ok(response)
    }
}

/// reqwest's own text repeats the URL. The innermost cause says what happened.
fn cause(error: &reqwest::Error) -> String {
    let start: &(dyn std::error::Error + 'static) = error;
    let causes = std::iter::successors(Some(start), |error| error.source());
    causes.last().map_or_else(String::new, ToString::to_string)
}
