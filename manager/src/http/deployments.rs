//! `/deployments`.

use actix_web::http::StatusCode;
use actix_web::http::header::{ETAG, LOCATION};
use actix_web::web::{Data, Path, Query};
use actix_web::{HttpRequest, HttpResponse};
use common::api::error::ErrorCode;
use common::api::manager::{CreateDeployment, UpdateDeployment, WriteQuery};
use common::api::page::PageQuery;
use common::model::{Deployment, DeploymentName};
use common::server::{ApiError, Body};

use super::extract::{json, name, precondition, prefers_async};
use crate::error::Error;
use crate::service::Services;
use crate::service::operations::Ticket;

pub async fn list(
    services: Data<Services>,
    page: Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    Ok(json(services.deployments.list(&page).await?))
}

pub async fn get(services: Data<Services>, path: Path<String>) -> Result<HttpResponse, ApiError> {
    let deployment = services
        .deployments
        .get(&name(DeploymentName::parse(path.into_inner()))?)
        .await?;
    Ok(whole(StatusCode::OK, &deployment))
}

pub async fn resources(
    services: Data<Services>,
    path: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let name = name(DeploymentName::parse(path.into_inner()))?;
    Ok(HttpResponse::Ok().json(services.deployments.resources(&name).await?))
}

pub async fn create(
    services: Data<Services>,
    request: HttpRequest,
    query: Query<WriteQuery>,
    Body(body): Body<CreateDeployment>,
) -> Result<HttpResponse, ApiError> {
    let ticket = services.deployments.create(body, &query).await?;
    answer(&services, &request, StatusCode::CREATED, &ticket).await
}

pub async fn update(
    services: Data<Services>,
    request: HttpRequest,
    path: Path<String>,
    query: Query<WriteQuery>,
    Body(body): Body<UpdateDeployment>,
) -> Result<HttpResponse, ApiError> {
    let name = name(DeploymentName::parse(path.into_inner()))?;
    let ticket = services
        .deployments
        .update(name, body, &query, precondition(&request))
        .await?;
    answer(&services, &request, StatusCode::OK, &ticket).await
}

pub async fn delete(
    services: Data<Services>,
    request: HttpRequest,
    path: Path<String>,
    query: Query<WriteQuery>,
) -> Result<HttpResponse, ApiError> {
    let name = name(DeploymentName::parse(path.into_inner()))?;
    let ticket = services
        .deployments
        .delete(name, &query, precondition(&request))
        .await?;
    answer(&services, &request, StatusCode::OK, &ticket).await
}

/// The deployment once the operation is done, or at once the operation, as the caller prefers.
async fn answer(
    services: &Services,
    request: &HttpRequest,
    status: StatusCode,
    ticket: &Ticket,
) -> Result<HttpResponse, ApiError> {
    if prefers_async(request) {
        let operation = ticket.live().operation();
        let mut response = HttpResponse::Accepted();
        response.insert_header((LOCATION, format!("/operations/{}", operation.id)));
        response.insert_header(("preference-applied", "respond-async"));
        return Ok(response.json(&*operation));
    }
    let deployment = services
        .deployments
        .finished(ticket)
        .await
        .map_err(|error| stopped(error, ticket))?;
    Ok(whole(status, &deployment))
}

/// Whose operation is parked learns which one to ask for later.
fn stopped(error: Error, ticket: &Ticket) -> ApiError {
    match error {
        Error::Parked(parked) => {
            let message = format!(
                "{parked}: ask for operation {}",
                ticket.live().operation().id
            );
            ApiError::new(ErrorCode::Unavailable, message)
        }
        other => other.into(),
    }
}

/// A deployment with its address and its tag.
fn whole(status: StatusCode, deployment: &Deployment) -> HttpResponse {
    let mut response = HttpResponse::build(status);
    response.insert_header((ETAG, format!("\"{}\"", deployment.fingerprint)));
    if status == StatusCode::CREATED {
        response.insert_header((LOCATION, format!("/deployments/{}", deployment.name)));
    }
    response.json(deployment)
}
