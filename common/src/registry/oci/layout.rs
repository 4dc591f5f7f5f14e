//! The layout of templates in an OCI registry.
//!
//! Repositories and tags allow fewer names than folders do: lower-case letters, digits and separators. In a path, the
//! first part after another part that is a version becomes the tag. The parts before it are the repository, the parts
//! after it are inside of the artifact.

use super::place::is_component;
use crate::model::Version;
use crate::registry::FilePath;

/// The tag of the files at the registry's root. No template can have this name.
pub const ROOT_TAG: &str = "_root";
/// Separates the parts of a path in a tag. No part of a repository's name contains it.
const JOIN: &str = "..";
const TAG_CHARS: usize = 128;
const REPOSITORY_CHARS: usize = 255;

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
    /// The root, or a path above all versions: a collection, a template, or a file at the root.
    Above,
    /// A path in a version. Empty for the version itself.
    Within {
        template: FilePath,
        version: String,
        path: FilePath,
    },
}

pub fn spot(path: &FilePath) -> Spot {
    let names: Vec<&str> = path.names().collect();
    let found = names.iter().skip(1).position(|name| is_version(name));
    match found {
        None => Spot::Above,
        Some(before) => {
            let at = before + 1;
            Spot::Within {
                template: joined(&names[..at]),
                version: names[at].to_owned(),
                path: joined(&names[at + 1..]),
            }
        }
    }
}

/// Parts of a valid path are valid.
fn joined(names: &[&str]) -> FilePath {
    FilePath::listed(&names.join("/")).unwrap_or_default()
}

pub fn is_version(name: &str) -> bool {
    name.parse::<Version>().is_ok()
}

/// The repository of a folder; `None` if no repository can have such a name.
pub fn repository(prefix: &str, folder: &FilePath) -> Option<String> {
    let mut name = prefix.to_owned();
    for part in folder.names() {
        if !is_component(part) {
            return None;
        }
        if !name.is_empty() {
            name.push('/');
        }
        name.push_str(part);
    }
    (name.len() <= REPOSITORY_CHARS).then_some(name)
}

/// The tag of a template in the index. `None` if its name cannot be a tag.
pub fn index_tag(template: &FilePath) -> Option<String> {
    let names: Vec<&str> = template.names().collect();
    let tag = names.join(JOIN);
    let fits = !names.is_empty() && names.iter().all(|name| is_component(name));
    (fits && tag.len() <= TAG_CHARS).then_some(tag)
}

/// The template of a tag in the index.
pub fn template_of(index_tag: &str) -> Option<FilePath> {
    let names: Vec<&str> = index_tag.split(JOIN).collect();
    names
        .iter()
        .all(|name| is_component(name))
        .then(|| joined(&names))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> FilePath {
        match text {
            "" => FilePath::root(),
            text => FilePath::parse(text).unwrap(),
        }
    }

    #[test]
    fn the_first_version_in_a_path_is_a_tag() {
        for above in ["", "a", "db/redis", "v1", "README.md", "a/b/c"] {
            assert_eq!(spot(&path(above)), Spot::Above, "{above}");
        }
        for (text, template, version, within) in [
            ("a/v1", "a", "v1", ""),
            ("db/redis/v1.0.1/redis.py", "db/redis", "v1.0.1", "redis.py"),
            ("a/v1/lib/v2/x", "a", "v1", "lib/v2/x"),
            ("v1/v2/x", "v1", "v2", "x"),
        ] {
            let expected = Spot::Within {
                template: path(template),
                version: version.to_owned(),
                path: path(within),
            };
            assert_eq!(spot(&path(text)), expected, "{text}");
        }
    }

    #[test]
    fn a_template_is_a_repository_and_a_tag_of_the_index() {
        let redis = path("db/redis");
        assert_eq!(repository("p/q", &redis).as_deref(), Some("p/q/db/redis"));
        assert_eq!(repository("p", &FilePath::root()).as_deref(), Some("p"));
        assert_eq!(index_tag(&redis).as_deref(), Some("db..redis"));
        assert_eq!(template_of("db..redis"), Some(redis));
        assert_eq!(template_of(ROOT_TAG), None);
        for bad in ["Big", "a b", "x.-y"] {
            assert_eq!(repository("p", &path(bad)), None, "{bad}");
            assert_eq!(index_tag(&path(bad)), None, "{bad}");
        }
        assert_eq!(index_tag(&path(&"a".repeat(129))), None);
    }
}
