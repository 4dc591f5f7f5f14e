//! `/deployments`.

pub(super) mod activity;
pub(super) mod live;
pub(super) mod manifests;
pub(super) mod new_deployment;
pub(super) mod previews;

use actix_web::http::StatusCode;
use actix_web::http::header::{ETAG, HeaderName, HeaderValue, LOCATION};
use actix_web::web::{Data, Path};
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use common::api::error::ErrorCode;
use common::api::manager::{
    DeploymentsQuery, IDEMPOTENT_REPLAYED, RollbackDeployment, UpdateDeployment, WriteQuery,
};
use common::api::upgrade::UpgradeDeployment;
use common::model::Deployment;
use common::server::{ApiError, Body, Query};

use self::new_deployment::New;
use super::requests::audited::AuditedOperation;
use super::requests::extract::{asked, deployment, json, prefers_async};
use crate::auth::Caller;
use crate::error::Error;
use crate::service::Services;
use crate::service::operations::OperationHandle;

pub async fn list(
    services: Data<Services>,
    caller: Caller,
    Query(query): Query<DeploymentsQuery>,
) -> Result<HttpResponse, ApiError> {
    Ok(json(services.deployments.list(&query, &caller).await?))
}

pub async fn get(
    services: Data<Services>,
    caller: Caller,
    path: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let name = deployment(path)?;
    let found = services.deployments.answer(&name, &caller).await?;
    let tag = format!("\"{}\"", found.deployment.fingerprint);
    Ok(HttpResponse::Ok().insert_header((ETAG, tag)).json(found))
}

pub async fn create(
    services: Data<Services>,
    request: HttpRequest,
    New(body, query): New,
) -> Result<HttpResponse, ApiError> {
    let asked = asked(&request, query)?;
    let handle = services.writes.create(body, asked).await?;
    answer(&services, &request, StatusCode::CREATED, &handle).await
}

pub async fn update(
    services: Data<Services>,
    request: HttpRequest,
    path: Path<String>,
    Query(query): Query<WriteQuery>,
    Body(body): Body<UpdateDeployment>,
) -> Result<HttpResponse, ApiError> {
    let (name, asked) = (deployment(path)?, asked(&request, query)?);
    let handle = services.writes.update(name, body, asked).await?;
    answer(&services, &request, StatusCode::OK, &handle).await
}

pub async fn rollback(
    services: Data<Services>,
    request: HttpRequest,
    path: Path<String>,
    Query(query): Query<WriteQuery>,
    Body(body): Body<RollbackDeployment>,
) -> Result<HttpResponse, ApiError> {
    let (name, asked) = (deployment(path)?, asked(&request, query)?);
    let handle = services.writes.rollback(name, body, asked).await?;
    answer(&services, &request, StatusCode::OK, &handle).await
}

pub async fn upgrade(
    services: Data<Services>,
    request: HttpRequest,
    path: Path<String>,
    Query(query): Query<WriteQuery>,
    Body(body): Body<UpgradeDeployment>,
) -> Result<HttpResponse, ApiError> {
    let (name, asked) = (deployment(path)?, asked(&request, query)?);
    let handle = services.writes.upgrade(name, body, asked).await?;
    answer(&services, &request, StatusCode::OK, &handle).await
}

pub async fn test(
    services: Data<Services>,
    request: HttpRequest,
    path: Path<String>,
    Query(query): Query<WriteQuery>,
) -> Result<HttpResponse, ApiError> {
    let (name, asked) = (deployment(path)?, asked(&request, query)?);
    let handle = services.writes.test(name, asked).await?;
    answer(&services, &request, StatusCode::OK, &handle).await
}

pub async fn delete(
    services: Data<Services>,
    request: HttpRequest,
    path: Path<String>,
    Query(query): Query<WriteQuery>,
) -> Result<HttpResponse, ApiError> {
    let (name, asked) = (deployment(path)?, asked(&request, query)?);
    let handle = services.writes.delete(name, asked).await?;
    answer(&services, &request, StatusCode::OK, &handle).await
}

/// The deployment when the operation is done, or the operation at once, as the caller prefers.
async fn answer(
    services: &Services,
    request: &HttpRequest,
    status: StatusCode,
    handle: &OperationHandle,
) -> Result<HttpResponse, ApiError> {
    request
        .extensions_mut()
        .insert(AuditedOperation::new(handle));
    let answered = match prefers_async(request) {
        true => Ok(accepted(handle)),
        false => finished(services, status, handle).await,
    };
    if !handle.is_repeated() {
        return answered;
    }
    let mut response = answered.unwrap_or_else(HttpResponse::from_error);
    let replayed = HeaderName::from_static(IDEMPOTENT_REPLAYED);
    let headers = response.headers_mut();
    headers.insert(replayed, HeaderValue::from_static("true"));
    Ok(response)
}

async fn finished(
    services: &Services,
    status: StatusCode,
    handle: &OperationHandle,
) -> Result<HttpResponse, ApiError> {
    let finished = services.writes.finished(handle).await;
    let deployment = finished.map_err(|error| stopped(error, handle))?;
    Ok(whole(status, &deployment))
}

/// The accepted operation.
pub fn accepted(handle: &OperationHandle) -> HttpResponse {
    let operation = handle.watch().operation();
    let mut response = HttpResponse::Accepted();
    response.insert_header((LOCATION, format!("/operations/{}", operation.id)));
    response.insert_header(("preference-applied", "respond-async"));
    response.json(&*operation)
}

/// Tells the caller of a suspended operation which operation to ask for later.
pub fn stopped(error: Error, handle: &OperationHandle) -> ApiError {
    match error {
        Error::Suspended(suspended) => {
            let message = format!(
                "{suspended}: ask for operation {}",
                handle.watch().operation().id
            );
            ApiError::new(ErrorCode::Unavailable, message)
        }
        other => other.into(),
    }
}

/// A deployment with its `Location` and its `ETag`.
pub fn whole(status: StatusCode, deployment: &Deployment) -> HttpResponse {
    let mut response = HttpResponse::build(status);
    response.insert_header((ETAG, format!("\"{}\"", deployment.fingerprint)));
    if status == StatusCode::CREATED {
        response.insert_header((LOCATION, format!("/deployments/{}", deployment.name)));
    }
    response.json(deployment)
}
