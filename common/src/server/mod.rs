//! What the three services share in answering HTTP: listening, request ids, errors, bodies, health, metrics.

mod allocator;
pub mod answer;
mod callers;
pub mod limits;
pub mod observe;
pub mod request;
mod route;
mod serve;

pub use allocator::return_large_blocks;
pub use answer::compress::accepts_gzip;
pub use answer::error::ApiError;
pub use answer::{answer, answer_with};
pub use callers::CallerFlags;
pub use callers::access::{CallerPolicy, Stranger};
pub use callers::peer::{Peer, Relays, is_relayed};
pub use limits::LimitFlags;
pub use request::body::{AnyBody, Body, Format, RawBody};
pub use request::query::Query;
pub use route::at;
pub use serve::tls::Tls;
pub use serve::{HangUp, Listen, Listening, ServeError, Serving, Stopper, serve};
