//! Who asks, and from where.

use common::model::Identity;

/// The name of callers where nobody is told apart.
pub const ANONYMOUS: &str = "anonymous";

/// Nobody in particular by default: where authentication is configured, such a caller may do nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    pub identity: Option<Identity>,
    /// The address that the request came from.
    pub address: Option<String>,
}

impl Caller {
    /// Somebody whose address nobody asks for.
    pub fn of(identity: Option<Identity>) -> Self {
        Self {
            identity,
            address: None,
        }
    }

    pub fn user(&self) -> &str {
        self.identity.as_ref().map_or(ANONYMOUS, Identity::user)
    }
}
