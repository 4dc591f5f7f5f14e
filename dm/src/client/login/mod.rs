//! Signing in at an OpenID Connect issuer: in a browser, or with a code on another device.
//!
//! ```text
//! dm login ─► issuer (its endpoints) ─┬─ browser: code and PKCE over a loopback address ─┐
//!                                     └─ device: a code to type elsewhere ───────────────┴─► store ─► bearer ─► each request
//! ```
//!
//! The tokens belong to one manager, by its URL. They are in a file that only the user can read. dm is a public client: it has
//! no secret of its own.

pub mod bearer;
mod browser;
mod claims;
pub mod command;
mod device;
mod error;
mod issuer;
mod store;

pub use error::LoginError;
pub use store::SavedLogin;
