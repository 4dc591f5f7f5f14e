//! Kinds that lead traffic to workloads.

pub(super) mod ingress;
pub(super) mod service;
