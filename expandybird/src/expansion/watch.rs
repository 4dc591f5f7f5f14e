//! An observer that receives each step before it starts, and may forbid it.

use common::model::{Import, LayoutPath};

use super::error::Fault;

/// The next step of an expansion.
#[derive(Debug, Clone, Copy)]
pub enum ExpansionStep<'a> {
    /// Reads the configuration or resolves references.
    Whole,
    /// Applies the schema in this file.
    Schema(At<'a>),
    /// Runs this template and reads its output.
    Template(At<'a>),
}

/// A file, and the resource that it is for.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    pub file: &'a Import,
    pub resource: &'a str,
    pub path: &'a LayoutPath,
}

pub trait Watch {
    /// An error ends the expansion.
    fn before(&mut self, step: ExpansionStep<'_>) -> Result<(), Fault>;
}

/// An observer that allows all steps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn before(&mut self, _: ExpansionStep<'_>) -> Result<(), Fault> {
        Ok(())
    }
}
