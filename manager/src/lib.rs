//! `manager`: Deployment Manager's REST API and workflow engine.
//!
//! ```text
//! http ─► service ─► workflow ─► domain (pure)
//!    │       └──────────┴─► ports: store, registry, expander, deployer          app wires them, once
//!    └───────┴──────────┴─► auth: who asks, and whether they may
//! ```
//!
//! It keeps deployments, manifests, operations and the index of type instances. It refuses to know how templates are
//! run (expandybird does) and how objects get into the cluster (resourcifier does).

mod app;
mod audit;
mod auth;
mod broker;
mod clusters;
mod config;
mod credentials;
mod dependency;
mod deployer;
mod domain;
mod error;
mod expander;
mod http;
mod keys;
mod page;
mod registrations;
mod relay;
mod service;
mod store;
#[cfg(test)]
mod testing;
mod workflow;

pub use app::run;
pub use config::{Config, StorePlace};
pub use http::description;
pub use store::kv::was_asked as looks_at_store;
