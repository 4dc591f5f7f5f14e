//! What the three services share in answering HTTP: listening, request ids, errors, bodies, health, metrics.

pub mod body;
pub mod error;
pub mod health;
pub mod metrics;
mod observe;
mod serve;

pub use body::Body;
pub use error::{ApiError, method_not_allowed};
pub use serve::{Listen, at, serve};
