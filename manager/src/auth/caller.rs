//! The caller of a request, and its address.

use common::model::Identity;

/// The name of callers if no authentication is configured.
pub const ANONYMOUS: &str = "anonymous";

/// Anonymous by default. If authentication is configured, an anonymous caller may do nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    pub identity: Option<Identity>,
    /// The address that the request came from.
    pub address: Option<String>,
}

impl Caller {
    /// A caller without an address.
    pub fn new(identity: Option<Identity>) -> Self {
        Self {
            identity,
            address: None,
        }
    }

    /// None without authentication.
    pub fn groups(&self) -> &[String] {
        self.identity.as_ref().map_or(&[], Identity::groups)
    }

    pub fn user(&self) -> &str {
        self.identity.as_ref().map_or(ANONYMOUS, Identity::user)
    }
}
