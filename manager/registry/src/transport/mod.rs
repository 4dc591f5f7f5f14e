//! How requests leave: bounded in size, time and reach, with a credential, and through what is kept.

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
