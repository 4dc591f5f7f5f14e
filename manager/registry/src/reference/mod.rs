//! What a template reference says, and nothing of what it leads to.

mod grammar;
mod identity;
pub mod versions;

pub use grammar::{Reference, ReferenceError, TEMPLATE_ENDINGS, TemplateVersion};
pub use identity::Identity;
