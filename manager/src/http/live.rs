//! `/deployments/{d}/resources` and `/deployments/{d}/graph`.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use common::api::manager::ResourcesQuery;
use common::server::{ApiError, Query, answer};

use super::extract::deployment;
use crate::auth::Caller;
use crate::service::Services;

pub async fn resources(
    services: Data<Services>,
    caller: Caller,
    path: Path<String>,
    Query(query): Query<ResourcesQuery>,
) -> Result<HttpResponse, ApiError> {
    let name = deployment(path)?;
    let page = services.live.resources(&name, &query, &caller).await?;
    answer(page).await
}

pub async fn graph(
    services: Data<Services>,
    caller: Caller,
    path: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let graph = services.live.graph(&deployment(path)?, &caller).await?;
    answer(graph).await
}
