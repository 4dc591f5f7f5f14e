//! What the services and their clients say to each other over HTTP: the only place where the packages meet.

pub mod admin;
pub mod deployer;
pub mod error;
pub mod expander;
pub mod export;
pub mod job;
pub mod manager;
pub mod page;
pub mod review;
pub mod upgrade;
