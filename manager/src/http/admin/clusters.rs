//! `/clusters`.

use actix_web::HttpResponse;
use actix_web::http::header::LOCATION;
use actix_web::web::{Data, Path};
use common::api::page::PageQuery;
use common::model::{Cluster, ClusterName};
use common::server::{ApiError, Body, Query};

use crate::http::requests::extract::name;
use crate::service::Services;
use crate::service::writes::answers;

pub async fn list(
    services: Data<Services>,
    Query(page): Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(services.clusters.list(&page).await?))
}

pub async fn get(services: Data<Services>, path: Path<String>) -> Result<HttpResponse, ApiError> {
    let name = name(ClusterName::parse(path.into_inner()))?;
    Ok(HttpResponse::Ok().json(services.clusters.get(&name).await?))
}

pub async fn create(
    services: Data<Services>,
    Body(body): Body<Cluster>,
) -> Result<HttpResponse, ApiError> {
    let place = format!("/clusters/{}", body.name);
    answers::location(&place);
    let created = services.clusters.create(body).await?;
    let mut answer = HttpResponse::Created();
    Ok(answer.insert_header((LOCATION, place)).json(created))
}

pub async fn replace(
    services: Data<Services>,
    path: Path<String>,
    Body(body): Body<Cluster>,
) -> Result<HttpResponse, ApiError> {
    let name = name(ClusterName::parse(path.into_inner()))?;
    Ok(HttpResponse::Ok().json(services.clusters.replace(&name, body).await?))
}

pub async fn delete(
    services: Data<Services>,
    path: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let name = name(ClusterName::parse(path.into_inner()))?;
    Ok(HttpResponse::Ok().json(services.clusters.delete(&name).await?))
}
