//! What the three services share in answering HTTP: listening, request ids, errors, bodies, health, metrics.

mod access;
mod answer;
mod bodiless;
pub mod body;
mod callers;
pub mod error;
mod files;
mod front;
mod head;
pub mod health;
pub mod limits;
pub mod metrics;
mod observe;
mod peer;
mod query;
mod route;
mod serve;
mod tls;

pub use access::{CallerPolicy, Stranger};
pub use answer::answer;
pub use body::{Body, Format, RawBody};
pub use callers::CallerFlags;
pub use error::ApiError;
pub use limits::LimitFlags;
pub use peer::Peer;
pub use query::Query;
pub use route::at;
pub use serve::{HangUp, Listen, ServeError, serve};
pub use tls::Tls;
