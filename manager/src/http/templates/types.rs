//! `/types`. The type in the path is percent-encoded, because it may contain `/` and `:`.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use common::api::manager::InstancesQuery;
use common::api::page::PageQuery;
use common::model::TypeName;
use common::server::{ApiError, Query, answer};

use crate::auth::Caller;
use crate::http::requests::extract::{json, name};
use crate::service::Services;
use crate::service::templates::stored_templates;

pub async fn list(
    services: Data<Services>,
    caller: Caller,
    Query(page): Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(services.types.list(&page, &caller).await?))
}

pub async fn instances(
    services: Data<Services>,
    caller: Caller,
    path: Path<String>,
    Query(query): Query<InstancesQuery>,
) -> Result<HttpResponse, ApiError> {
    let type_name = name(TypeName::parse(path.into_inner()))?;
    let (types, page) = (&services.types, query.page());
    let found = match query.at {
        Some(at) => types.instances_at(&type_name, at, &page, &caller).await?,
        None => types.instances(&type_name, &page, &caller).await?,
    };
    Ok(json(found))
}

pub async fn metadata(
    services: Data<Services>,
    caller: Caller,
    path: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let type_name = name(TypeName::parse(path.into_inner()))?;
    answer(match stored_templates::is_type(&type_name) {
        true => {
            let templates = &services.stored_templates;
            templates.describe(&type_name, &caller).await?
        }
        false => services.catalog.describe(&type_name).await?,
    })
    .await
}

pub async fn registry(
    services: Data<Services>,
    path: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let type_name = name(TypeName::parse(path.into_inner()))?;
    Ok(HttpResponse::Ok().json(services.catalog.registry_of(&type_name).await?))
}
