//! Requests before their handlers: heads and bodies are bounded, read and checked.

pub(super) mod bodiless;
pub mod body;
pub(super) mod front;
pub(super) mod head;
pub(super) mod query;
