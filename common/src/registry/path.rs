//! The path of a file within a registry: relative, and unable to leave it.

use std::fmt;

/// Zero or more names joined by `/`. The empty path is the root.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePath(String);

/// Why a text is not a path within a registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a path within a registry: {rule}")]
pub struct PathError {
    text: String,
    rule: &'static str,
}

const PATH_CHARS: usize = 500;

impl FilePath {
    pub fn root() -> Self {
        Self::default()
    }

    /// `.` is dropped. Anything that could lead out of the registry is rejected.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let refused = |rule| PathError {
            text: text.chars().take(80).collect(),
            rule,
        };
        if text.chars().count() > PATH_CHARS {
            return Err(refused("it is longer than 500 characters"));
        }
        if text.starts_with('/') || text.contains("://") {
            return Err(refused("it must be relative"));
        }
        let names: Vec<_> = text.split('/').filter(|&name| name != ".").collect();
        for name in &names {
            check(name).map_err(refused)?;
        }
        Ok(Self(names.join("/")))
    }

    /// The path of `below` relative to this folder.
    pub fn join(&self, below: &FilePath) -> FilePath {
        match (self.0.is_empty(), below.0.is_empty()) {
            (true, _) => below.clone(),
            (_, true) => self.clone(),
            (false, false) => FilePath(format!("{}/{}", self.0, below.0)),
        }
    }

    /// [`Self::join`] for a text that is checked.
    pub fn join_text(&self, below: &str) -> Result<FilePath, PathError> {
        Ok(self.join(&Self::parse(below)?))
    }

    /// The folder of this path.
    pub fn parent(&self) -> FilePath {
        let folder = self.0.rsplit_once('/').map_or("", |(folder, _)| folder);
        FilePath(folder.to_owned())
    }

    /// The same path with an ending, such as `.schema`.
    pub fn with_ending(&self, ending: &str) -> FilePath {
        FilePath(format!("{}{ending}", self.0))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|name| !name.is_empty())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn check(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("it has an empty part");
    }
    if name == ".." {
        return Err("'..' leads out of its folder");
    }
    if name.starts_with('.') {
        return Err("names that begin with '.' are hidden");
    }
    if name.contains(|c: char| c == '\\' || c.is_control()) {
        return Err("it has a control character or a backslash");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_relative_and_cannot_climb_out() {
        for bad in [
            "",
            "/etc/passwd",
            "..",
            "a/../b",
            "a//b",
            "a/",
            "../a",
            ".git/config",
            "a\\b",
            "a\0",
            "file:///a",
        ] {
            assert!(FilePath::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(
            FilePath::parse("./a/./b c.py").unwrap().as_str(),
            "a/b c.py"
        );
    }

    #[test]
    fn paths_join_and_split() {
        let file = FilePath::root().join_text("a/b.py").unwrap();
        assert_eq!(file.parent().as_str(), "a");
        assert_eq!(file.parent().parent(), FilePath::root());
        assert_eq!(file.parent().join_text("c/d").unwrap().as_str(), "a/c/d");
        assert_eq!(file.with_ending(".schema").as_str(), "a/b.py.schema");
        assert_eq!(FilePath::root().names().count(), 0);
    }
}
