//! Short template references, and the registry that they belong to.
//!
//! In a user's configuration, `redis:v1` is a template of the default registry. In a template of another registry, it
//! is a template of that registry, because authors do not know the default registry of their users.

use serde::{Deserialize, Serialize};

use super::version::Version;
use crate::model::name::TypeName;

const PART_CHARS: usize = 100;

/// The registry and the collection of a template. Short references in it are relative to them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Scope {
    /// As references begin: `github.com/<owner>/<repository>`, or the name of a registered registry.
    pub registry: String,
    /// Absent: the unnamed collection at the root of the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collection: Option<String>,
}

impl Scope {
    /// The full form of a short reference: in this collection, or in the one that it names. `None` for other
    /// references: they mean the same everywhere.
    pub fn qualify(&self, type_name: &str) -> Option<TypeName> {
        let (path, version) = type_name.rsplit_once(':')?;
        version.parse::<Version>().ok()?;
        let parts: Vec<_> = path.split('/').collect();
        if !parts.iter().all(|part| is_part(part)) {
            return None;
        }
        let registry = &self.registry;
        let full = match (&parts[..], &self.collection) {
            ([_], Some(collection)) => format!("{registry}/{collection}/{type_name}"),
            ([_], None) | ([_, _], _) => format!("{registry}/{type_name}"),
            _ => return None,
        };
        TypeName::parse(full).ok()
    }
}

/// A name that can be a folder's name in every type of registry, and needs no quoting in a reference.
pub fn is_part(text: &str) -> bool {
    let refused = |c: char| c.is_control() || c.is_whitespace() || "/\\:?#%*<>|\"$".contains(c);
    (1..=PART_CHARS).contains(&text.chars().count())
        && !text.starts_with('.')
        && !text.contains(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_reference_is_of_the_registry_and_collection_that_it_stands_in() {
        let scope = |collection: Option<&str>| Scope {
            registry: "github.com/o/r".to_owned(),
            collection: collection.map(str::to_owned),
        };
        for (collection, short, full) in [
            (None, "redis:v1", Some("github.com/o/r/redis:v1")),
            (
                Some("db"),
                "redis:v1.2",
                Some("github.com/o/r/db/redis:v1.2"),
            ),
            (
                Some("db"),
                "web/nginx:v1",
                Some("github.com/o/r/web/nginx:v1"),
            ),
            (None, "db/redis:v1", Some("github.com/o/r/db/redis:v1")),
            (None, "github.com/a/b/redis:v1", None),
            (None, "https://host/a/redis.py", None),
            (None, "apps/v1:Deployment", None),
            (None, "Service", None),
            (None, "../redis:v1", None),
            (None, "a/b/redis:v1", None),
        ] {
            let found = scope(collection).qualify(short);
            assert_eq!(found.as_ref().map(TypeName::as_str), full, "{short}");
        }
    }
}
