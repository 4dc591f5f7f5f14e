//! `/deployments/{d}/resources` and `/deployments/{d}/graph`.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use common::api::manager::{GraphQuery, ResourcesQuery};
use common::server::{ApiError, Query, answer};

use crate::auth::Caller;
use crate::http::requests::extract::deployment;
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
    Query(query): Query<GraphQuery>,
) -> Result<HttpResponse, ApiError> {
    let name = deployment(path)?;
    let graph = match query.live {
        true => services.live.live_graph(&name, &caller).await?,
        false => services.live.graph(&name, &caller).await?,
    };
    answer(graph).await
}
