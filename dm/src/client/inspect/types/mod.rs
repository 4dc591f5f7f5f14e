//! The commands that show which types are in use, and where.

pub mod deployed_instances;
pub mod deployed_types;
