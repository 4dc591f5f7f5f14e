//! What is in a registry: which folder a reference means, which templates there are, and the files of one.

pub mod collections;
pub mod example;
pub mod fetch;
pub mod locate;
pub mod package;
pub mod signed;
