//! `manager-broker`: the Open Service Broker API (2.17) over deployments.
//!
//! ```text
//! platform ──► http ──► service ──► port: records, and the engine that deploys
//!                └──► catalog        (the manager is its adapter)
//! ```
//!
//! A plan is a type of Deployment Manager, a service instance is a deployment, and a service binding is a deployment
//! whose outputs are the credentials. The package knows the protocol: the order of the checks, the states of instances
//! and bindings, and what each answer contains. It does not know the store, how templates are expanded, or what runs in
//! the cluster.

mod access;
mod catalog;
mod error;
mod http;
mod options;
mod port;
mod record;
mod service;
#[cfg(test)]
mod testing;

pub use access::{Access, AccessError};
pub use catalog::Catalogs;
pub use catalog::source::{Address, File, FileSource, Folder, Objects, Source, SourceError};
pub use error::BrokerError;
pub use http::{Answered, Front, Witness, routes};
pub use options::{ApiVersion, BrokerOptions};
pub use port::{Backend, BackendError, Edit, Outcome, Placement, Version, Versioned, Write};
pub use record::{
    Binding, BindingPhase, BindingTarget, Caller, Flags, Instance, InstancePhase, Kind, Operation,
    Origin, Progress, Release, Target,
};
pub use service::{
    Answer, BINDING_LABEL, BINDING_RESOURCE, Broker, Context, INSTANCE_LABEL, INSTANCE_RESOURCE,
    Ids, PLAN_LABEL, Poll,
};
