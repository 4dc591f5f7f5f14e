//! expandybird: expands configurations and their templates to primitives. It stores nothing.
//!
//! ```text
//! http ─► service ─► expansion (pure) ─► engine (port) ◄─ jinja, python ─► sandbox ─► protocol
//!                        └──► input ◄──┘
//! ```

pub mod admission;
pub mod blame;
pub mod cache;
pub mod deaths;
pub mod engine;
pub mod expansion;
pub mod flags;
pub mod http;
pub mod input;
pub mod memory;
pub mod process;
pub mod sandbox;
pub mod service;
