//! Charts as folders and archives in each kind of registry.

use std::path::Path;

use common::api::error::ErrorCode;
use serde_json::json;
use tempfile::TempDir;

use super::{FILES, resolve, type_name};
use crate::support::alone::{Alone, list_files, options};
use crate::support::chart::{contents, files, packed, provenance};
use crate::support::each_kind::{EachKind, REGISTRIES};
use crate::support::loopback::Loopback;

fn write(root: &Path, path: &str, content: &[u8]) {
    let place = root.join(path);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(place, content).unwrap();
}

/// Files that a chart has as others: only `.helmignore` says which of them do not count.
const HIDDEN: [&str; 3] = [".helmignore", "files/.env", "files/.d/a"];

/// `web` as a folder in two versions, one of them with bytes that are no text and with hidden files; `db` packed, as Helm calls it.
fn tree() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files("web", "1.0.0") {
        write(
            folder.path(),
            &format!("web/v1.0.0/{path}"),
            text.as_bytes(),
        );
        write(
            folder.path(),
            &format!("web/v1.1.0/{path}"),
            text.as_bytes(),
        );
    }
    write(folder.path(), "web/v1.1.0/files/a.bin", &[0, 255]);
    for hidden in HIDDEN {
        write(folder.path(), &format!("web/v1.1.0/{hidden}"), b"x");
    }
    write(folder.path(), "db/v1/db-1.0.0.tgz", &packed("db", "1.0.0"));
    write(folder.path(), "own/v1/own.tgz", &packed("own", "1.0.0"));
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chart_is_a_template_in_each_kind_of_registry() {
    let folder = tree();
    let served = EachKind::serve(folder.path()).await;
    let alone = &served.alone;
    let mut digests = Vec::new();
    for registry in REGISTRIES {
        for name in ["db:v1", "own:v1", "web:v1.0"] {
            let reference = format!("{registry}/{name}");
            let resolved = resolve(alone, &reference).await.unwrap();
            assert_eq!(contents(&resolved), FILES, "{reference}");
            let described = alone.describe(&type_name(&reference)).await.unwrap();
            let schema = described.schema.unwrap();
            assert_eq!(schema["properties"]["image"]["default"], "nginx");
        }
        let resolved = resolve(alone, &format!("{registry}/web:v1.1"))
            .await
            .unwrap();
        for file in HIDDEN.into_iter().chain(["files/a.bin"]) {
            assert!(contents(&resolved).contains(&file.to_owned()), "{file}");
        }
        let listed = resolved.resolved.files.iter();
        let names: Vec<_> = listed.map(|file| file.name.clone()).collect();
        assert_eq!(names.len(), 8, "{names:?}");
        assert!(names[0].ends_with("web/v1.1.0/.helmignore"), "{names:?}");
        digests.push(resolved.resolved.sha256);
    }
    digests.dedup();
    assert_eq!(digests.len(), 1, "the same files have one digest");
}

#[tokio::test]
async fn a_chart_may_be_the_folder_of_its_template() {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files("web", "1.2.0") {
        write(folder.path(), &format!("web/{path}"), text.as_bytes());
    }
    let alone = Alone::new(&options(folder.path().to_str().unwrap()))
        .await
        .unwrap();
    let resolved = resolve(&alone, "web:v1.2").await.unwrap();
    assert_eq!(resolved.resolved.version.as_deref(), Some("v1.2.0"));
    assert_eq!(contents(&resolved), FILES);
}

#[tokio::test]
async fn what_git_keeps_in_a_chart_is_no_part_of_it() {
    let folder = tree();
    write(folder.path(), "web/v1.0.0/.git/config", b"token");
    list_files(folder.path());
    let server = Loopback::serve(folder.path());
    let alone = Alone::new(&options(folder.path().to_str().unwrap()))
        .await
        .unwrap();
    let definition = json!({"type": "http", "url": server.address("files")});
    alone.register("web", definition).await;
    for reference in ["web:v1.0", "web/web:v1.0"] {
        let resolved = resolve(&alone, reference).await.unwrap();
        assert_eq!(contents(&resolved), FILES, "{reference}");
    }
}

#[tokio::test]
async fn provenance_beside_a_packed_chart_is_recorded() {
    let folder = tree();
    let (file, archive) = ("db-1.0.0.tgz", packed("db", "1.0.0"));
    let text = provenance(file, &archive);
    write(
        folder.path(),
        &format!("db/v1/{file}.prov"),
        text.as_bytes(),
    );
    let alone = Alone::new(&options(folder.path().to_str().unwrap()))
        .await
        .unwrap();
    let resolved = resolve(&alone, "db:v1").await.unwrap();
    let found = resolved.resolved.provenance.unwrap();
    assert!(found.url.ends_with("/db-1.0.0.tgz.prov") && !found.verified);
}

#[tokio::test]
async fn a_chart_with_too_many_files_or_a_link_is_refused() {
    let folder = tree();
    for number in 0..=2_000 {
        write(folder.path(), &format!("web/v1.0.0/files/{number}"), b"x");
    }
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("web/v1.1.0/templates/p"))
        .unwrap();
    let alone = Alone::new(&options(folder.path().to_str().unwrap()))
        .await
        .unwrap();
    for (reference, says) in [("web:v1.0", "2000"), ("web:v1.1", "is a link")] {
        let error = resolve(&alone, reference).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidConfiguration, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
}
