//! The commands that change deployments. One file per command.

pub mod delete;
pub mod deploy;
pub mod diff;
pub mod options;
pub mod policies;
pub mod preview;
pub mod rollback;
pub mod stop;
pub mod update;
pub mod upgrade;
pub mod wait;
