//! Names that only Kubernetes gives: everything that begins with `system:`.
//!
//! A name travels to the API server in `Impersonate-*` headers, and `system:masters` passes every check there. The cluster
//! itself (TokenReview) may give such names. Certificates, issuers and token files may not: their authority is often not the
//! cluster's. An operator can allow single names with `--auth-allow-system`.

use common::model::Identity;
use common::model::identity::Parts;

const RESERVED: &str = "system:";

/// The reserved names that the operator allows to everybody who authenticates, each in full.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReservedNames {
    allowed: Vec<String>,
}

impl ReservedNames {
    pub fn allowing(names: &[String]) -> Self {
        Self {
            allowed: names.to_vec(),
        }
    }

    /// The identity of these parts.
    ///
    /// # Errors
    /// A sentence, if the user or a group is a reserved name that is not allowed, or if the parts are no identity.
    pub fn identity(&self, parts: Parts) -> Result<Identity, String> {
        let mut names = std::iter::once(&parts.user).chain(&parts.groups);
        if let Some(name) = names.find(|name| self.refuses(name)) {
            let name: String = name.chars().take(QUOTED_CHARS).collect();
            return Err(format!(
                "{name:?} is a name that only Kubernetes gives: use a name or a prefix that does not begin with {RESERVED}, or let the operator allow it with --auth-allow-system"
            ));
        }
        Identity::parse(parts).map_err(|error| error.to_string())
    }

    fn refuses(&self, name: &str) -> bool {
        name.starts_with(RESERVED) && !self.allowed.iter().any(|allowed| allowed == name)
    }
}

/// A longer name than this is clipped when an error quotes it.
const QUOTED_CHARS: usize = 80;

/// A name for `--auth-allow-system`: only reserved names need it.
pub fn reserved_name(text: &str) -> Result<String, String> {
    match text.strip_prefix(RESERVED) {
        Some(rest) if !rest.is_empty() => Ok(text.to_owned()),
        _ => Err(format!(
            "only names that begin with {RESERVED} need to be allowed; write one in full, such as system:masters"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reserved_names_can_be_allowed() {
        assert_eq!(
            reserved_name("system:masters"),
            Ok("system:masters".to_owned())
        );
        for other in ["", "system:", "masters", "System:masters"] {
            assert!(reserved_name(other).is_err(), "{other}");
        }
    }
}
