//! The answer to a request that succeeded, as JSON.

pub(super) mod compress;
pub mod error;

use actix_web::http::header::ContentType;
use actix_web::{HttpResponse, HttpResponseBuilder};
use serde::Serialize;

use self::error::ApiError;
use crate::work;

/// 200 with a value of any size. A large one is not written on the thread that serves requests.
///
/// # Errors
/// `Internal` if the value has no form in JSON.
pub async fn answer<T: Serialize + Send + 'static>(value: T) -> Result<HttpResponse, ApiError> {
    answer_with(HttpResponse::Ok(), value).await
}

/// [`answer`] with another status, or with headers.
///
/// # Errors
/// `Internal` if the value has no form in JSON.
pub async fn answer_with<T: Serialize + Send + 'static>(
    mut answer: HttpResponseBuilder,
    value: T,
) -> Result<HttpResponse, ApiError> {
    let text = work::json(value).await;
    let text = text.map_err(|error| ApiError::internal(&error))?;
    Ok(answer.content_type(ContentType::json()).body(text))
}
