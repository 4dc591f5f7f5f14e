//! The answer to a request that failed: always an [`ErrorBody`], its status from the table of codes.

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use actix_web::{HttpRequest, HttpResponse, ResponseError};

use crate::api::error::{ErrorBody, ErrorCode};
use crate::request_id;

/// The default of `Retry-After`, in seconds.
const SOON: u64 = 1;

/// What handlers return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError(pub ErrorBody);

impl ApiError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(ErrorBody::new(code, message))
    }

    /// Sets `Retry-After`, in seconds.
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }

    /// A fault of the service. The log has its chain of causes; the caller receives only the request id.
    pub fn internal(error: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(
            error = chain(error),
            "the request failed because of a fault of the service"
        );
        Self::new(
            ErrorCode::Internal,
            "the service failed; its log has the cause under this request id",
        )
    }
}

/// An error and all its sources in one line.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let sources = std::iter::successors(Some(error), |error| error.source());
    sources
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

impl From<ErrorBody> for ApiError {
    fn from(body: ErrorBody) -> Self {
        Self(body)
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.0.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn error_response(&self) -> HttpResponse {
        let mut body = self.0.clone();
        body.request_id = request_id::current().unwrap_or_default();
        let mut response = HttpResponse::build(self.status_code());
        if body.code == ErrorCode::Unauthenticated {
            // RFC 9110: a 401 says how one authenticates.
            response.insert_header((WWW_AUTHENTICATE, "Bearer"));
        }
        if matches!(self.status_code().as_u16(), 429 | 503) {
            response.insert_header((RETRY_AFTER, body.retry_after.unwrap_or(SOON)));
        }
        response.json(body)
    }
}

/// The answer if no route matches.
pub async fn no_such_route(request: HttpRequest) -> HttpResponse {
    ApiError::new(
        ErrorCode::NotFound,
        format!("there is no {} here", request.path()),
    )
    .error_response()
}
