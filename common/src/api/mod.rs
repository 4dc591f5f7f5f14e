//! What the services and their clients say to each other over HTTP: the only place where the packages meet.

pub mod admin;
pub mod cluster;
pub mod deployer;
pub mod error;
pub mod expander;
pub mod live;
pub mod manager;
pub mod page;
pub mod plan;
pub mod upgrade;

pub use deployer::{job, review};
pub use live::{activity, export};
