//! Configurations: their expressions, their keys, their objects, and their faults.

#![expect(clippy::unwrap_used, reason = "what drives the tests is part of them")]

mod example;
mod expressions;
mod keys;
mod support;
