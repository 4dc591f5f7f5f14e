//! The commands that show deployments. One file per command.

pub mod deployed_instances;
pub mod deployed_types;
pub mod expand;
pub mod get;
pub mod history;
pub mod layout;
pub mod list;
pub mod manifest;
pub mod operations;
pub mod revision;
pub mod status;
pub mod whoami;
