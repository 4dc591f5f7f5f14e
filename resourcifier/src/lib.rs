//! resourcifier: makes a cluster hold what a deployment asks for, through `kubectl`.
//!
//! It keeps nothing: what is known of a deployment comes with each request. Data flows one way,
//! `http` → `service` → `plan` (pure) → `apply` → `kubectl` (the port to the cluster).

pub mod apply;
pub mod http;
pub mod kubectl;
pub mod plan;
pub mod service;
