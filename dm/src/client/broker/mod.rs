//! `dm broker`: a platform on the command line, for any service broker.
//!
//! ```text
//! command ─► offer (service and plan by name or id) ─► request ─► broker
//!         └► follow (polls what goes on in the background)
//! ```

pub mod command;
mod error;
mod follow;
mod offer;
mod request;
mod show;
