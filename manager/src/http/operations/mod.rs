//! `/operations`.

pub(super) mod events;
pub(super) mod many;

use actix_web::web::{Data, Path};
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use common::api::manager::WriteQuery;
use common::api::page::PageQuery;
use common::model::{DeploymentName, OperationId};
use common::server::{ApiError, Query};
use serde::Deserialize;

use super::deployments::{accepted, stopped};
use super::requests::audited::AuditedOperation;
use super::requests::extract::{asked, deployment, name, prefers_async};
use crate::auth::Caller;
use crate::service::Services;
use crate::service::operations::OperationHandle;

/// The fields are repeated here, because numbers in a flattened query are read as strings.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListQuery {
    #[schemars(with = "Option<DeploymentName>")]
    deployment: Option<String>,
    #[schemars(range(min = 1))]
    limit: Option<usize>,
    page_token: Option<String>,
}

pub async fn list(
    services: Data<Services>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<HttpResponse, ApiError> {
    let ListQuery {
        deployment,
        limit,
        page_token,
    } = query;
    let deployment = deployment
        .map(|text| name(DeploymentName::parse(text)))
        .transpose()?;
    let page = PageQuery { limit, page_token };
    let operations = &services.operations;
    let found = operations.list(deployment.as_ref(), &page, &caller).await?;
    Ok(HttpResponse::Ok().json(found))
}

pub async fn get(services: Data<Services>, path: Path<String>) -> Result<HttpResponse, ApiError> {
    let id = name(OperationId::parse(path.into_inner()))?;
    Ok(HttpResponse::Ok().json(services.operations.get(&id).await?))
}

pub async fn cancel(
    services: Data<Services>,
    caller: Caller,
    request: HttpRequest,
    path: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let id = name(OperationId::parse(path.into_inner()))?;
    let handle = services.operations.cancel(&id, &caller).await?;
    ended(&services, &request, &handle).await
}

/// `POST /deployments/{d}/stop`: the same, for the operation that runs on the deployment.
pub async fn stop(
    services: Data<Services>,
    request: HttpRequest,
    path: Path<String>,
    Query(query): Query<WriteQuery>,
) -> Result<HttpResponse, ApiError> {
    let (name, asked) = (deployment(path)?, asked(&request, query)?);
    let handle = services.operations.stop(&name, &asked).await?;
    ended(&services, &request, &handle).await
}

async fn ended(
    services: &Services,
    request: &HttpRequest,
    handle: &OperationHandle,
) -> Result<HttpResponse, ApiError> {
    request
        .extensions_mut()
        .insert(AuditedOperation::new(handle));
    if prefers_async(request) {
        return Ok(accepted(handle));
    }
    let ended = services.operations.ended(handle).await;
    let operation = ended.map_err(|error| stopped(error, handle))?;
    Ok(HttpResponse::Ok().json(operation))
}
