//! `/operations`.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, Query};
use common::api::page::PageQuery;
use common::model::{DeploymentName, OperationId};
use common::server::ApiError;
use serde::Deserialize;

use super::extract::name;
use crate::service::Services;

/// Spelled out: a query cannot be flattened, because its numbers are texts.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListQuery {
    deployment: Option<String>,
    limit: Option<usize>,
    page_token: Option<String>,
}

pub async fn list(
    services: Data<Services>,
    query: Query<ListQuery>,
) -> Result<HttpResponse, ApiError> {
    let ListQuery {
        deployment,
        limit,
        page_token,
    } = query.into_inner();
    let deployment = deployment
        .map(|text| name(DeploymentName::parse(text)))
        .transpose()?;
    let found = services
        .operations
        .list(deployment.as_ref(), &PageQuery { limit, page_token })
        .await?;
    Ok(HttpResponse::Ok().json(found))
}

pub async fn get(services: Data<Services>, path: Path<String>) -> Result<HttpResponse, ApiError> {
    let id = name(OperationId::parse(path.into_inner()))?;
    Ok(HttpResponse::Ok().json(services.operations.get(&id).await?))
}
