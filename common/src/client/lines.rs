//! A streamed answer, line by line. Each line is a JSON document.

use std::time::Duration;

use futures::{Stream, StreamExt, TryStreamExt};
use reqwest::Response;
use serde::de::DeserializeOwned;
use tokio_util::codec::{FramedRead, LinesCodec};
use tokio_util::io::StreamReader;

use super::error::ClientError;
use super::http::Endpoint;

/// The largest line is a report over all resources of a deployment.
const LINE_BYTES: usize = 64 * 1024 * 1024;

/// The documents of the answer. No line for longer than `idle` is an error, and so is a line that cannot be decoded.
pub(super) fn documents<T: DeserializeOwned + Send + 'static>(
    endpoint: Endpoint,
    response: Response,
    idle: Duration,
) -> impl Stream<Item = Result<T, ClientError>> {
    let bytes = StreamReader::new(response.bytes_stream().map_err(std::io::Error::other));
    let lines = FramedRead::new(bytes, LinesCodec::new_with_max_length(LINE_BYTES));
    futures::stream::try_unfold(Box::pin(lines), move |mut lines| {
        let endpoint = endpoint.clone();
        async move {
            let line = tokio::time::timeout(idle, lines.next())
                .await
                .map_err(|_| {
                    endpoint.broken_off(format!("nothing came for {} s", idle.as_secs()))
                })?;
            let Some(line) = line else { return Ok(None) };
            let line = line.map_err(|error| endpoint.broken_off(error.to_string()))?;
            let document = endpoint.document(line).await?;
            Ok(Some((document, lines)))
        }
    })
}
