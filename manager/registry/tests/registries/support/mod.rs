//! Test clients: registries without a manager, and servers on loopback.

pub mod alone;
pub mod authority;
pub mod backend;
pub mod chart;
pub mod each_kind;
pub mod hub;
pub mod loopback;
