//! The contents of a registry: the folder that a reference means, the list of templates, and the files of one.

pub mod chart;
pub mod collections;
pub mod example;
pub mod fetch;
pub mod locate;
pub mod package;
mod provenance;
pub mod signed;
mod walk;
