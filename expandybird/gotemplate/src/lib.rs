//! Go's `text/template`, natively: the same output and the same error texts.
//!
//! Responsible for parsing and running templates, for Go's values and their printing, and for the built-in functions.
//! It knows neither Sprig nor Helm nor deployments: further functions come in a table, and values from the caller.
//! Each run has a budget of steps, depth, output and time; no input makes it panic or overflow its stack.
//!
//! ```
//! use std::sync::Arc;
//!
//! use expandybird_gotemplate::budget::Limits;
//! use expandybird_gotemplate::function_table::FunctionTable;
//! use expandybird_gotemplate::value::{Numbers, Value};
//! use expandybird_gotemplate::{Options, Session, Set, execute};
//!
//! let mut set = Set::new("example", Arc::new(FunctionTable::default()), Options::default());
//! set.parse("greeting", "{{range .names}}Hello, {{.}}! {{end}}")?;
//! let data = Value::from_json(&serde_json::json!({"names": ["a", "b"]}), Numbers::Integers);
//! let mut session = Session::new(Limits::default(), ());
//! assert_eq!(execute(&set, &mut session, "greeting", &data)?, b"Hello, a! Hello, b! ");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Not a published crate: none has maps that are changed in place, Go's nils, and functions that see the template set.

mod builtins;
mod exec;
mod session;
mod set;

pub mod budget;
pub mod error;
pub mod format;
pub mod function_table;
pub mod parse;
pub mod text;
pub mod value;

pub use exec::execute;
pub use session::Session;
pub use set::{MissingKey, Options, Set};
