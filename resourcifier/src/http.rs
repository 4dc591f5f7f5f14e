//! The routes, and the stream of events in the answer to a write.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::{Data, Path, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, Responder};
use bytes::Bytes;
use common::api::deployer::{ApplyRequest, DeleteRequest, EVENT_STREAM, Event, StatusRequest};
use common::api::error::{ErrorBody, ErrorCode};
use common::api::export::ExportRequest;
use common::api::job::{Renewal, StopJobs};
use common::api::review::{AccessReview, TokenReview};
use common::model::Namespace;
use common::request_id;
use common::server::{ApiError, Body, Query, answer, health, metrics};
use common::work;
use futures::Stream;
use tokio::sync::mpsc::{self, Receiver};
use tokio_util::task::{AbortOnDropHandle, LocalPoolHandle};
use tracing::{Instrument, Span};

use crate::apply::{Events, Stopped};
use crate::kubectl::Halt;
use crate::service::Deployer;

/// Callers treat silence of 30 s as a broken connection.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// Events that wait for a slow caller.
const BUFFERED: usize = 64;

common::route_table! {
    "/readyz" GET readyz;
    "/metrics" GET metrics::metrics;
    "/configurations" POST apply, PUT apply, DELETE delete;
    "/configurations/check" POST check;
    "/configurations/diff" POST diff;
    "/configurations/status" POST status;
    "/configurations/export" POST export;
    "/configurations/{type}" GET list;
    "/configurations/{type}/{name}" GET get;
    "/reviews/token" POST review_token;
    "/reviews/access" POST review_access;
    "/jobs/renew" POST renew;
    "/jobs/stop" POST stop;
}

/// Every route. Jobs, and looks at many objects, run on their own threads, not on those that serve requests.
pub fn routes(deployer: Arc<Deployer>) -> impl Fn(&mut ServiceConfig) + Clone + Send + 'static {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = Data::new(LocalPoolHandle::new(threads));
    move |config| {
        config
            .app_data(Data::from(deployer.clone()))
            .app_data(jobs.clone())
            .configure(serve_routes);
    }
}

async fn readyz(request: HttpRequest, deployer: Data<Deployer>) -> impl Responder {
    health::readiness(&request, deployer.checks().await)
}

async fn apply(
    deployer: Data<Deployer>,
    jobs: Data<LocalPoolHandle>,
    Body(request): Body<ApplyRequest>,
) -> Result<HttpResponse, ApiError> {
    let prepared = deployer.prepare_apply(request).await?;
    Ok(streamed(&jobs, move |events| async move {
        let report = prepared.apply(&events).await?;
        Ok(Event::Report(report))
    }))
}

async fn diff(
    deployer: Data<Deployer>,
    jobs: Data<LocalPoolHandle>,
    Body(request): Body<ApplyRequest>,
) -> Result<HttpResponse, ApiError> {
    let prepared = deployer.prepare_apply(request).await?;
    Ok(streamed(&jobs, move |events| async move {
        let report = prepared.diff(&events).await?;
        Ok(Event::Diff(report))
    }))
}

async fn delete(
    deployer: Data<Deployer>,
    jobs: Data<LocalPoolHandle>,
    Body(request): Body<DeleteRequest>,
) -> Result<HttpResponse, ApiError> {
    let prepared = deployer.prepare_delete(request).await?;
    Ok(streamed(&jobs, move |events| async move {
        let report = prepared.delete(&events).await?;
        Ok(Event::Report(report))
    }))
}

async fn renew(deployer: Data<Deployer>, Body(renewal): Body<Renewal>) -> HttpResponse {
    HttpResponse::Ok().json(deployer.renew(&renewal))
}

async fn stop(deployer: Data<Deployer>, Body(stop): Body<StopJobs>) -> HttpResponse {
    HttpResponse::Ok().json(deployer.stop(&stop).await)
}

async fn check(
    deployer: Data<Deployer>,
    Body(request): Body<ApplyRequest>,
) -> Result<HttpResponse, ApiError> {
    let prepared = deployer.prepare_apply(request).await?;
    answer(prepared.checked().await).await
}

/// Live objects are read and compared where jobs run.
async fn status(
    deployer: Data<Deployer>,
    jobs: Data<LocalPoolHandle>,
    Body(request): Body<StatusRequest>,
) -> Result<HttpResponse, ApiError> {
    let (id, span) = (scope_id(), Span::current());
    let deployer = deployer.into_inner();
    let status = jobs.spawn_pinned(move || {
        let status = async move { deployer.status(request).await };
        request_id::scope(id, status.instrument(span))
    });
    // A caller that goes away ends it.
    let statuses = AbortOnDropHandle::new(status).await;
    answer(statuses.map_err(|error| ApiError::internal(&error))??).await
}

async fn export(
    deployer: Data<Deployer>,
    Body(request): Body<ExportRequest>,
) -> Result<HttpResponse, ApiError> {
    answer(deployer.export(request).await?).await
}

async fn review_token(
    deployer: Data<Deployer>,
    Body(review): Body<TokenReview>,
) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(deployer.review_token(review).await?))
}

async fn review_access(
    deployer: Data<Deployer>,
    Body(review): Body<AccessReview>,
) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(deployer.review_access(review).await?))
}

/// The namespace. Default: all namespaces.
#[derive(Debug, serde::Deserialize)]
struct Where {
    namespace: Option<Namespace>,
}

async fn list(
    deployer: Data<Deployer>,
    path: Path<String>,
    Query(place): Query<Where>,
) -> Result<HttpResponse, ApiError> {
    answer(deployer.read(&path, None, place.namespace.as_ref()).await?).await
}

async fn get(
    deployer: Data<Deployer>,
    path: Path<(String, String)>,
    Query(place): Query<Where>,
) -> Result<HttpResponse, ApiError> {
    let found = deployer.read(&path.0, Some(&path.1), place.namespace.as_ref());
    answer(found.await?).await
}

/// Answers immediately, and does the work while the caller reads the body of the answer. If the caller goes away,
/// nothing more is sent to the API server, and the work ends when the API server has answered all requests.
fn streamed<W, F>(jobs: &LocalPoolHandle, work: W) -> HttpResponse
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
    HttpResponse::Ok()
        .content_type(EVENT_STREAM)
        .streaming(lines(receiver))
}

/// Of the request, for the work that is done for it elsewhere.
fn scope_id() -> String {
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

fn lines(receiver: Receiver<Event>) -> impl Stream<Item = Result<Bytes, Infallible>> {
    futures::stream::unfold(receiver, |mut receiver| async move {
        let event = match tokio::time::timeout(HEARTBEAT, receiver.recv()).await {
            Ok(event) => event?,
            Err(_) => Event::Heartbeat,
        };
        Some((Ok(line(event).await), receiver))
    })
}

async fn line(event: Event) -> Bytes {
    let text = work::json(event).await.or_else(|error| {
        tracing::error!(%error, "an event cannot be written");
        let error = ErrorBody::new(
            ErrorCode::Internal,
            "an event could not be written; the log has the cause",
        );
        serde_json::to_vec(&Event::Error { error })
    });
    let mut line = text.unwrap_or_default();
    line.push(b'\n');
    line.into()
}
