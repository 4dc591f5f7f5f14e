//! `kind: ServiceBrokerConfig`: the configuration of Couchbase's service broker, `servicebroker.couchbase.com/v1alpha1`.
//!
//! Responsible for what such an object means: its catalog, its templates with dynamic attributes, the registry of an
//! instance, and the objects of an instance or a binding in their steps. It refuses to know where a configuration comes
//! from, and what happens to the objects. Pure: the same configuration and [`Inputs`] give the same result.
//!
//! ```text
//! document ─ Config::read ─► Config ─┬─ services ─► what a catalog lists
//!                │                   └─ process ──► Processed (objects in steps, checks, credentials, made values)
//!                └─► faults: all of them, each with its place
//! ```

mod attribute;
mod config;
mod functions;
mod made;
mod process;
mod registry;
mod render;
mod run;

pub use config::{Config, Plan, Schemas, Service};
pub use made::{Kept, Random, Used};
pub use process::{Action, Check, Inputs, PlacedObject, ProcessError, Processed, process};
