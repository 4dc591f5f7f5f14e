//! The content of a template reference. It does not know the target of the reference.

mod chart;
mod grammar;
mod identity;
pub mod versions;

pub use chart::{ChartPlace, ChartReference, WantedChart};
pub use grammar::{Reference, ReferenceError, TemplateVersion};
pub use identity::Identity;
