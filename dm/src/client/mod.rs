//! For users who deploy: the commands that use a manager, and what these commands share.
//!
//! ```text
//! change, inspect, manage ─► target (what to send) ─► session ─► manager
//!                         └► operation (waiting for it) · render (showing it)
//! activity (events and logs from the cluster) ─► session
//! broker (any service broker) ─► terminal
//! process, export (Template objects without a deployment) ─► session
//! import (what other tools installed) ─► operation ─► session
//! ```

pub mod activity;
pub mod broker;
pub mod change;
pub mod context;
pub mod export;
pub mod identity;
pub mod import;
pub mod inspect;
pub mod login;
pub mod manage;
pub mod operation;
pub mod process;
pub mod render;
pub mod session;
pub mod target;
