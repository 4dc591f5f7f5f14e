//! Who looks on: hears of each step before it is taken, and may forbid it.

use common::model::{Import, LayoutPath};

use super::error::Fault;

/// What an expansion does next.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    /// It reads the configuration or resolves references.
    Whole,
    /// It applies the schema in this file.
    Schema(At<'a>),
    /// It runs this template and reads what comes out.
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
    fn before(&mut self, step: Step<'_>) -> Result<(), Fault>;
}

/// Looks on and forbids nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn before(&mut self, _: Step<'_>) -> Result<(), Fault> {
        Ok(())
    }
}
