//! The two dialects.

/// How references are written, and what a Template does to its objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The Kubernetes proposal: `$(P)` and `$((P))`; labels on objects and selectors.
    Proposal,
    /// OpenShift: `${P}` and `${{P}}`; labels on objects, generated values, a message.
    OpenShift,
}

impl Dialect {
    pub const NAMES: [&str; 2] = ["proposal", "openshift"];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Proposal => "proposal",
            Self::OpenShift => "openshift",
        }
    }
}
