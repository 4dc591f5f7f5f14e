//! The request's body, as JSON or YAML by its content type.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use serde::de::DeserializeOwned;

use super::error::ApiError;
use crate::api::error::{ErrorBody, ErrorCode, Location};
use crate::model::limits::REQUEST_BYTES;
use crate::yaml::{self, Duplicates, Limits};

/// The extractor. No content type means JSON.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<T: DeserializeOwned + 'static> FromRequest for Body<T> {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let format = Format::of(request.content_type());
        let bytes = Bytes::from_request(request, payload);
        Box::pin(async move {
            let format = format?;
            let bytes = bytes.await.map_err(|error| unreadable(&error))?;
            format.read(&bytes).map(Body)
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Yaml,
}

impl Format {
    fn of(content_type: &str) -> Result<Self, ApiError> {
        match content_type.trim().to_ascii_lowercase().as_str() {
            "" | "application/json" => Ok(Self::Json),
            "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml" => {
                Ok(Self::Yaml)
            }
            other => Err(ApiError::new(
                ErrorCode::UnsupportedMediaType,
                format!("the body is {other:?}: send application/json or application/yaml"),
            )),
        }
    }

    fn read<T: DeserializeOwned>(self, bytes: &[u8]) -> Result<T, ApiError> {
        match self {
            Self::Json => serde_json::from_slice(bytes).map_err(|error| not_json(&error)),
            Self::Yaml => read_yaml(bytes),
        }
    }
}

fn read_yaml<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| invalid(format!("the body is not UTF-8: {error}")))?;
    let document = yaml::read(text, &Limits::default(), Duplicates::Error)
        .map_err(|error| invalid(format!("the body is not YAML: {error}")))?;
    serde_json::from_value(document.value)
        .map_err(|error| invalid(format!("the body does not fit: {error}")))
}

fn invalid(message: String) -> ApiError {
    ApiError::new(ErrorCode::InvalidRequest, message)
}

fn not_json(error: &serde_json::Error) -> ApiError {
    let location = Location {
        line: u32::try_from(error.line()).ok().filter(|&line| line > 0),
        column: u32::try_from(error.column())
            .ok()
            .filter(|&column| column > 0),
        ..Location::default()
    };
    ApiError(
        ErrorBody::new(
            ErrorCode::InvalidRequest,
            format!("the body cannot be read: {error}"),
        )
        .at(location),
    )
}

fn unreadable(error: &actix_web::Error) -> ApiError {
    if error.as_response_error().status_code() == actix_web::http::StatusCode::PAYLOAD_TOO_LARGE {
        let message = format!(
            "the body is over the limit of {} MiB",
            REQUEST_BYTES / (1024 * 1024)
        );
        return ApiError::new(ErrorCode::PayloadTooLarge, message);
    }
    invalid(format!("the body cannot be read: {error}"))
}
