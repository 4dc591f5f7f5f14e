//! Parts of requests that several handlers read, and of answers that several give.

use actix_web::http::header::HeaderMap;
use actix_web::{HttpRequest, HttpResponse};
use common::api::error::ErrorCode;
use common::server::ApiError;

use crate::service::deployments::Precondition;

/// A name in the path, or 400 with its rule.
pub fn name<T>(parsed: Result<T, impl std::fmt::Display>) -> Result<T, ApiError> {
    parsed.map_err(|error| ApiError::new(ErrorCode::InvalidRequest, error.to_string()))
}

/// An answer that is JSON already.
pub fn json(text: String) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("application/json")
        .body(text)
}

/// `Prefer: respond-async` (RFC 7240).
pub fn prefers_async(request: &HttpRequest) -> bool {
    values(request.headers(), "prefer")
        .any(|preference| preference.eq_ignore_ascii_case("respond-async"))
}

/// `If-Match` (RFC 9110): `*` is no condition beyond the deployment's existence, which a write needs anyway. A condition
/// that names no tag that can be read is one that nothing fulfils.
pub fn precondition(request: &HttpRequest) -> Precondition {
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

/// The elements of a list header; what is no text is nothing that is known here.
fn values<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let texts = headers
        .get_all(name)
        .filter_map(|value| value.to_str().ok());
    texts
        .flat_map(|text| text.split([',', ';']))
        .map(str::trim)
        .filter(|element| !element.is_empty())
}
