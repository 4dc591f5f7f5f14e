//! Parts of requests and answers that several handlers share.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::http::header::HeaderMap;
use actix_web::web::Path;
use actix_web::{FromRequest, HttpMessage, HttpRequest, HttpResponse};
use common::api::error::ErrorCode;
use common::api::manager::{IDEMPOTENCY_KEY, WriteQuery};
use common::model::DeploymentName;
use common::server::ApiError;

use crate::auth::Caller;
use crate::service::writes::asked::{Asked, Precondition};

/// A name in the path, or 400 with its rule.
pub fn name<T>(parsed: Result<T, impl std::fmt::Display>) -> Result<T, ApiError> {
    parsed.map_err(|error| ApiError::new(ErrorCode::InvalidRequest, error.to_string()))
}

/// An answer from text that is already JSON.
pub fn json(text: String) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("application/json")
        .body(text)
}

/// The deployment in the path.
pub fn deployment(path: Path<String>) -> Result<DeploymentName, ApiError> {
    name(DeploymentName::parse(path.into_inner()))
}

/// The parameters of a write beside its body.
pub fn asked(request: &HttpRequest, query: WriteQuery) -> Result<Asked, ApiError> {
    Ok(Asked {
        query,
        precondition: precondition(request),
        idempotency_key: idempotency_key(request)?,
        caller: caller(request),
        joined: None,
        by_broker: false,
        cluster: None,
    })
}

/// The caller that the guard found. A request that passed no guard has no caller.
fn caller(request: &HttpRequest) -> Caller {
    let extensions = request.extensions();
    extensions.get().cloned().unwrap_or_default()
}

impl FromRequest for Caller {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(caller(request)))
    }
}

/// The `Idempotency-Key`.
pub fn idempotency_key(request: &HttpRequest) -> Result<Option<String>, ApiError> {
    let Some(value) = request.headers().get(IDEMPOTENCY_KEY) else {
        return Ok(None);
    };
    // Some callers quote it, like a structured header (RFC 9651).
    let text = value.to_str().map(|text| text.trim_matches('"').to_owned());
    text.map(Some)
        .map_err(|_| ApiError::new(ErrorCode::InvalidRequest, "the Idempotency-Key is not text"))
}

/// `Prefer: respond-async` (RFC 7240).
pub fn prefers_async(request: &HttpRequest) -> bool {
    values(request.headers(), "prefer")
        .any(|preference| preference.eq_ignore_ascii_case("respond-async"))
}

/// `If-Match` (RFC 9110). `*` only requires that the deployment exists, which every write needs anyway. A header
/// without a readable tag matches nothing.
fn precondition(request: &HttpRequest) -> Precondition {
    if !request.headers().contains_key("if-match") {
        return Precondition::None;
    }
    let tags: Vec<_> = values(request.headers(), "if-match")
        .map(|tag| tag.trim_matches('"').to_owned())
        .collect();
    if tags.iter().any(|tag| tag == "*") {
        return Precondition::None;
    }
    Precondition::OneOf(tags)
}

/// The elements of a list header. A header that is not text has none.
fn values<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let texts = headers
        .get_all(name)
        .filter_map(|value| value.to_str().ok());
    texts
        .flat_map(|text| text.split([',', ';']))
        .map(str::trim)
        .filter(|element| !element.is_empty())
}
