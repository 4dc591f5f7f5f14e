//! The promises of every adapter, and the results of references: with real servers on loopback.
//!
//! For a new adapter, serve the tree of [`promised_tree`] and call [`gives_files`] and [`lists_folders`] (in
//! `adapters`).

mod adapters;
mod away;
mod cached;
mod catalog;
mod faults;
mod references;
use std::path::Path;

use common::api::error::ErrorCode;
use common::model::TypeName;
use common::registry::{FILE_BYTES, FilePath};
use manager_registry::Options;
use manager_registry::adapter::{Entry, EntryKind, Files, Registry};
use tempfile::TempDir;

use crate::support::alone::{Alone, alone, options};
use crate::support::loopback::Loopback;

/// Two collections, the unnamed one and `db`, with one of each fault.
const TREE: &[(&str, &str)] = &[
    ("README.md", "a registry"),
    ("a/v1/a.py", "first"),
    ("a/v1.0.1/a.py", "fixed"),
    ("a/v1.0.1/example.yaml", "resources: []\n"),
    (
        "a/v1.0.1/a.py.schema",
        "info: {title: A, description: The a.}\nimports:\n- path: helper.py\n- path: ./lib/more.py\n- path: a.py\n",
    ),
    ("a/v1.0.1/helper.py", "helper"),
    ("a/v1.0.1/lib/more.py", "more"),
    ("a/v1.1/a.jinja", "minor"),
    ("db/a/v3/a.jinja", "of the collection db"),
    ("db/redis/v1/redis.jinja", "redis"),
    ("faults/two/v1/two.py", ""),
    ("faults/two/v1/two.jinja", ""),
    ("faults/none/v1/other.py", ""),
    ("faults/same/v1/same.py", ""),
    ("faults/same/v1.0/same.py", ""),
    ("faults/missing/v1/missing.py", ""),
    (
        "faults/missing/v1/missing.py.schema",
        "imports: [{path: gone.py}]",
    ),
    ("faults/climbs/v1/climbs.py", ""),
    (
        "faults/climbs/v1/climbs.py.schema",
        "imports: [{path: ../../../a/v1/a.py}]",
    ),
    ("faults/broken/v1/broken.py", ""),
    ("faults/broken/v1/broken.py.schema", "a: [\n"),
    ("faults/shape/v1/shape.py", ""),
    ("faults/shape/v1/shape.py.schema", "imports: [helper.py]"),
    ("deep/er/than/v1/than.py", "not discovered"),
];

fn tree() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in TREE {
        write(folder.path(), path, content);
    }
    folder
}

fn write(root: &Path, path: &str, content: &str) {
    let place = root.join(path);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(place, content).unwrap();
}

fn path(text: &str) -> FilePath {
    FilePath::parse(text).unwrap()
}

fn type_name(text: &str) -> TypeName {
    TypeName::parse(text).unwrap()
}

/// The tree, with a file of the maximum size, and one that is larger.
fn promised_tree() -> TempDir {
    let folder = tree();
    std::fs::write(folder.path().join("largest"), vec![b' '; FILE_BYTES]).unwrap();
    std::fs::write(folder.path().join("too-large"), vec![b' '; FILE_BYTES + 1]).unwrap();
    folder
}

async fn gives_files(files: &dyn Files) {
    let read = async |text: &str| files.read(&path(text)).await;
    assert_eq!(
        read("README.md").await.unwrap().as_deref(),
        Some(&b"a registry"[..])
    );
    assert_eq!(
        read("a/v1.0.1/lib/more.py").await.unwrap().as_deref(),
        Some(&b"more"[..])
    );
    for absent in ["nothing", "a/v9/a.py", "README.md/x", "a/v1"] {
        assert_eq!(read(absent).await.unwrap(), None, "{absent}");
    }
    assert_eq!(
        read("largest").await.unwrap().map(|bytes| bytes.len()),
        Some(FILE_BYTES)
    );
    let error = read("too-large").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidConfiguration, "{error}");
    assert!(error.to_string().contains("too-large"), "{error}");
    assert_ne!(files.path_of(&path("a/b")), files.path_of(&path("a/c")));
}

async fn lists_folders(registry: &dyn Registry) {
    let entries = registry.entries(&path("a/v1.0.1")).await.unwrap().unwrap();
    let named = |entry: &Entry| (entry.name.clone(), entry.kind);
    let expected = [
        ("a.py", EntryKind::File),
        ("a.py.schema", EntryKind::File),
        ("example.yaml", EntryKind::File),
        ("helper.py", EntryKind::File),
        ("lib", EntryKind::Folder),
    ];
    let found: Vec<_> = entries.iter().map(named).collect();
    assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
    assert!(
        registry
            .entries(&FilePath::root())
            .await
            .unwrap()
            .unwrap()
            .len()
            >= 5
    );
    for absent in ["nothing", "a/v9", "README.md"] {
        assert_eq!(
            registry.entries(&path(absent)).await.unwrap(),
            None,
            "{absent}"
        );
    }
}

/// Registries whose default is the tree: on disk, and through GitHub's API.
async fn registries(folder: &Path, server: &Loopback) -> [Alone; 2] {
    let options = |registry: &str| Options {
        github_api_url: server.url.join("api").unwrap().into(),
        ..options(registry)
    };
    let (disk, remote) = (options(folder.to_str().unwrap()), options("owner/repo"));
    [alone(&disk).await.unwrap(), alone(&remote).await.unwrap()]
}
