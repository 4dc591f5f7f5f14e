//! `/operations/{o}/events`: server-sent events, as the HTML standard defines them.
//!
//! `event: operation` has the operation, after every change. `event: resource` has the report on a resource. Ids are
//! `RUN-NUMBER`: `Last-Event-ID` resumes after that number, or at the start if the manager has restarted. The stream
//! ends when the operation is done, or when the caller may not see it any more.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use actix_web::web::{Bytes, Data, Path};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use common::api::manager::OperationEvent;
use common::model::{Operation, OperationId};
use common::server::{ApiError, limits};
use futures::stream::{self, Stream};
use serde::Serialize;
use tokio::sync::watch;

use crate::auth::{Caller, Verb};
use crate::http::requests::extract::name;
use crate::service::Services;
use crate::service::access::gate::Gate;
use crate::service::operations::{OperationHandle, Watch, WatchEvent};

/// The interval of comments, so that either side notices when the other is gone.
pub(super) const QUIET: Duration = Duration::from_secs(10);

/// The interval of checks that the caller may still see the operation.
pub(super) const AGAIN: Duration = Duration::from_secs(30);

/// Distinguishes the numbers of this process from those of an earlier one.
pub(super) static RUN: LazyLock<String> =
    LazyLock::new(|| uuid::Uuid::now_v7().simple().to_string());

pub async fn get(
    services: Data<Services>,
    caller: Caller,
    request: HttpRequest,
    path: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let id = name(OperationId::parse(path.into_inner()))?;
    let mut response = stream_of_events();
    Ok(match services.operations.watch(&id).await? {
        Watch::Live(handle) => {
            let counted = limits::stream(&request)?;
            let watcher = Watcher {
                gate: services.gate.clone(),
                caller,
                id,
                asked: Instant::now(),
                _counted: counted,
            };
            response.streaming(follow(handle, next(&request), watcher))
        }
        Watch::Past(operation) => response.body(past(&operation)),
    })
}

pub(super) fn stream_of_events() -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response
        .content_type("text/event-stream")
        .insert_header(("cache-control", "no-store"));
    response
}

/// The place after which to resume, as an id of this process has it.
pub(super) fn place(request: &HttpRequest) -> Option<&str> {
    let last = request.headers().get("last-event-id")?.to_str().ok()?;
    last.strip_prefix(RUN.as_str())?.strip_prefix('-')
}

/// The number to resume after.
fn next(request: &HttpRequest) -> u64 {
    let number = place(request).and_then(|number| number.parse::<u64>().ok());
    number.map_or(0, |number| number.saturating_add(1))
}

struct Follow {
    handle: OperationHandle,
    changes: watch::Receiver<u64>,
    next: u64,
    watcher: Watcher,
}

/// The caller that reads a stream.
struct Watcher {
    gate: Arc<Gate>,
    caller: Caller,
    id: OperationId,
    /// When the permission was last checked.
    asked: Instant,
    /// Counts as one of the caller's streams until it is dropped.
    _counted: limits::Stream,
}

impl Watcher {
    async fn may_go_on(&mut self) -> bool {
        if self.asked.elapsed() < AGAIN {
            return true;
        }
        self.asked = Instant::now();
        let asked = self.gate.operation(&self.caller, &self.id, Verb::Get).await;
        asked.is_ok()
    }
}

fn follow(
    handle: OperationHandle,
    next: u64,
    watcher: Watcher,
) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let changes = handle.watch().changes();
    stream::unfold(
        Follow {
            handle,
            changes,
            next,
            watcher,
        },
        |mut follow| async move {
            if !follow.watcher.may_go_on().await {
                return None;
            }
            let text = follow.event().await?;
            Some((Ok(Bytes::from(text)), follow))
        },
    )
}

impl Follow {
    /// The next event, or a comment after a long pause. `None` after the last event.
    async fn event(&mut self) -> Option<String> {
        let live = self.handle.watch().clone();
        loop {
            // Read in this order: an end in between must not hide the last event.
            let ended = live.ended().is_some();
            self.changes.borrow_and_update();
            if let Some((number, event)) = live.event(self.next) {
                self.next = number + 1;
                return Some(written(number, &event));
            }
            if ended {
                return None;
            }
            tokio::select! {
                changed = tokio::time::timeout(QUIET, self.changes.changed()) => match changed {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return None,
                    Err(_) => return Some(":\n\n".to_owned()),
                },
                () = self.handle.suspended() => return None,
            }
        }
    }
}

fn past(operation: &Operation) -> String {
    written(0, &WatchEvent::Operation(Arc::new(operation.clone())))
}

fn written(number: u64, event: &WatchEvent) -> String {
    let (kind, data) = match event {
        WatchEvent::Operation(operation) => (OperationEvent::OPERATION, json(&**operation)),
        WatchEvent::Resource(report) => (OperationEvent::RESOURCE, json(&**report)),
    };
    format!("id: {}-{number}\nevent: {kind}\ndata: {data}\n\n", *RUN)
}

/// One line, because JSON escapes line breaks. Writing fails only for maps whose keys are not strings, and there are
/// none.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
