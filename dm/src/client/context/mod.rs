//! Contexts: the managers that a user works with, each with its URL, identity and namespace, by name.
//!
//! They are in `~/.config/dm/config.yaml`. The current one, or the one that `DM_CONTEXT` names, is used where neither
//! `--service` nor `DM_SERVICE` names a manager: an identity is never sent to another manager than its own.

pub mod command;
mod file;

pub use file::{ContextError, ContextIssuer, active, issuer_of};
