//! A git repository behind a real `git http-backend`.

mod hostile;
mod transports;
use std::path::Path;

use common::api::error::ErrorCode;
use common::model::{Credential, Secret, TypeName};
use manager_registry::{Options, RegistryError};
use serde_json::json;
use tempfile::TempDir;

use crate::support::alone::{Alone, options};
use crate::support::backend::Backend;

fn write(root: &Path, path: &str, content: &str) {
    let place = root.join(path);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(place, content).unwrap();
}

fn tree() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a/v1/a.jinja", "first");
    folder
}

async fn alone() -> Alone {
    Alone::new(&options("/")).await.unwrap()
}

async fn register(alone: &Alone, name: &str, backend: &Backend, more: serde_json::Value) {
    let mut definition = json!({"type": "git", "url": backend.url()});
    for (key, value) in more.as_object().unwrap() {
        definition[key] = value.clone();
    }
    alone.register(name, definition).await;
}

async fn content(alone: &Alone, reference: &str) -> Result<String, RegistryError> {
    let resolved = alone.resolve(&TypeName::parse(reference).unwrap()).await?;
    Ok(resolved.imports[0].content.clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn branches_and_tags_are_registries_of_their_own_and_move_on() {
    let backend = Backend::serve(tree().path(), None);
    backend.run(&["tag", "-a", "-m", "one", "release-1"]);
    backend.run(&["branch", "old"]);
    let alone = alone().await;
    register(&alone, "main", &backend, json!({})).await;
    register(&alone, "tag", &backend, json!({"ref": "release-1"})).await;
    register(&alone, "old", &backend, json!({"ref": "old"})).await;
    for name in ["main", "tag", "old"] {
        let found = content(&alone, &format!("{name}/a:v1")).await;
        assert_eq!(found.unwrap(), "first", "{name}");
    }
    write(backend.files(), "a/v1.0.1/a.jinja", "fixed");
    backend.commit();
    for (name, expected) in [("main", "fixed"), ("tag", "first"), ("old", "first")] {
        let found = content(&alone, &format!("{name}/a:v1")).await;
        assert_eq!(found.unwrap(), expected, "{name}");
    }
    let listed = alone.templates("main", None).await.unwrap();
    assert_eq!(listed[0].versions, ["v1", "v1.0.1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_known_is_resolved_without_a_request_until_it_is_old_or_not_enough() {
    let backend = Backend::serve(tree().path(), None);
    let options = Options {
        registry_refresh: std::time::Duration::from_secs(3600),
        ..options("/")
    };
    let alone = Alone::new(&options).await.unwrap();
    register(&alone, "own", &backend, json!({})).await;
    content(&alone, "own/a:v1").await.unwrap();
    let before = backend.requests();
    content(&alone, "own/a:v1").await.unwrap();
    assert_eq!(backend.requests(), before);
    write(backend.files(), "a/v2/a.jinja", "new");
    backend.commit();
    let found = content(&alone, "own/a:v2").await;
    assert_eq!(
        found.unwrap(),
        "new",
        "what is not found is asked for at once"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_is_away_gives_what_was_fetched_also_to_the_next_process() {
    let backend = Backend::serve(tree().path(), None);
    let first = alone().await;
    register(&first, "own", &backend, json!({})).await;
    content(&first, "own/a:v1").await.unwrap();
    backend.stop().await;
    let reference = TypeName::parse("own/a:v1").unwrap();
    let resolved = first.resolve(&reference).await.unwrap();
    let warning = resolved.warning.unwrap();
    assert!(warning.contains("registry own is unreachable"), "{warning}");

    let second = Alone::on(&options("/"), first.cache()).await.unwrap();
    register(&second, "own", &backend, json!({})).await;
    assert_eq!(content(&second, "own/a:v1").await.unwrap(), "first");
    register(&second, "other", &backend, json!({"ref": "none"})).await;
    let error = content(&second, "other/a:v1").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RegistryUnavailable, "{error}");
    assert!(error.to_string().contains("registry other"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_repository_opens_to_its_credential_only() {
    // x-access-token:0pen
    let backend = Backend::serve(tree().path(), Some("Basic eC1hY2Nlc3MtdG9rZW46MHBlbg=="));
    let alone = alone().await;
    alone
        .set("own", Credential::Token(Secret::new("0pen")))
        .await;
    register(&alone, "closed", &backend, json!({})).await;
    let error = content(&alone, "closed/a:v1").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RegistryUnavailable, "{error}");
    register(&alone, "open", &backend, json!({"credential": "own"})).await;
    assert_eq!(content(&alone, "open/a:v1").await.unwrap(), "first");
    let error = content(&alone, "closed/a:v1").await.unwrap_err();
    assert!(
        !error.to_string().contains("0pen"),
        "what one credential fetched is for no other registry: {error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_repository_or_branch_is_named() {
    let backend = Backend::serve(tree().path(), None);
    let alone = alone().await;
    let none = backend.url().replace("r.git", "none.git");
    alone
        .register("none", json!({"type": "git", "url": none}))
        .await;
    register(&alone, "branch", &backend, json!({"ref": "gone"})).await;
    for (name, message) in [("none", "does not exist"), ("branch", "'gone'")] {
        let error = content(&alone, &format!("{name}/a:v1")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::TemplateNotFound, "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_out_of_reach_is_not_asked() {
    let options = Options {
        allow_private_registries: false,
        ..options("/")
    };
    let alone = Alone::new(&options).await.unwrap();
    for (name, url) in [
        ("a", "https://169.254.169.254/r"),
        ("b", "git://[fe80::1]/r"),
    ] {
        alone
            .register(name, json!({"type": "git", "url": url}))
            .await;
        let error = content(&alone, &format!("{name}/a:v1")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidConfiguration, "{error}");
    }
}
