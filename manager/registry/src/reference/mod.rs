//! The content of a template reference. It does not know the target of the reference.

mod grammar;
mod identity;
pub mod versions;

pub use grammar::{Reference, ReferenceError, TemplateVersion};
pub use identity::Identity;
