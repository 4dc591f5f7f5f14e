//! The jobs of the deployer: following them to their end, and their attempts.

pub(super) mod follow;
pub(super) mod tries;
