//! Answers that come piece by piece: one JSON document a line, and a sign of life while nothing happens.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use actix_web::HttpResponse;
use bytes::Bytes;
use common::api::activity::LogItem;
use common::api::deployer::{EVENT_STREAM, Event};
use common::api::error::{ErrorBody, ErrorCode};
use common::request_id;
use common::work;
use futures::Stream;
use serde::Serialize;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio_util::task::LocalPoolHandle;
use tracing::{Instrument, Span};

use crate::apply::{Events, Stopped};
use crate::kubectl::Halt;

/// Callers treat silence of 30 s as a broken connection.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// Pieces that wait for a slow caller.
const BUFFERED: usize = 64;

/// One piece of an answer.
trait Piece: Serialize + Send + Sync + 'static {
    fn heartbeat() -> Self;
    fn error(error: ErrorBody) -> Self;
}

impl Piece for Event {
    fn heartbeat() -> Self {
        Self::Heartbeat
    }

    fn error(error: ErrorBody) -> Self {
        Self::Error { error }
    }
}

impl Piece for LogItem {
    fn heartbeat() -> Self {
        Self::Heartbeat
    }

    fn error(error: ErrorBody) -> Self {
        Self::Error { error }
    }
}

/// Answers immediately, and does the work while the caller reads the body of the answer. If the caller goes away,
/// nothing more is sent to the API server, and the work ends when the API server has answered all requests.
pub fn streamed<W, F>(jobs: &LocalPoolHandle, work: W) -> HttpResponse
where
    W: FnOnce(Events) -> F + Send + 'static,
    F: Future<Output = Result<Event, Stopped>> + 'static,
{
    let (sender, receiver) = mpsc::channel(BUFFERED);
    let events = Events::new(sender);
    let (id, span) = (scope_id(), Span::current());
    // The task runs by itself. Its end is an event of the stream.
    drop(jobs.spawn_pinned(move || {
        let work = finish(work(events.clone()), events);
        request_id::scope(id, work.instrument(span))
    }));
    answer(receiver)
}

/// The same for logs. The work ends when the caller goes away.
pub fn streamed_logs<W, F>(jobs: &LocalPoolHandle, work: W) -> HttpResponse
where
    W: FnOnce(Sender<LogItem>) -> F + Send + 'static,
    F: Future<Output = Result<(), ErrorBody>> + 'static,
{
    let (sender, receiver) = mpsc::channel(BUFFERED);
    let (id, span) = (scope_id(), Span::current());
    drop(jobs.spawn_pinned(move || {
        let last = sender.clone();
        let work = async move {
            if let Err(error) = work(sender).await {
                // A caller that is gone needs no error.
                let _ = last.send(LogItem::Error { error }).await;
            }
        };
        request_id::scope(id, work.instrument(span))
    }));
    answer(receiver)
}

/// Of the request, for the work that is done for it elsewhere.
pub fn scope_id() -> String {
    request_id::current().unwrap_or_else(request_id::fresh)
}

/// Ends the stream with the outcome or the error.
async fn finish(work: impl Future<Output = Result<Event, Stopped>>, events: Events) {
    let last = match work.await {
        Ok(outcome) => outcome,
        Err(Stopped::Refused(error)) => Event::Error { error },
        Err(Stopped::Halted(Halt::CallerGone)) => {
            return tracing::warn!("stopped: {}", Halt::CallerGone);
        }
        Err(Stopped::Halted(halt)) => Event::Error { error: halt.into() },
    };
    if let Err(gone) = events.send(last).await {
        tracing::warn!("the outcome could not be sent: {gone}");
    }
}

fn answer<P: Piece>(receiver: Receiver<P>) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(EVENT_STREAM)
        .streaming(lines(receiver))
}

fn lines<P: Piece>(receiver: Receiver<P>) -> impl Stream<Item = Result<Bytes, Infallible>> {
    futures::stream::unfold(receiver, |mut receiver| async move {
        let piece = match tokio::time::timeout(HEARTBEAT, receiver.recv()).await {
            Ok(piece) => piece?,
            Err(_) => P::heartbeat(),
        };
        Some((Ok(line(piece).await), receiver))
    })
}

async fn line<P: Piece>(piece: P) -> Bytes {
    let text = work::json(piece).await.or_else(|error| {
        tracing::error!(%error, "a piece of an answer cannot be written");
        let error = ErrorBody::new(
            ErrorCode::Internal,
            "an event could not be written; the log has the cause",
        );
        serde_json::to_vec(&P::error(error))
    });
    let mut line = text.unwrap_or_default();
    line.push(b'\n');
    line.into()
}
