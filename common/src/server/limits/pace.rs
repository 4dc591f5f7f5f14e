//! Ends bodies that arrive too slowly or stop, so that they do not hold a connection.

use std::future::Future;
use std::io::{Error, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::web::Bytes;
use futures::Stream;
use tokio::time::{Instant, Sleep};

/// How long to wait for the next [`ENOUGH`] bytes of a body, or for its end.
pub(in crate::server) const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes after which the wait starts again.
const ENOUGH: usize = 64 * 1024;

/// A body with a lower limit of speed. Only the time spent waiting for the client counts, not the time of a busy handler.
struct Paced {
    body: Payload,
    /// Ends when the wait for the client ends.
    timer: Pin<Box<Sleep>>,
    waiting_since: Option<Instant>,
    /// The wait since the last [`ENOUGH`] bytes.
    waited: Duration,
    received: usize,
}

/// The same body, or [`ErrorKind::TimedOut`] if it is too slow.
pub(in crate::server) fn watched(body: Payload) -> Payload {
    if matches!(body, Payload::None) {
        return body;
    }
    let paced = Paced {
        body,
        timer: Box::pin(tokio::time::sleep(PATIENCE)),
        waiting_since: None,
        waited: Duration::ZERO,
        received: 0,
    };
    Payload::Stream {
        payload: Box::pin(paced),
    }
}

impl Paced {
    fn arrived(&mut self, bytes: usize) {
        if let Some(since) = self.waiting_since.take() {
            self.waited += since.elapsed();
        }
        self.received += bytes;
        if self.received >= ENOUGH {
            self.received = 0;
            self.waited = Duration::ZERO;
        }
    }

    fn wait(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, PayloadError>>> {
        if self.waiting_since.is_none() {
            let now = Instant::now();
            self.waiting_since = Some(now);
            let left = PATIENCE.saturating_sub(self.waited);
            self.timer.as_mut().reset(now + left);
        }
        ready!(self.timer.as_mut().poll(context));
        Poll::Ready(Some(Err(PayloadError::Io(Error::from(
            ErrorKind::TimedOut,
        )))))
    }
}

impl Stream for Paced {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match Pin::new(&mut self.body).poll_next(context) {
            Poll::Ready(Some(Ok(bytes))) => {
                self.arrived(bytes.len());
                Poll::Ready(Some(Ok(bytes)))
            }
            Poll::Ready(end) => Poll::Ready(end),
            Poll::Pending => self.wait(context),
        }
    }
}
