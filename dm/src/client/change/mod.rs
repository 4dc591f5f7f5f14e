//! The commands that change deployments. One file per command.

pub mod apply;
pub mod delete;
pub mod deploy;
pub mod diff;
mod dry_run;
pub mod options;
pub mod policies;
pub mod preview;
mod replace;
pub mod rollback;
pub mod stop;
pub mod update;
pub mod upgrade;
pub mod wait;
