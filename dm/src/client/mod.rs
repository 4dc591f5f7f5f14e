//! For those who deploy: the commands that ask a manager, and what they have in common.
//!
//! ```text
//! change, inspect, manage ─► target (what to send) ─► session ─► manager
//!                         └► operation (waiting for it) · render (showing it)
//! ```

pub mod change;
mod duration;
pub mod flags;
pub mod identity;
pub mod inspect;
pub mod manage;
pub mod operation;
pub mod render;
pub mod session;
pub mod target;
