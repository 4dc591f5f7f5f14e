//! The whole store: backups, upgrades of its format, and its verification.

pub mod archive;
pub(super) mod upgrade;
pub mod verify;
