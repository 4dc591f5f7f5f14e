//! Registered registries: found by name, of each type, with and without a credential.

use common::api::error::ErrorCode;
use common::model::{Credential, Secret, TypeName};
use manager_registry::{Options, RegistryError};
use serde_json::json;
use tempfile::TempDir;

use crate::support::alone::{Alone, list_files, options};
use crate::support::loopback::{Loopback, TOKEN};

fn tree() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in [
        ("a/v1/a.jinja", "one"),
        ("a/v1.0.1/a.jinja", "fixed"),
        ("db/b/v2/b.py", "of db"),
        ("db/b/v2/b.py.schema", "imports: [{path: h.py}]"),
        ("db/b/v2/h.py", "helper"),
    ] {
        let place = folder.path().join(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, content).unwrap();
    }
    list_files(folder.path());
    folder
}

fn type_name(text: &str) -> TypeName {
    TypeName::parse(text).unwrap()
}

async fn content(alone: &Alone, reference: &str) -> Result<String, RegistryError> {
    let resolved = alone.registries.resolve(&type_name(reference)).await?;
    Ok(resolved.imports[0].content.clone())
}

/// One registry of each type, all with the same files.
async fn each_kind(folder: &TempDir, server: &Loopback) -> Alone {
    let options = Options {
        registry_folder: Some(folder.path().to_owned()),
        github_api_url: server.url.join("api").unwrap().into(),
        ..options(folder.path().to_str().unwrap())
    };
    let alone = Alone::new(&options).await.unwrap();
    let files = server.address("files");
    alone
        .register("folder", json!({"type": "directory", "url": "."}))
        .await;
    alone
        .register("files", json!({"type": "http", "url": files}))
        .await;
    let hub = json!({"type": "github", "url": "https://github.com/owner/repo"});
    alone.register("hub", hub).await;
    alone
}

#[tokio::test]
async fn each_kind_is_found_by_its_name() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let alone = each_kind(&folder, &server).await;
    for name in ["folder", "files", "hub"] {
        let found = content(&alone, &format!("{name}/a:v1")).await;
        assert_eq!(found.unwrap(), "fixed", "{name}");
        let reference = type_name(&format!("{name}/db/b:v2"));
        let resolved = alone.registries.resolve(&reference).await.unwrap();
        let helper = &resolved.imports[2];
        assert_eq!(
            (helper.name.as_str(), helper.content.as_str()),
            (format!("{name}/db/b/v2/h.py").as_str(), "helper")
        );
        let scope = resolved.scope.unwrap();
        assert_eq!(
            scope.qualify("c:v1").unwrap().as_str(),
            format!("{name}/db/c:v1")
        );
        let listed = alone.registries.templates(name, None).await.unwrap();
        let names: Vec<_> = listed.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["a", "db/b"], "{name}");
        let holder = alone.registries.registry_of(&reference).await.unwrap();
        assert_eq!(holder.name, *name);
    }
    let known = alone.registries.list().await.unwrap();
    let names: Vec<_> = known
        .iter()
        .map(|registry| registry.name.as_str())
        .collect();
    assert_eq!(names, ["default", "files", "folder", "hub"]);
}

#[tokio::test]
async fn a_name_that_is_not_registered_is_a_collection() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let alone = each_kind(&folder, &server).await;
    assert_eq!(content(&alone, "db/b:v2").await.unwrap(), "of db");
}

#[tokio::test]
async fn a_name_that_no_registry_has_is_answered_with_those_that_there_are() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let alone = each_kind(&folder, &server).await;
    const THERE_ARE: &str = "the registries are default, files, folder, hub";
    let error = content(&alone, "foldre/db/b:v2").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::UnknownType, "{error}");
    let text = error.to_string();
    assert!(text.contains("did you mean 'folder'?"), "{error}");
    assert!(text.contains(THERE_ARE), "{error}");
    let error = content(&alone, "fils/a:v1").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TemplateNotFound, "{error}");
    let expected =
        "'fils' is neither a registry nor a collection of the default one; did you mean 'files'?";
    assert!(error.to_string().starts_with(expected), "{error}");
    assert!(
        error.to_string().ends_with("has the collections db"),
        "{error}"
    );
    for name in ["other", "Not A Name"] {
        let error = alone.registries.templates(name, None).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotFound, "{error}");
        assert!(error.to_string().contains(THERE_ARE), "{error}");
        assert!(!error.to_string().contains("did you mean"), "{error}");
    }
}

