//! The shared code of Deployment Manager's packages: types, wire formats, clients, and the HTTP server of a service.
//!
//! A module is here only if two packages use it.

pub mod address;
#[warn(missing_docs)]
pub mod api;
pub mod canonical;
pub mod client;
pub mod compare;
pub mod duration;
pub mod kubernetes_secret;
pub mod manifests;
pub mod memory;
#[warn(missing_docs)]
pub mod model;
pub mod node;
pub mod redact;
pub mod registry;
pub mod reload;
pub mod request_id;
pub mod server;
pub mod service_token;
pub mod telemetry;
pub mod tls;
pub mod work;
pub mod yaml;

pub use common_json as json;
