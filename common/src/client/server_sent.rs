//! Server-sent events as in the HTML standard. The manager streams an operation with them.
//!
//! Reads fields, joins data lines and leaves comments out. It does not reconnect: the caller has the id of the last
//! event and decides.

use std::time::Duration;

use futures::{Stream, StreamExt, TryStreamExt};
use reqwest::Response;
use tokio_util::codec::{FramedRead, LinesCodec};
use tokio_util::io::StreamReader;

use super::error::ClientError;
use super::http::Endpoint;

/// The largest event, and so the longest line, is an operation with the errors of all its resources.
const EVENT_BYTES: usize = 64 * 1024 * 1024;

/// One event. Missing fields are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerSent {
    /// The value for `Last-Event-ID`, to continue after this event.
    pub id: String,
    pub event: String,
    pub data: String,
}

impl ServerSent {
    /// Reads a line. Returns the event that an empty line ends, if it has data.
    fn take(&mut self, line: &str) -> Option<ServerSent> {
        if line.is_empty() {
            let event = std::mem::take(self);
            return (!event.data.is_empty()).then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => value.clone_into(&mut self.id),
            "event" => value.clone_into(&mut self.event),
            "data" if self.data.is_empty() => value.clone_into(&mut self.data),
            "data" => self.data.extend(["\n", value]),
            // Comments have no field name. Other fields are not used here.
            _ => {}
        }
        None
    }
}

/// The events of the answer. No line for longer than `idle` is an error. Comments count as lines.
pub(super) fn events(
    endpoint: Endpoint,
    response: Response,
    idle: Duration,
) -> impl Stream<Item = Result<ServerSent, ClientError>> {
    let bytes = StreamReader::new(response.bytes_stream().map_err(std::io::Error::other));
    let lines = FramedRead::new(bytes, LinesCodec::new_with_max_length(EVENT_BYTES));
    let start = (Box::pin(lines), ServerSent::default());
    futures::stream::try_unfold(start, move |(mut lines, mut event)| {
        let endpoint = endpoint.clone();
        async move {
            loop {
                let line = tokio::time::timeout(idle, lines.next())
                    .await
                    .map_err(|_| {
                        endpoint.broken_off(format!("nothing came for {} s", idle.as_secs()))
                    })?;
                let Some(line) = line else { return Ok(None) };
                let line = line.map_err(|error| endpoint.broken_off(error.to_string()))?;
                if let Some(whole) = event.take(&line) {
                    return Ok(Some((whole, (lines, event))));
                }
                if event.data.len() > EVENT_BYTES {
                    let limit = EVENT_BYTES / (1024 * 1024);
                    return Err(endpoint.broken_off(format!("an event has over {limit} MiB")));
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<ServerSent> {
        let mut event = ServerSent::default();
        text.split('\n')
            .filter_map(|line| event.take(line))
            .collect()
    }

    #[test]
    fn fields_are_read_and_comments_left_out() {
        let read = read(
            ":\n\n: quiet\nid: r-1\nevent: resource\ndata: {}\nretry: 5\n\ndata:a\ndata: b\n\nid: lost",
        );
        let event = |id: &str, event: &str, data: &str| ServerSent {
            id: id.to_owned(),
            event: event.to_owned(),
            data: data.to_owned(),
        };
        assert_eq!(
            read,
            [event("r-1", "resource", "{}"), event("", "", "a\nb")]
        );
    }
}
