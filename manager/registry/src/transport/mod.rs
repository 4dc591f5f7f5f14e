//! Requests to registries: limited in size, time and addresses, with credentials, and cached.

mod address_policy;
pub mod auth;
mod client;
mod conditional;
mod error;
mod hosts;

pub use address_policy::Reach;
pub use client::{Answer, Shared, Web};
pub use conditional::{CachedAnswer, MaxAge};
pub use error::WebError;
