//! Describes why a call has no result.

use expandybird_protocol::session::{Failure, FailureKind};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

use super::Templates;
use crate::error::WorkerError;
use crate::value::{self, Bounds, ResultError};

/// The maximum size of a failure's description. Its parts are cut far below that.
const FAILURE: Bounds = Bounds {
    text_bytes: 256 << 10,
    memory_bytes: 1 << 20,
};

impl Templates<'_> {
    pub(super) fn failure(&self, error: ResultError) -> Result<Failure, WorkerError> {
        let raised = match error {
            ResultError::Raised(raised) => raised,
            ResultError::NotJson { .. } => return Ok(plain(FailureKind::InvalidResult, &error)),
            ResultError::TooLarge { .. } => return Ok(plain(FailureKind::OutputTooLarge, &error)),
        };
        let described = self
            .session
            .getattr("sources")
            .and_then(|sources| {
                // Not `value`: only this one has its traceback.
                let error = raised.into_value(self.session.py());
                self.describe.call1((error, sources))
            })
            .map_err(ResultError::Raised)
            .and_then(|described| value::from_python(&described, FAILURE));
        match described {
            Ok(failure) => serde_json::from_value(failure).map_err(WorkerError::Control),
            Err(error) => Ok(self.undescribed(&error)),
        }
    }

    /// What describes a failure reads objects of the template, which may make that impossible.
    fn undescribed(&self, error: &ResultError) -> Failure {
        let py = self.session.py();
        let is_memory = matches!(error, ResultError::Raised(raised) if raised.is_instance_of::<PyMemoryError>(py));
        let (kind, exception, message) = match is_memory {
            true => (FailureKind::Memory, "MemoryError", "out of memory"),
            false => (
                FailureKind::Raised,
                "Exception",
                "(an exception that cannot be shown)",
            ),
        };
        Failure {
            kind,
            exception: exception.to_owned(),
            message: message.to_owned(),
            frames: Vec::new(),
            hint: None,
        }
    }
}

fn plain(kind: FailureKind, error: &ResultError) -> Failure {
    Failure {
        kind,
        exception: "TypeError".to_owned(),
        message: error.to_string(),
        frames: Vec::new(),
        hint: None,
    }
}
