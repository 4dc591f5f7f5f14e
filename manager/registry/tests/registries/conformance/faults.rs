//! Faults of references, registries and servers: the error names each of them, and none leads to wrong files.

use common::api::error::ErrorCode;

use crate::conformance::adapters::http;
use crate::conformance::{Files, Loopback, path, registries, tree, type_name};

#[tokio::test]
async fn redirects_stay_on_their_host_and_end() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let readme = path("README.md");
    assert!(
        http(&server, "within/")
            .read(&readme)
            .await
            .unwrap()
            .is_some()
    );
    let away = http(&server, "away/").read(&readme).await.unwrap_err();
    assert!(away.to_string().contains("elsewhere.invalid"), "{away}");
    assert_eq!(away.code(), ErrorCode::InvalidConfiguration);
    let around = http(&server, "around/").read(&readme).await.unwrap_err();
    assert!(around.to_string().contains("redirects"), "{around}");
}

#[tokio::test]
async fn a_body_without_end_is_cut_and_a_broken_server_is_unavailable() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let root = http(&server, "");
    let endless = root.read(&path("endless.py")).await.unwrap_err();
    assert!(endless.to_string().contains("larger than"), "{endless}");
    let broken = root.read(&path("broken.py")).await.unwrap_err();
    assert_eq!(broken.code(), ErrorCode::RegistryUnavailable, "{broken}");
}

#[tokio::test]
async fn every_fault_of_a_reference_or_a_registry_is_named() {
    use ErrorCode::{InvalidSchema, TemplateNotFound, UnknownType};
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let gone = server.url.join("files/gone.py").unwrap();
    for registries in registries(folder.path(), &server).await {
        for (reference, code, named) in [
            (
                "a:v7",
                TemplateNotFound,
                &["'a'", "v7.0.0", "v1, v1.0.1, v1.1"][..],
            ),
            ("nothing:v1", TemplateNotFound, &["'nothing'", "a, db"]),
            (
                "db/nothing:v1",
                TemplateNotFound,
                &["db/nothing", "a, redis"],
            ),
            (
                "other/a:v1",
                TemplateNotFound,
                &["'other' is neither", "db"],
            ),
            (
                "github.com/owner/none/a:v1",
                TemplateNotFound,
                &["github.com/owner/none", "not public"],
            ),
            ("faults/two:v1", TemplateNotFound, &["two.py", "two.jinja"]),
            (
                "faults/none:v1",
                TemplateNotFound,
                &["faults/none/v1", "none.py"],
            ),
            ("faults/same:v1", TemplateNotFound, &["'v1'", "'v1.0'"]),
            (
                "faults/missing:v1",
                InvalidSchema,
                &["missing.py.schema", "gone.py"],
            ),
            ("faults/climbs:v1", InvalidSchema, &["climbs.py.schema"]),
            (
                "faults/broken:v1",
                InvalidSchema,
                &["broken.py.schema", "line"],
            ),
            (
                "faults/shape:v1",
                InvalidSchema,
                &["shape.py.schema", "{path: helper.py}"],
            ),
            ("github.com/a/b:v1", UnknownType, &["<template>:<version>"]),
            (gone.as_str(), TemplateNotFound, &["gone.py"]),
        ] {
            let error = registries.resolve(&type_name(reference)).await.unwrap_err();
            assert_eq!(error.code(), code, "{reference}: {error}");
            for named in named {
                assert!(
                    error.to_string().contains(named),
                    "{reference}: {named} is not in: {error}"
                );
            }
        }
    }
}
