//! `/registries`.

pub(super) mod credentials;

use actix_web::HttpResponse;
use actix_web::http::header::LOCATION;
use actix_web::web::{Data, Path};
use common::api::page::PageQuery;
use common::model::{RegistryDefinition, RegistryName};
use common::server::{ApiError, Body, Query};
use serde::Deserialize;

use super::requests::extract::name;
use crate::service::Services;
use crate::service::writes::answers;

/// The fields are repeated here, because numbers in a flattened query are read as strings.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TemplatesQuery {
    /// Only templates whose name matches this regular expression.
    #[schemars(extend("format" = "regex"))]
    regex: Option<String>,
    #[schemars(range(min = 1))]
    limit: Option<usize>,
    page_token: Option<String>,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
pub struct DownloadQuery {
    #[schemars(length(min = 1))]
    file: String,
}

pub async fn list(
    services: Data<Services>,
    Query(page): Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(services.catalog.list(&page).await?))
}

pub async fn create(
    services: Data<Services>,
    path: Path<String>,
    Body(body): Body<RegistryDefinition>,
) -> Result<HttpResponse, ApiError> {
    let name = name(RegistryName::parse(path.into_inner()))?;
    let place = format!("/registries/{name}");
    answers::location(&place);
    let created = services.catalog.create(name, body).await?;
    let mut answer = HttpResponse::Created();
    Ok(answer.insert_header((LOCATION, place)).json(created))
}

pub async fn delete(
    services: Data<Services>,
    path: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let name = name(RegistryName::parse(path.into_inner()))?;
    Ok(HttpResponse::Ok().json(services.catalog.delete(name).await?))
}

pub async fn get(services: Data<Services>, path: Path<String>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(services.catalog.get(&path).await?))
}

pub async fn refresh(
    services: Data<Services>,
    path: Path<String>,
) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(services.catalog.refresh(&path).await?))
}

pub async fn templates(
    services: Data<Services>,
    path: Path<String>,
    Query(query): Query<TemplatesQuery>,
) -> Result<HttpResponse, ApiError> {
    let TemplatesQuery {
        regex,
        limit,
        page_token,
    } = query;
    let page = PageQuery { limit, page_token };
    let found = services.catalog.templates(&path, regex.as_deref(), &page);
    Ok(HttpResponse::Ok().json(found.await?))
}

pub async fn template(
    services: Data<Services>,
    path: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(services.catalog.template(&path.0, &path.1).await?))
}

/// Sent as a download: a browser never shows the content of a registry as one of our pages.
pub async fn download(
    services: Data<Services>,
    path: Path<String>,
    Query(query): Query<DownloadQuery>,
) -> Result<HttpResponse, ApiError> {
    let bytes = services.catalog.download(&path, &query.file).await?;
    let mut response = HttpResponse::Ok();
    response
        .content_type("application/octet-stream")
        .insert_header(("x-content-type-options", "nosniff"));
    Ok(response.body(bytes))
}
