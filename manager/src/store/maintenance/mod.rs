//! The whole store: backups, transfers, upgrades of its format, and its verification.

pub mod archive;
pub mod transfer;
pub(super) mod upgrade;
pub mod verify;
