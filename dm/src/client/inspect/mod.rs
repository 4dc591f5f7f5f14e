//! The commands that show deployments. One file per command.

pub mod expand;
pub mod get;
pub mod history;
pub mod layout;
pub mod list;
pub mod manifest;
pub mod operations;
pub mod status;
pub mod types;
pub mod ui;
pub mod whoami;
