//! Reads a whole text: first the scan, then the values.

use serde::de::DeserializeOwned;

use super::limits::Limits;
use super::scan::{Scan, TooLarge};

/// Why a text has no value.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    #[error(transparent)]
    Malformed(#[from] serde_json::Error),
}

/// The value of a text. Nothing may follow it.
pub fn from_slice<T: DeserializeOwned>(text: &[u8], limits: &Limits) -> Result<T, JsonError> {
    Scan::new(*limits).take(text)?;
    Ok(serde_json::from_slice(text)?)
}
