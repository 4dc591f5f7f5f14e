//! `/deployments/{d}/events`, and `/deployments/{d}/logs` as server-sent events: `event: line` has a line of a log,
//! `event: notice` says why a log is missing, `event: error` is the last one, if the work failed.
//!
//! The stream ends with the logs, or when the caller may not see the deployment any more.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::web::{Bytes, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use common::api::activity::{EventsQuery, LogItem, LogsQuery};
use common::model::DeploymentName;
use common::server::{ApiError, Query, answer, limits};
use futures::StreamExt;
use futures::stream::{self, Stream};
use serde::Serialize;

use crate::auth::{Caller, Verb};
use crate::http::requests::extract::deployment;
use crate::service::Services;
use crate::service::access::gate::Gate;
use crate::service::deployments::activity::LogItems;

/// The interval of checks that the caller may still see the deployment.
const AGAIN: Duration = Duration::from_secs(30);

pub async fn events(
    services: Data<Services>,
    caller: Caller,
    path: Path<String>,
    Query(query): Query<EventsQuery>,
) -> Result<HttpResponse, ApiError> {
    let name = deployment(path)?;
    let found = services.activity.events(&name, query, &caller).await?;
    answer(found).await
}

pub async fn logs(
    services: Data<Services>,
    caller: Caller,
    request: HttpRequest,
    path: Path<String>,
    Query(query): Query<LogsQuery>,
) -> Result<HttpResponse, ApiError> {
    let name = deployment(path)?;
    let counted = limits::stream(&request)?;
    let logs = services.activity.logs(&name, query, &caller).await?;
    let reader = Reader {
        gate: services.gate.clone(),
        caller,
        name,
        asked: Instant::now(),
        _counted: counted,
    };
    Ok(HttpResponse::Ok()
        .content_type("text/event-stream")
        .insert_header(("cache-control", "no-store"))
        .streaming(written(logs, reader)))
}

/// The caller that reads logs.
struct Reader {
    gate: Arc<Gate>,
    caller: Caller,
    name: DeploymentName,
    /// When the permission was last checked.
    asked: Instant,
    /// Counts as one of the caller's streams until it is dropped.
    _counted: limits::Stream,
}

impl Reader {
    async fn may_go_on(&mut self) -> bool {
        if self.asked.elapsed() < AGAIN {
            return true;
        }
        self.asked = Instant::now();
        let asked = self.gate.deployment(&self.caller, &self.name, Verb::Get);
        asked.await.is_ok()
    }
}

fn written(logs: LogItems, reader: Reader) -> impl Stream<Item = Result<Bytes, Infallible>> {
    stream::unfold(Some((logs, reader)), |state| async move {
        let (mut logs, mut reader) = state?;
        if !reader.may_go_on().await {
            return None;
        }
        let item = logs.next().await?;
        let is_last = matches!(item, LogItem::Error { .. });
        Some((Ok(sent(&item)), (!is_last).then_some((logs, reader))))
    })
}

fn sent(item: &LogItem) -> Bytes {
    let text = match item {
        LogItem::Line(line) => event(LogItem::LINE, line),
        LogItem::Notice(notice) => event(LogItem::NOTICE, notice),
        LogItem::Error { error } => event(LogItem::ERROR, error),
        LogItem::Heartbeat => ":\n\n".to_owned(),
    };
    Bytes::from(text)
}

/// JSON escapes line breaks, so the data is one line. Writing fails only for maps whose keys are not strings, and there
/// are none.
fn event(kind: &str, value: &impl Serialize) -> String {
    let data = serde_json::to_string(value).unwrap_or_default();
    format!("event: {kind}\ndata: {data}\n\n")
}
