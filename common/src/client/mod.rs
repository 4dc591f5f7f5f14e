//! Typed HTTP clients, one per service: deadlines, request ids, retries of requests that are safe to repeat, decoded
//! errors.

pub mod access;
pub mod broker;
pub mod deployer;
pub mod error;
pub mod expander;
mod handshake;
pub mod http;
pub mod instances;
mod lines;
pub mod manager;
mod server_sent;

pub use access::{Bearer, ClientAccess, ServiceFlags};
pub use deployer::DeployerClient;
pub use error::ClientError;
pub use expander::ExpanderClient;
pub use manager::ManagerClient;
