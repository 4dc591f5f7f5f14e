//! The sources of a bundle's files: a folder, an archive, or one over another. Every read is bounded.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::chart;

/// The limit of a file is that of the largest YAML text that the services read.
pub const FILE_BYTES: usize = common::yaml::Limits::DEFAULT.bytes;

pub enum Files {
    /// Paths are relative to this folder. The empty path is the current folder.
    Folder(PathBuf),
    Archive(BTreeMap<String, String>),
    /// The files of the first, then those of the second.
    Over(Rc<Files>, Rc<Files>),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("there is no such file")]
    Missing,
    #[error("it is larger than {FILE_BYTES} bytes")]
    TooLarge,
    #[error("it is not UTF-8 text")]
    NotText,
    #[error("{0}")]
    Other(String),
}

impl Files {
    pub fn read(&self, path: &str) -> Result<String, ReadError> {
        match self {
            Self::Folder(folder) if self.is_chart(path) => chart::read(&folder.join(path)),
            Self::Folder(folder) => match File::open(folder.join(path)) {
                Ok(file) => text(file),
                Err(error) if error.kind() == ErrorKind::NotFound => Err(ReadError::Missing),
                Err(error) => Err(ReadError::Other(error.to_string())),
            },
            Self::Archive(files) => files.get(path).cloned().ok_or(ReadError::Missing),
            Self::Over(first, second) => match first.read(path) {
                Err(ReadError::Missing) => second.read(path),
                read => read,
            },
        }
    }

    /// Whether the path is a Helm chart: a packed one, or a folder.
    pub fn is_chart(&self, path: &str) -> bool {
        match self {
            Self::Folder(folder) => {
                let place = folder.join(path);
                path.ends_with(chart::ENDING) && place.is_file() || chart::is_chart(&place)
            }
            Self::Archive(_) => false,
            Self::Over(first, second) => first.is_chart(path) || second.is_chart(path),
        }
    }

    pub fn has(&self, path: &str) -> bool {
        match self {
            Self::Folder(folder) => folder.join(path).is_file(),
            Self::Archive(files) => files.contains_key(path),
            Self::Over(first, second) => first.has(path) || second.has(path),
        }
    }

    /// The names of the files directly in a folder, sorted. The folder of all is `.`.
    pub fn names(&self, folder: &str) -> Result<BTreeSet<String>, ReadError> {
        match self {
            Self::Folder(root) => names_in(&root.join(folder)),
            Self::Archive(files) => {
                let within = |path: &String| {
                    let name = match folder {
                        "." => path.as_str(),
                        folder => path.strip_prefix(folder)?.strip_prefix('/')?,
                    };
                    (!name.contains('/')).then(|| name.to_owned())
                };
                Ok(files.keys().filter_map(within).collect())
            }
            Self::Over(first, second) => {
                let (first, second) = (first.names(folder)?, second.names(folder)?);
                Ok(first.into_iter().chain(second).collect())
            }
        }
    }

    /// The path for messages, as the user would write it.
    pub fn shown(&self, path: &str) -> String {
        match self {
            Self::Folder(folder) => folder.join(path).display().to_string(),
            Self::Archive(_) => path.to_owned(),
            Self::Over(first, _) if first.has(path) => first.shown(path),
            Self::Over(_, second) => second.shown(path),
        }
    }
}

fn names_in(folder: &Path) -> Result<BTreeSet<String>, ReadError> {
    let other = |error: io::Error| ReadError::Other(error.to_string());
    let entries = match folder.read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) => return Err(other(error)),
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        let entry = entry.map_err(other)?;
        if entry.path().is_file() {
            names.extend(entry.file_name().into_string());
        }
    }
    Ok(names)
}

/// Reads a whole text, up to the limit of a file.
pub fn text(reader: impl Read) -> Result<String, ReadError> {
    String::from_utf8(bytes(reader, FILE_BYTES)?).map_err(|_| ReadError::NotText)
}

/// Reads all bytes, up to a limit.
pub fn bytes(reader: impl Read, limit: usize) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    let bound = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    reader
        .take(bound)
        .read_to_end(&mut bytes)
        .map_err(|error| ReadError::Other(error.to_string()))?;
    if bytes.len() > limit {
        return Err(ReadError::TooLarge);
    }
    Ok(bytes)
}

/// `path` relative to the folder of `base`, with `.` removed and `..` resolved.
pub fn beside(base: &str, path: &str) -> String {
    let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
    let joined = if folder.is_empty() || path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{folder}/{path}")
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match (part, parts.last()) {
            ("..", Some(&last)) if last != ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let root = if joined.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_from_the_folder_of_the_file_that_asks() {
        for (base, path, expected) in [
            ("a.yaml", "t.py", "t.py"),
            ("dir/a.schema", "./h.py", "dir/h.py"),
            ("dir/a.schema", "../h.py", "h.py"),
            ("a.yaml", "../h.py", "../h.py"),
            ("a.yaml", "/abs/h.py", "/abs/h.py"),
        ] {
            assert_eq!(beside(base, path), expected);
        }
    }

    #[test]
    fn a_read_stops_at_its_limit() {
        assert_eq!(bytes(std::io::repeat(0), 10), Err(ReadError::TooLarge));
        assert_eq!(text(&b"\xff"[..]), Err(ReadError::NotText));
    }
}
