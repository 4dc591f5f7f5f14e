//! Authentication and authorization.
//!
//! ```text
//! http guard ─► Authenticators ─► identity ─► AccessControl ◄─ service (the namespace in a body, lists), workflow (each step)
//!                  │ tokens, cluster               │ Authorizer: a policy file, or the cluster's RBAC
//!                  └─────────── deployer ◄─────────┘ TokenReview, SubjectAccessReview
//! ```
//!
//! It refuses to know what a request does. It answers yes, no, or that the answer is unknown, which is never a yes.
//! Without any configuration everybody is `anonymous` and may do everything, and the service listens on loopback only.

pub mod access;
pub mod authentication;
pub mod authorization;
mod browser;
mod cache;
mod caller;
mod file;
mod options;
mod sessions;
pub mod sign_in;
mod verb;

pub use access::AccessControl;
pub use authentication::Authenticators;
pub use browser::{BrowserAccess, cookies, session_cookies};
pub use caller::Caller;
pub use options::{Auth, Options};
pub use verb::{Resource, Verb};
