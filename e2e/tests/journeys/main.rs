//! What users do, from the command line to the cluster and back. One binary, so that one control plane serves all.

mod bad_input;
mod changes;
mod chaos;
mod charts;
mod completion;
mod configurations;
mod crash;
mod hostile;
mod identity;
mod installation;
mod interruption;
mod lifecycle;
mod local;
mod manifests;
mod oidc;
mod outage;
mod ownership;
mod properties;
mod publishing;
mod references;
mod registries;
mod rights;
mod secrets;
mod store;
mod template_objects;
mod testing;
