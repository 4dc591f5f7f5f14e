//! Template registries: where the templates come from that a configuration names by reference.
//!
//! Responsible for the conventions of registries (docs/reference/registries.md): what a reference looks like, which version
//! it means, which files a template consists of. It refuses to know what is in a template, what is done with it, and where
//! registered registries and their credentials are kept ([`Registrations`]).
//!
//! ```text
//! reference ─ parse ─► Registries ─ picks ─► Registry (port)  ◄─ directory, github, git, oci, web_folder
//!                          │                    │ which version folder (catalog)
//!                          │                    ▼
//!                          └─ a full URL ──► Files (port)     ◄─ all of these, and url
//!                                               │ template, its schema, the schema's imports (catalog); or a package
//!                                               ▼
//!                                        ResolvedTemplate
//!
//! adapters ─► transport (requests, bounded) ─► cache (memory, disk)
//! ```

pub mod adapter;
pub mod cache;
mod catalog;
mod error;
mod open_registries;
mod options;
mod reference;
mod registrations;
mod registries;
pub mod transport;
mod trust;

pub use catalog::signed::SignatureError;
pub use error::RegistryError;
pub use open_registries::DEFAULT;
pub use options::Options;
pub use reference::Identity;
pub use registrations::{BoxError, Registrations};
pub use registries::{Registries, ResolvedTemplate};
pub use transport::auth::check as check_credential;
