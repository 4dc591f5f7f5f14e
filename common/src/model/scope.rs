//! Short template references, and which registry they mean.
//!
//! `redis:v1` in a caller's configuration is a template of the default registry. In a template of another registry it
//! is that registry's: its authors know their own templates, and not what the default is where they are used.

use serde::{Deserialize, Serialize};

use super::name::TypeName;
use super::version::Version;

const PART_CHARS: usize = 100;

/// The registry and the collection of a template: what short references within it are relative to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Scope {
    /// As references begin: `github.com/<owner>/<repository>`, or a registered registry's name.
    pub registry: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collection: Option<String>,
}

impl Scope {
    /// The full reference that a short one means here: of the same collection, or of the one that it names. `None` if it
    /// is no short reference: then it means everywhere the same.
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

/// A name that is a folder's name on every kind of registry and needs no quoting in a reference.
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
