#![doc = include_str!("../README.md")]
//!
//! Data flows one way: `http` → `service` → `plan` (pure) → `apply` → `kubectl` (the port to the cluster).

pub mod activity;
pub mod apply;
pub mod flags;
pub mod http;
pub mod kubectl;
pub mod plan;
pub mod service;
