//! Template registries: the sources of the templates that a configuration refers to.
//!
//! This package owns the conventions of registries (docs/reference/registries.md): the form of a reference, the version
//! that it means, and the files of a template. It does not know what a template contains, what the manager does with
//! it, and where registered registries and their credentials are stored ([`Registrations`]).
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
