//! The commands that change deployments. One file per command.

pub mod apply;
pub mod delete;
pub mod deploy;
pub mod options;
pub mod preview;
mod replace;
pub mod rollback;
pub mod running;
pub mod update;
pub mod upgrade;
