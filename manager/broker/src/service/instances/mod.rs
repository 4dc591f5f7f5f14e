//! Instances of services.

pub(super) mod deprovision;
pub(super) mod provision;
pub(super) mod update;
