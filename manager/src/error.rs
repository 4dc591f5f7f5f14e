//! Why a request fails, whatever it asked for.

use common::api::error::{ErrorBody, ErrorCode};
use common::server::ApiError;

use crate::registry::RegistryError;
use crate::store::StoreError;
use crate::workflow::engine::Parked;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Ready for the caller: refused here, or by a service that was asked.
    #[error(transparent)]
    Refused(Box<ErrorBody>),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error(transparent)]
    Parked(#[from] Parked),
}

impl Error {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::Refused(Box::new(ErrorBody::new(code, message)))
    }

    pub fn invalid(error: &dyn std::fmt::Display) -> Self {
        Self::new(ErrorCode::InvalidRequest, error.to_string())
    }
}

impl From<Box<ErrorBody>> for Error {
    fn from(body: Box<ErrorBody>) -> Self {
        Self::Refused(body)
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(body) => Self(*body),
            Error::Store(error @ (StoreError::PageToken | StoreError::PageLimit)) => {
                Self::new(ErrorCode::InvalidRequest, error.to_string())
            }
            Error::Store(error) => Self::internal(&error),
            Error::Registry(error) => Self::new(error.code(), error.to_string()),
            Error::Parked(error) => Self::new(ErrorCode::Unavailable, error.to_string()),
        }
    }
}
