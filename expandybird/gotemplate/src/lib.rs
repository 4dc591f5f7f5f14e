//! Go's `text/template`, natively: the same output and the same error texts.
//!
//! Responsible for parsing and running templates, for Go's values and their printing, and for the built-in functions.
//! It knows neither Sprig nor Helm nor deployments: further functions come in a table, and values from the caller.
//! Each run has a budget of steps, depth, output and time; no input makes it panic or overflow its stack.
//!
//! Not a published crate: none has maps that are changed in place, Go's nils, and functions that see the template set.

pub mod budget;
pub mod error;
pub mod text;
pub mod value;
