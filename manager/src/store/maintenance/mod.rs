//! The whole store: backups, transfers, upgrades of its format, and its verification.

pub mod archive;
pub mod transfer;
pub mod upgrade;
pub mod verify;
