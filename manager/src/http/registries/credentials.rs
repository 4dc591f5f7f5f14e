//! `/credentials`. Answers never contain a secret.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use common::api::error::ErrorCode;
use common::api::page::PageQuery;
use common::model::{Credential, CredentialName};
use common::server::{ApiError, Body, Query};
use serde_json::Value;

use crate::http::requests::extract::name;
use crate::service::Services;

const SHAPE: &str = r#"the body is not a credential: send one of {"token": "…"}, {"basic": {"username": "…", "password": "…"}} and {"serviceAccount": "…"}"#;

pub async fn list(
    services: Data<Services>,
    Query(page): Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(services.credentials.list(&page).await?))
}

pub async fn get(services: Data<Services>, path: Path<String>) -> Result<HttpResponse, ApiError> {
    let name = name(CredentialName::parse(path.into_inner()))?;
    Ok(HttpResponse::Ok().json(services.credentials.get(&name).await?))
}

pub async fn set(
    services: Data<Services>,
    path: Path<String>,
    Body(body): Body<Value>,
) -> Result<HttpResponse, ApiError> {
    let name = name(CredentialName::parse(path.into_inner()))?;
    // The parser's message could quote the secret.
    let credential: Credential = serde_json::from_value(body)
        .map_err(|_| ApiError::new(ErrorCode::InvalidRequest, SHAPE))?;
    let (summary, new) = services.credentials.set(&name, &credential).await?;
    let mut answer = match new {
        true => HttpResponse::Created(),
        false => HttpResponse::Ok(),
    };
    Ok(answer.json(summary))
}

pub async fn delete(
    services: Data<Services>,
    path: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let name = name(CredentialName::parse(path.into_inner()))?;
    Ok(HttpResponse::Ok().json(services.credentials.delete(&name).await?))
}
