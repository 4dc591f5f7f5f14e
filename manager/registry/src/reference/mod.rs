//! What a template reference says. It refuses to know what the reference leads to.

mod grammar;
mod identity;
pub mod versions;

pub use grammar::{Reference, ReferenceError, TemplateVersion};
pub use identity::Identity;
