//! Template objects: `kind: Template`, in the dialect of the Kubernetes proposal and in OpenShift's.
//!
//! Responsible for what such an object means: its dialect, its parameters, what a reference in it becomes, which labels
//! its objects get, and the schema of its parameters. It refuses to know where a Template comes from, what reads its
//! text, and what happens to the objects. Pure: the same Template, inputs and [`Values`] give the same result.
//!
//! ```text
//! document ─ Template::read ─► Template ─ process ─► Processed (objects, parameters, labels, message, made)
//!                │                 └───── schema ─► JSON Schema
//!                └─► Faults: all of them, each with its field and its place
//! ```
//!
//! The work is linear in the Template and its result. A result is bounded ([`limits`]).

mod ambiguity;
mod credentials;
mod decode;
mod detection;
mod dialect;
pub mod export;
mod exposed;
mod fault;
mod field;
mod generator;
mod groups;
mod inputs;
mod json_path;
mod labels;
pub mod limits;
mod namespace;
mod parameters;
mod process;
mod reference;
mod schema;
mod seeded;
mod substitute;
mod template;
mod values;

pub use credentials::credentials;
pub use dialect::Dialect;
pub use exposed::{ExposeError, Exposed, KINDS as EXPOSING_KINDS, exposed};
pub use fault::{Fault, Faults, Reason};
pub use field::Field;
pub use generator::{Expression, GeneratorError};
pub use inputs::Inputs;
pub use json_path::PathError;
pub use parameters::text_of;
pub use process::{Processed, process};
pub use schema::schema;
pub use seeded::Seeded;
pub use template::{Kind, Parameter, Template};
pub use values::Values;

/// The domain of the annotations that Deployment Manager reads.
pub const DOMAIN: &str = "deployment-manager.dev";
