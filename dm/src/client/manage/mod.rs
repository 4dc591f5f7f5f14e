//! The commands for registries, their templates, credentials, and the manager's store. One file per command.

pub mod admin;
pub mod clusters;
pub mod createregistry;
pub mod deletecredential;
pub mod deleteregistry;
pub mod describe;
pub mod getcredential;
pub mod registries;
pub mod setcredential;
mod stored_templates;
pub mod templates;