#[tokio::test]
async fn a_collection_of_its_definition_is_what_references_without_one_mean() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let alone = each_kind(&folder, &server).await;
    let url = server.address("files");
    let definition = json!({"type": "http", "url": url, "collection": "db"});
    alone.register("mine", definition).await;
    assert_eq!(content(&alone, "mine/b:v2").await.unwrap(), "of db");
}

#[tokio::test]
async fn a_registered_registry_can_be_the_default_one() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let alone = Alone::new(&options("files")).await.unwrap();
    let error = content(&alone, "a:v1").await.unwrap_err();
    assert!(
        error.to_string().contains("there is no registry 'files'"),
        "{error}"
    );
    let files = server.address("files");
    alone
        .register("files", json!({"type": "http", "url": files}))
        .await;
    assert_eq!(content(&alone, "a:v1").await.unwrap(), "fixed");
}

#[tokio::test]
async fn a_credential_opens_what_is_closed_and_a_new_one_counts_at_once() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let alone = each_kind(&folder, &server).await;
    for (name, definition) in [
        (
            "hub2",
            json!({"type": "github", "url": "https://ghe.invalid/owner/closed",
            "apiUrl": server.address("api"), "credential": "own"}),
        ),
        (
            "files2",
            json!({"type": "http", "url": server.address("closed"), "credential": "own"}),
        ),
    ] {
        alone
            .set("own", Credential::Token(Secret::new("wrong")))
            .await;
        alone.register(name, definition).await;
        let error = content(&alone, &format!("{name}/a:v1")).await.unwrap_err();
        assert!(!error.to_string().contains("wrong"), "{error}");
        alone
            .set("own", Credential::Token(Secret::new(TOKEN)))
            .await;
        let found = content(&alone, &format!("{name}/a:v1")).await;
        assert_eq!(found.unwrap(), "fixed", "{name}");
    }
}

#[tokio::test]
async fn a_missing_credential_is_named() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let alone = each_kind(&folder, &server).await;
    let url = server.address("files");
    let definition = json!({"type": "http", "url": url, "credential": "gone"});
    alone.register("mine", definition).await;
    let error = content(&alone, "mine/a:v1").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RegistryUnavailable);
    assert!(
        error.to_string().contains("credential 'gone' is not set"),
        "{error}"
    );
}

#[tokio::test]
async fn a_file_that_is_not_what_the_list_says_is_refused() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let alone = each_kind(&folder, &server).await;
    std::fs::write(folder.path().join("a/v1.0.1/a.jinja"), "changed").unwrap();
    let error = content(&alone, "files/a:v1").await.unwrap_err();
    assert!(matches!(error, RegistryError::Digest { .. }), "{error}");
    std::fs::remove_file(folder.path().join("SHA256SUMS")).unwrap();
    let error = content(&alone, "files/a:v1").await.unwrap_err();
    assert!(error.to_string().contains("/files/SHA256SUMS"), "{error}");
}

#[tokio::test]
async fn link_local_addresses_are_for_nobody() {
    let options = Options {
        allow_private_registries: false,
        ..options("own")
    };
    let alone = Alone::new(&options).await.unwrap();
    let metadata = json!({"type": "http", "url": "http://169.254.169.254/latest"});
    alone.register("own", metadata).await;
    let error = content(&alone, "a:v1").await.unwrap_err();
    assert!(error.to_string().contains("169.254.169.254"), "{error}");
}
