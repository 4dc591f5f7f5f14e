//! For users who deploy: the commands that use a manager, and what these commands share.
//!
//! ```text
//! change, inspect, manage ─► target (what to send) ─► session ─► manager
//!                         └► operation (waiting for it) · render (showing it)
//! process, export (Template objects without a deployment) ─► session
//! ```

pub mod change;
pub mod context;
mod duration;
pub mod export;
pub mod flags;
pub mod identity;
pub mod inspect;
pub mod manage;
pub mod operation;
pub mod process;
pub mod render;
pub mod session;
pub mod target;
