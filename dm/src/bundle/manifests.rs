//! Kubernetes objects as they stand: a folder of files with them, made one text.
//!
//! Each file is read here as well, so that a fault names the user's file. It refuses to know what the objects mean.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use common::manifests::{self, ENDINGS, ManifestError, Object};

use super::files::{self, ReadError};
use super::{BundleError, TOTAL_BYTES};

/// Folders within one another; a link that leads back to its own folder ends here.
const DEPTH: usize = 16;
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

#[derive(Debug, thiserror::Error)]
pub enum ManifestsError {
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error(
        "{file} is a kustomization, which dm does not build; write: kubectl kustomize {folder} | dm deploy - --name NAME"
    )]
    Kustomization { file: String, folder: String },
    #[error(
        "{folder} has no Kubernetes object; put files with objects into it whose names end in .yaml, .yml or .json"
    )]
    NoObjects { folder: String },
    #[error("{folder} is nested deeper than {DEPTH} folders; deploy a folder within it")]
    TooDeep { folder: String },
    #[error("{file} cannot be put together with the other files; remove its YAML directives (%…)")]
    Directive { file: String },
}

/// A folder's objects as one text, and what it was put together from.
#[derive(Debug)]
pub struct Manifests {
    pub text: String,
    pub files: Vec<ManifestFile>,
}

#[derive(Debug)]
pub struct ManifestFile {
    /// As the user would write it.
    pub shown: String,
    pub content: String,
    /// Where the content begins in the text, from 1.
    pub first_line: u32,
}

/// Checks the objects of a file: each is one, and none is there twice.
pub fn check(file: &str, text: &str) -> Result<(), ManifestsError> {
    manifests::named(manifests::read(file, text)?)?;
    Ok(())
}

/// Reads all files of objects in a folder and below, in the order of their paths. Hidden ones are left out.
pub fn read(folder: &Path) -> Result<Manifests, BundleError> {
    let mut paths = Vec::new();
    find(folder, DEPTH, &mut paths)?;
    paths.sort();
    let mut whole = Manifests {
        text: String::new(),
        files: Vec::new(),
    };
    let mut objects = Vec::new();
    for path in paths {
        let shown = path.display().to_string();
        let content = File::open(&path)
            .map_err(|error| ReadError::Other(error.to_string()))
            .and_then(files::text)
            .map_err(|reason| unreadable(&shown, reason))?;
        objects.extend(objects_of(&shown, &content)?);
        let relative = path.strip_prefix(folder).unwrap_or(&path);
        whole.add(relative, shown, content)?;
    }
    if objects.is_empty() {
        let folder = folder.display().to_string();
        return Err(ManifestsError::NoObjects { folder }.into());
    }
    manifests::named(objects).map_err(ManifestsError::from)?;
    Ok(whole)
}

fn objects_of(shown: &str, content: &str) -> Result<Vec<Object>, ManifestsError> {
    if content.trim_start_matches('\u{feff}').starts_with('%') {
        let file = shown.to_owned();
        return Err(ManifestsError::Directive { file });
    }
    Ok(manifests::read(shown, content)?)
}

impl Manifests {
    fn add(&mut self, path: &Path, shown: String, content: String) -> Result<(), BundleError> {
        let header = format!("---\n# Source: {}\n", path.display());
        self.text.push_str(&header);
        let first_line = self.text.lines().count() + 1;
        self.text.push_str(content.trim_start_matches('\u{feff}'));
        if !content.ends_with('\n') {
            self.text.push('\n');
        }
        if self.text.len() > TOTAL_BYTES {
            return Err(BundleError::TooLarge);
        }
        self.files.push(ManifestFile {
            shown,
            content,
            first_line: u32::try_from(first_line).unwrap_or(u32::MAX),
        });
        Ok(())
    }
}

fn find(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), BundleError> {
    let shown = || folder.display().to_string();
    if depth == 0 {
        return Err(ManifestsError::TooDeep { folder: shown() }.into());
    }
    let unread = |error: io::Error| unreadable(&shown(), ReadError::Other(error.to_string()));
    for entry in folder.read_dir().map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        if KUSTOMIZATIONS.contains(&&*name) {
            let (file, folder) = (path.display().to_string(), shown());
            return Err(ManifestsError::Kustomization { file, folder }.into());
        }
        if path.is_dir() {
            find(&path, depth - 1, found)?;
        } else if ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
    Ok(())
}

fn unreadable(file: &str, reason: ReadError) -> BundleError {
    BundleError::File {
        file: file.to_owned(),
        reason,
        asked: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(kind: &str, name: &str) -> String {
        format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}}}\n")
    }

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let place = folder.path().join(path);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, content).unwrap();
        }
        folder
    }

    #[test]
    fn a_folder_is_one_text_in_the_order_of_its_paths() {
        let (a, b) = (object("Pod", "a"), object("Pod", "b"));
        let files = [
            ("b.yml", &*b),
            ("a/a.yaml", a.trim_end()),
            (".hidden.yaml", "x"),
            (
                "c.json",
                "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"c\"}}",
            ),
            ("README.md", "x"),
            ("none.yaml", "# nothing\n"),
        ];
        let folder = folder(&files);
        let whole = read(folder.path()).unwrap();
        let names: Vec<_> = manifests::read("", &whole.text)
            .unwrap()
            .into_iter()
            .map(|object| object.value["metadata"]["name"].clone())
            .collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert!(
            whole
                .text
                .starts_with("---\n# Source: a/a.yaml\napiVersion")
        );
        for file in &whole.files {
            let first = whole.text.lines().nth(file.first_line as usize - 1);
            assert_eq!(first, file.content.lines().next());
        }
    }

    #[test]
    fn what_is_wrong_with_a_folder_names_the_file() {
        let a = object("Pod", "a");
        for (files, expected) in [
            (&[("README.md", "x")][..], &["no Kubernetes object"][..]),
            (&[("a.yaml", "# nothing\n")], &["no Kubernetes object"]),
            (
                &[("a.yaml", &*a), ("d/values.yaml", "x: 1\n")],
                &["d/values.yaml:1", "no apiVersion"],
            ),
            (
                &[("a.yaml", &a), ("d/b.yaml", &a)],
                &["a.yaml:1", "d/b.yaml:1", "Pod a"],
            ),
            (
                &[
                    ("a.yaml", &a),
                    ("kustomization.yaml", "resources: [a.yaml]"),
                ],
                &["kubectl kustomize"],
            ),
            (
                &[("a.yaml", "%YAML 1.1\n---\na: 1\n")],
                &["a.yaml", "directives"],
            ),
            (&[("a.yaml", "a: [")], &["a.yaml", "line"]),
        ] {
            let error = read(folder(files).path()).unwrap_err().to_string();
            for expected in expected {
                assert!(error.contains(expected), "{expected} is not in: {error}");
            }
        }
    }

    #[test]
    fn a_link_that_leads_back_ends() {
        let folder = folder(&[("a.yaml", &object("Pod", "a"))]);
        std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).unwrap();
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("deeper than"), "{error}");
    }
}
