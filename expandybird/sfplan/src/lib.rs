//! `expandybird-sfplan`: what a plan of the Service Fabrik Inter-operator means.
//!
//! ```text
//! file ─ plan ─┬─ sources ─────────► which live objects the other templates see
//! facts ───────┼─ provision, bind ─► objects, or the chart and its values
//!              ├─ unbind ──────────► objects that replace live ones
//!              ├─ status ──────────► how far the operation is, and what its answer is
//!              └─ clusterSelector ─► a label selector
//! ```
//!
//! It knows the objects that templates see (`.service`, `.plan`, `.instance`, `.binding`), the functions of the
//! Inter-operator, and the forms of what templates print. It refuses to know the cluster: live objects come with the
//! request, and objects are only written by others.
//!
//! Not a published crate: none was found.

mod action;
mod documents;
mod edit;
mod error;
mod facts;
mod functions;
mod plan;
mod render;
mod sources;
mod status;

pub use action::Action;
pub use documents::{Text, documents};
pub use edit::{Edit, edit, printed_again};
pub use error::PlanError;
pub use facts::{BindingFacts, Facts, Subject, object_name};
pub use plan::{ActionTemplate, Engine, Plan, ids};
pub use render::{Made, render, values};
pub use sources::{Source, sources};
pub use status::{State, Status, status};
