//! The file at the root of a registry that lists its collections.
//!
//! ```yaml
//! collections:
//!   big-data: templates/big-data
//!   signals: templates/signals
//! ```
//!
//! The file is `registry.yaml`. Without the file, or for a name that is not in it, a collection is the top-level folder
//! with its name. An unreadable file is an error, not a missing file: otherwise a mistake in it would lead references
//! to other folders.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{FilePath, PathError};
use crate::model::registry::scope::is_part;
use crate::yaml::{self, Duplicates, Limits};

pub const FILE: &str = "registry.yaml";
const KEY: &str = "collections";
const COLLECTIONS: usize = 1_000;
/// How many faults of the file one error lists.
const FAULTS: usize = 10;

/// Names of collections, and their folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collections(BTreeMap<String, FilePath>);

impl Collections {
    /// Reads the text of the file. Returns all faults in it.
    pub fn parse(text: &str) -> Result<Self, Vec<String>> {
        parse(text)
    }

    /// The folder of a collection. The folder may not exist.
    pub fn folder(&self, name: &str) -> Result<FilePath, PathError> {
        match self.0.get(name) {
            Some(folder) => Ok(folder.clone()),
            None => FilePath::parse(name),
        }
    }

    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

fn parse(text: &str) -> Result<Collections, Vec<String>> {
    let read = yaml::read(text, &Limits::DEFAULT, Duplicates::Error);
    let map = match read.map_err(|error| vec![error.to_string()])?.value {
        Value::Null => return Ok(Collections::default()),
        Value::Object(map) => map,
        _ => return Err(vec![format!("it must be a map like {KEY}: {{name: path}}")]),
    };
    let unknown = map.keys().filter(|key| *key != KEY);
    let mut faults: Vec<_> = unknown
        .map(|key| format!("'{key}' is not known; it may have '{KEY}'"))
        .collect();
    let found = match map.get(KEY) {
        None | Some(Value::Null) => BTreeMap::new(),
        Some(Value::Object(entries)) => folders(entries, &mut faults),
        Some(_) => {
            faults.push(format!("'{KEY}' must be a map of names to paths"));
            BTreeMap::new()
        }
    };
    if faults.is_empty() {
        return Ok(Collections(found));
    }
    faults.truncate(FAULTS);
    Err(faults)
}

fn folders(entries: &Map<String, Value>, faults: &mut Vec<String>) -> BTreeMap<String, FilePath> {
    if entries.len() > COLLECTIONS {
        faults.push(format!("it names more than {COLLECTIONS} collections"));
        return BTreeMap::new();
    }
    let mut found = BTreeMap::new();
    for (name, path) in entries {
        match folder(name, path) {
            Ok(folder) => {
                found.insert(name.clone(), folder);
            }
            Err(fault) => faults.push(format!("collection '{name}': {fault}")),
        }
    }
    found
}

fn folder(name: &str, path: &Value) -> Result<FilePath, String> {
    if !is_part(name) {
        return Err("this is not a name for a reference".to_owned());
    }
    let path = path.as_str().ok_or("its path must be a text")?;
    FilePath::parse(path.trim_end_matches('/')).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_their_paths_and_others_to_top_level_folders() {
        let collections = parse("collections: {big-data: templates/big-data/, root: .}").unwrap();
        let folder = |name: &str| collections.folder(name).unwrap().to_string();
        assert_eq!(folder("big-data"), "templates/big-data");
        assert_eq!(folder("root"), "");
        assert_eq!(folder("signals"), "signals");
        for empty in ["", "# nothing yet", "collections:", "collections: {}"] {
            assert_eq!(parse(empty), Ok(Collections::default()), "{empty:?}");
        }
    }

    #[test]
    fn all_faults_are_told_together() {
        let text =
            "colections: {}\ncollections: {a: ../b, 'c/d': e, f: 1, g: /etc, h: .git, ok: fine}";
        let faults = parse(text).unwrap_err().join("\n");
        for expected in ["'colections'", "'a'", "'c/d'", "'f'", "'g'", "'h'"] {
            assert!(faults.contains(expected), "{expected} is not in: {faults}");
        }
        assert!(!faults.contains("'ok'"), "{faults}");
    }

    #[test]
    fn what_is_no_such_file_says_what_one_looks_like() {
        for bad in [
            "[a]",
            "text",
            "collections: [a]",
            "a: b: c",
            "collections: {a: x, a: y}",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        let many: String = (0..=COLLECTIONS).map(|n| format!("  c{n}: p\n")).collect();
        assert!(parse(&format!("collections:\n{many}")).is_err());
    }
}
