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

    /// A path that somebody wrote. `.` is dropped. Hidden files, and anything that could lead out of the registry, are
    /// rejected.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        Self::checked(text, check)
    }

    /// A path in a list of a registry's files. It may be of a hidden file, which charts have, but not of git's own.
    pub fn listed(text: &str) -> Result<Self, PathError> {
        Self::checked(text, check_listed)
    }

    fn checked(
        text: &str,
        check: impl Fn(&str) -> Result<(), &'static str>,
    ) -> Result<Self, PathError> {
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

    /// [`Self::join`] for the name of a file or folder in a list.
    pub fn join_listed(&self, name: &str) -> Result<FilePath, PathError> {
        Ok(self.join(&Self::listed(name)?))
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
    if name.starts_with('.') && name != ".." {
        return Err("names that begin with '.' are hidden");
    }
    check_listed(name)
}

fn check_listed(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("it has an empty part");
    }
    if name == ".." {
        return Err("'..' leads out of its folder");
    }
    if is_of_git(name) {
        return Err("it leads into the folder in which git keeps its own files");
    }
    if name.contains(|c: char| c == '\\' || c.is_control()) {
        return Err("it has a control character or a backslash");
    }
    Ok(())
}

/// Whether this is the folder in which git keeps its own files, credentials among them.
#[must_use]
pub fn is_of_git(name: &str) -> bool {
    name.eq_ignore_ascii_case(".git")
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
    fn a_list_may_have_hidden_files_and_none_of_git() {
        let chart = FilePath::parse("web/v1").unwrap();
        let file = chart.join_listed(".helmignore").unwrap();
        assert_eq!(file.as_str(), "web/v1/.helmignore");
        assert!(FilePath::parse(file.as_str()).is_err());
        for bad in ["..", "a/../b", ".git/config", "a/.GIT/config", "/a", ""] {
            assert!(FilePath::listed(bad).is_err(), "{bad:?}");
        }
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
