//! The routes, and the stream of events in the answer to a write.

mod stream;

use std::sync::Arc;

use actix_web::web::{Data, Path, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, Responder};
use common::api::activity::{EventsRequest, LogsRequest};
use common::api::cluster::LookupRequest;
use common::api::deployer::{ApplyRequest, DeleteRequest, Event, StatusRequest};
use common::api::export::ExportRequest;
use common::api::job::{Renewal, StopJobs};
use common::api::plan::{EditRequest, SourcesRequest};
use common::api::review::{AccessReview, TokenReview};
use common::model::Namespace;
use common::request_id;
use common::server::observe::{health, metrics};
use common::server::{ApiError, Body, Query, answer};
use tokio_util::task::{AbortOnDropHandle, LocalPoolHandle};
use tracing::{Instrument, Span};

use self::stream::{scope_id, streamed, streamed_logs};
use crate::service::Deployer;

common::route_table! {
    "/readyz" GET readyz;
    "/metrics" GET metrics::metrics;
    "/configurations" POST apply, PUT apply, DELETE delete;
    "/configurations/check" POST check;
    "/configurations/diff" POST diff;
    "/configurations/status" POST status;
    "/configurations/export" POST export;
    "/configurations/events" POST events;
    "/configurations/logs" POST logs;
    "/configurations/lookup" POST lookup;
    "/configurations/edit" POST edit;
    "/configurations/{type}" GET list;
    "/configurations/{type}/{name}" GET get;
    "/capabilities" GET capabilities;
    "/lookups" POST look_up;
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

async fn events(
    deployer: Data<Deployer>,
    Body(request): Body<EventsRequest>,
) -> Result<HttpResponse, ApiError> {
    answer(deployer.events(request).await?).await
}

async fn logs(
    deployer: Data<Deployer>,
    jobs: Data<LocalPoolHandle>,
    Body(request): Body<LogsRequest>,
) -> HttpResponse {
    let deployer = deployer.into_inner();
    streamed_logs(&jobs, move |sink| async move {
        deployer.logs(request, sink).await
    })
}

async fn capabilities(deployer: Data<Deployer>) -> Result<HttpResponse, ApiError> {
    answer(deployer.capabilities().await?).await
}

async fn look_up(
    deployer: Data<Deployer>,
    Body(request): Body<LookupRequest>,
) -> Result<HttpResponse, ApiError> {
    answer(deployer.look_up(request).await?).await
}

async fn lookup(
    deployer: Data<Deployer>,
    Body(request): Body<SourcesRequest>,
) -> Result<HttpResponse, ApiError> {
    answer(deployer.lookup(request).await?).await
}

async fn edit(
    deployer: Data<Deployer>,
    Body(request): Body<EditRequest>,
) -> Result<HttpResponse, ApiError> {
    answer(deployer.edit(request).await?).await
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
