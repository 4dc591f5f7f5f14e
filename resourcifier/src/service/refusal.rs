//! What a caller reads of a plan that cannot be made.

use common::api::error::{ErrorBody, ErrorCode, Location};
use common::server::answer::error::chain;

use crate::plan::{Fault, PlanError};

impl From<PlanError> for ErrorBody {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::TooManyResources { .. } => {
                Self::new(ErrorCode::TooManyResources, error.to_string())
            }
            PlanError::Fault(fault) => body(&fault),
            PlanError::Faults {
                ref first,
                ref others,
            } => {
                let message = format!("{error}; the first: {}", chain(&**first));
                let faults = std::iter::once(&**first).chain(others);
                Self::new(first.code(), message).caused_by(faults.map(body))
            }
        }
    }
}

fn body(fault: &Fault) -> ErrorBody {
    let error = ErrorBody::new(fault.code(), chain(fault));
    match fault.resource() {
        None => error,
        Some(resource) => error.at(Location {
            resource: Some(resource.to_string()),
            path: fault.path(),
            ..Location::default()
        }),
    }
}
