//! All files of a registry by path, from one listing: the entries of folders, and the name of each content.

use std::collections::{BTreeMap, HashMap};

use common::registry::FilePath;
use sha2::{Digest as _, Sha256};

use crate::adapter::{Entry, EntryKind};

/// Files of one registry: 1,000 templates with 5 versions have about 20,000.
pub const FILES: usize = 200_000;

#[derive(Debug, Default)]
pub struct Tree {
    /// Identifies the contents of each file: equal only for equal contents.
    contents: HashMap<FilePath, String>,
    folders: HashMap<FilePath, Vec<Entry>>,
}

#[derive(Default)]
struct Folder {
    entries: BTreeMap<String, EntryKind>,
    digest: Sha256,
}

impl Tree {
    /// From paths with the identifiers of their contents. Folders follow from the files in them.
    pub fn new(mut files: Vec<(FilePath, String)>) -> Self {
        files.sort_unstable();
        let mut folders: HashMap<FilePath, Folder> = HashMap::new();
        folders.entry(FilePath::root()).or_default();
        for (path, content) in &files {
            add(&mut folders, path, content);
        }
        let digests: HashMap<_, _> = folders
            .iter()
            .map(|(path, folder)| (path.clone(), hex(folder.digest.clone())))
            .collect();
        let entries = |(path, folder): (FilePath, Folder)| {
            let entry = |(name, kind): (String, EntryKind)| {
                let below = path.join_listed(&name).ok();
                let revision = below.and_then(|below| digests.get(&below).cloned());
                Entry {
                    name,
                    kind,
                    revision,
                }
            };
            let entries = folder.entries.into_iter().map(entry).collect();
            (path, entries)
        };
        let folders = folders.into_iter().map(entries).collect();
        Self {
            contents: files.into_iter().collect(),
            folders,
        }
    }

    /// In the order of names. `None` if there is no such folder.
    pub fn entries(&self, folder: &FilePath) -> Option<Vec<Entry>> {
        self.folders.get(folder).cloned()
    }

    /// The identifier of the file's contents.
    pub fn content(&self, file: &FilePath) -> Option<&str> {
        self.contents.get(file).map(String::as_str)
    }
}

/// Adds the file to every folder above it.
fn add(folders: &mut HashMap<FilePath, Folder>, path: &FilePath, content: &str) {
    let names: Vec<_> = path.names().collect();
    let mut folder = FilePath::root();
    for (depth, name) in names.iter().enumerate() {
        let last = depth + 1 == names.len();
        let around = folders.entry(folder.clone()).or_default();
        let kind = match last {
            true => EntryKind::File,
            false => EntryKind::Folder,
        };
        around.entries.insert((*name).to_owned(), kind);
        for part in &names[depth..] {
            around.digest.update(part.as_bytes());
            around.digest.update([0]);
        }
        around.digest.update(content.as_bytes());
        around.digest.update([0]);
        if let Ok(below) = folder.join_listed(name) {
            folder = below;
        }
    }
}

fn hex(digest: Sha256) -> String {
    let bytes = digest.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> FilePath {
        FilePath::parse(text).unwrap()
    }

    fn tree(files: &[(&str, &str)]) -> Tree {
        let file = |(name, content): &(&str, &str)| (path(name), (*content).to_owned());
        Tree::new(files.iter().map(file).collect())
    }

    fn revision(tree: &Tree, folder: &str) -> String {
        let (parent, name) = (path(folder).parent(), folder.rsplit('/').next().unwrap());
        let entries = tree.entries(&parent).unwrap();
        let found = entries.iter().find(|entry| entry.name == name).unwrap();
        found.revision.clone().unwrap()
    }

    #[test]
    fn folders_follow_from_files() {
        let tree = tree(&[("b/v1/b.py", "1"), ("a.txt", "2"), ("b/v1/c/d", "3")]);
        let names = |folder: &FilePath| -> Vec<_> {
            let entries = tree.entries(folder).unwrap();
            entries.into_iter().map(|e| (e.name, e.kind)).collect()
        };
        let (file, folder) = (EntryKind::File, EntryKind::Folder);
        assert_eq!(
            names(&FilePath::root()),
            [("a.txt".to_owned(), file), ("b".to_owned(), folder)]
        );
        assert_eq!(
            names(&path("b/v1")),
            [("b.py".to_owned(), file), ("c".to_owned(), folder)]
        );
        assert_eq!(tree.entries(&path("a.txt")), None);
        assert_eq!(tree.content(&path("b/v1/c/d")), Some("3"));
        assert_eq!(tree.content(&path("b/v1")), None);
        assert_eq!(
            Tree::new(Vec::new()).entries(&FilePath::root()),
            Some(vec![])
        );
    }

    #[test]
    fn a_folders_revision_changes_with_what_is_in_it_and_only_then() {
        let before = tree(&[("a/v1/a", "1"), ("b/v1/b", "1")]);
        let after = tree(&[("a/v1/a", "2"), ("b/v1/b", "1")]);
        assert_ne!(revision(&before, "a/v1"), revision(&after, "a/v1"));
        assert_ne!(revision(&before, "a"), revision(&after, "a"));
        assert_eq!(revision(&before, "b"), revision(&after, "b"));
    }
}
