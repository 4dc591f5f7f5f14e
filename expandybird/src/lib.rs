//! expandybird: expands configurations and their templates to primitives. It keeps nothing.
//!
//! ```text
//! http ─► service ─► expansion (pure) ─► engine (port) ◄─ jinja, python ─► sandbox ─► protocol
//! ```

pub mod cache;
pub mod engine;
pub mod expansion;
pub mod http;
pub mod sandbox;
pub mod service;
