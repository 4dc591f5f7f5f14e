//! The input of an expansion: its files and its limits.
//!
//! Below the engines and the expansion, which both use it. It does not know templates.

mod budget;
mod files;

pub use budget::{Bounds, Budget, BudgetError};
pub use files::{AmbiguousImport, Files, PLAN_TYPE};
