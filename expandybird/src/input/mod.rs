//! What an expansion is given: its files, and how much it may take.
//!
//! Below the engines and the expansion, which both read it. It refuses to know what a template is.

mod budget;
mod files;

pub use budget::{Bounds, Budget, BudgetError};
pub use files::{AmbiguousImport, Files};
