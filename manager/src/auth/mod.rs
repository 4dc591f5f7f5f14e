//! Who may do what: who asks (authentication), and whether they may (authorization).
//!
//! ```text
//! http guard ─► Authenticators ─► identity ─► Access ◄─ service (the namespace in a body, lists), workflow (each step)
//!                  │ tokens, cluster             │ Authorizer: a policy file, or the cluster's RBAC
//!                  └─────────── deployer ◄───────┘ TokenReview, SubjectAccessReview
//! ```
//!
//! It refuses to know what is done for whom: it answers yes or no, or that it cannot say, which is never a yes. Where
//! nothing of it is configured everybody is `anonymous` and may all, and the service listens on loopback only.

pub mod access;
pub mod authentication;
pub mod authorization;
mod cache;
mod caller;
mod file;
mod options;
mod verb;

pub use access::Access;
pub use authentication::Authenticators;
pub use caller::Caller;
pub use options::{Auth, Options};
pub use verb::{Resource, Verb};
