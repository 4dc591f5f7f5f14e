//! `/deployments/{d}/preview` and `/deployments/{d}/diff`.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use common::api::manager::{DiffQuery, UpdateDeployment, WriteQuery};
use common::server::{ApiError, Body, Query, answer};

use super::whole;
use crate::auth::Caller;
use crate::http::requests::extract::{asked, deployment};
use crate::service::Services;

pub async fn get(services: Data<Services>, path: Path<String>) -> Result<HttpResponse, ApiError> {
    let manifest = services.previews.get(&deployment(path)?).await?;
    answer(manifest).await
}

pub async fn delete(
    services: Data<Services>,
    request: HttpRequest,
    path: Path<String>,
    Query(query): Query<WriteQuery>,
) -> Result<HttpResponse, ApiError> {
    let (name, asked) = (deployment(path)?, asked(&request, query)?);
    let left = services.previews.delete(&name, &asked).await?;
    Ok(whole(StatusCode::OK, &left))
}

pub async fn diff(
    services: Data<Services>,
    caller: Caller,
    path: Path<String>,
    Query(query): Query<DiffQuery>,
    Body(body): Body<UpdateDeployment>,
) -> Result<HttpResponse, ApiError> {
    let diff = services
        .previews
        .diff(deployment(path)?, body, &query, &caller)
        .await?;
    answer(diff).await
}
