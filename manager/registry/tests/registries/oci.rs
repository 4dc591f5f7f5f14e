//! Templates in a real OCI registry.

use std::path::Path;
use std::time::Duration;

use common::api::error::ErrorCode;
use common::model::{Credential, Secret, TypeName};
use common::registry::FilePath;
use common::registry::oci::Manifest;
use manager_registry::{Options, RegistryError};
use serde_json::json;
use tempfile::TempDir;

use crate::support::alone::{Alone, options};
use crate::support::hub::{Front, Hub};

fn write(root: &Path, path: &str, content: &str) {
    let place = root.join(path);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(place, content).unwrap();
}

fn tree() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in [
        ("a/v1/a.jinja", "first"),
        ("a/v1.0.1/a.jinja", "fixed"),
        ("db/redis/v1/redis.jinja", "redis"),
        (
            "db/redis/v1/redis.jinja.schema",
            "imports: [{path: lib/help.txt}]",
        ),
        ("db/redis/v1/lib/help.txt", "help"),
    ] {
        write(folder.path(), path, content);
    }
    folder
}

async fn alone() -> Alone {
    Alone::new(&options("/")).await.unwrap()
}

async fn register(alone: &Alone, name: &str, url: String, credential: Option<&str>) {
    let mut definition = json!({"type": "oci", "url": url});
    if let Some(credential) = credential {
        definition["credential"] = credential.into();
    }
    alone.register(name, definition).await;
}

fn login() -> Credential {
    Credential::Basic {
        username: "deployer".to_owned(),
        password: Secret::new("0pen"),
    }
}

async fn content(alone: &Alone, reference: &str) -> Result<String, RegistryError> {
    let resolved = alone.resolve(&TypeName::parse(reference).unwrap()).await?;
    Ok(resolved.imports[0].content.clone())
}

async fn names(alone: &Alone, registry: &str) -> Vec<(String, Vec<String>)> {
    let listed = alone.templates(registry, None).await.unwrap();
    let versions = listed.into_iter().map(|found| (found.name, found.versions));
    versions.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn references_lead_to_artifacts_and_their_patches() {
    let (folder, hub, alone) = (tree(), Hub::open(), alone().await);
    hub.push("org/t", folder.path(), true).await;
    register(&alone, "shop", hub.url("org/t"), None).await;
    assert_eq!(content(&alone, "shop/a:v1").await.unwrap(), "fixed");
    let redis = TypeName::parse("shop/db/redis:v1").unwrap();
    let resolved = alone.resolve(&redis).await.unwrap();
    let last = resolved.imports.last().unwrap();
    assert_eq!(
        (last.path(), last.content.as_str()),
        ("shop/db/redis/v1/lib/help.txt", "help")
    );
    let url = format!("{}/db/redis:v1#redis.jinja", hub.url("org/t"));
    assert_eq!(resolved.resolved.url, url);
    write(folder.path(), "a/v1.0.2/a.jinja", "newest");
    hub.push("org/t", folder.path(), true).await;
    assert_eq!(content(&alone, "shop/a:v1").await.unwrap(), "newest");
    let error = content(&alone, "shop/a:v3").await.unwrap_err();
    assert!(error.to_string().contains("v1, v1.0.1, v1.0.2"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn templates_are_listed_by_the_index_or_else_by_the_catalog() {
    let (folder, hub, alone) = (tree(), Hub::open(), alone().await);
    hub.push("indexed", folder.path(), true).await;
    hub.push("plain", folder.path(), false).await;
    register(&alone, "indexed", hub.url("indexed"), None).await;
    register(&alone, "plain", hub.url("plain"), None).await;
    let versions = |all: &[&str]| all.iter().map(|&version| version.to_owned()).collect();
    let expected: Vec<(String, Vec<String>)> = vec![
        ("a".to_owned(), versions(&["v1", "v1.0.1"])),
        ("db/redis".to_owned(), versions(&["v1"])),
    ];
    for name in ["indexed", "plain"] {
        assert_eq!(names(&alone, name).await, expected, "{name}");
    }
    register(&alone, "none", hub.url("none"), None).await;
    let error = alone.templates("none", None).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TemplateNotFound, "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_known_is_resolved_without_a_request() {
    let (folder, hub) = (tree(), Hub::open());
    hub.push("t", folder.path(), true).await;
    let options = Options {
        registry_refresh: Duration::from_secs(3600),
        ..options("/")
    };
    let alone = Alone::new(&options).await.unwrap();
    register(&alone, "shop", hub.url("t"), None).await;
    content(&alone, "shop/a:v1").await.unwrap();
    drop(hub);
    assert_eq!(content(&alone, "shop/a:v1").await.unwrap(), "fixed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_that_is_down_is_told_and_what_was_known_of_it_is_used() {
    let (folder, hub, alone) = (tree(), Hub::open(), alone().await);
    hub.push("t", folder.path(), true).await;
    register(&alone, "shop", hub.url("t"), None).await;
    content(&alone, "shop/a:v1").await.unwrap();
    drop(hub);
    let reference = TypeName::parse("shop/a:v1").unwrap();
    let resolved = alone.resolve(&reference).await.unwrap();
    assert!(
        resolved
            .warning
            .unwrap()
            .contains("registry shop is unreachable")
    );
    let error = content(&alone, "shop/db/redis:v1").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RegistryUnavailable, "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_registry_held_is_used_by_the_next_process_while_it_is_away() {
    let (folder, hub, first) = (tree(), Hub::open(), alone().await);
    hub.push("indexed", folder.path(), true).await;
    hub.push("plain", folder.path(), false).await;
    let urls = [("indexed", hub.url("indexed")), ("plain", hub.url("plain"))];
    let mut listed = Vec::new();
    for (name, url) in &urls {
        register(&first, name, url.clone(), None).await;
        content(&first, &format!("{name}/a:v1")).await.unwrap();
        listed.push(names(&first, name).await);
    }
    drop(hub);
    let next = Alone::on(&options("/"), first.cache()).await.unwrap();
    for ((name, url), listed) in urls.iter().zip(listed) {
        register(&next, name, url.clone(), None).await;
        let reference = TypeName::parse(format!("{name}/a:v1")).unwrap();
        let resolved = next.resolve(&reference).await.unwrap();
        assert_eq!(resolved.imports[0].content, "fixed");
        let warning = resolved.warning.unwrap();
        assert!(
            warning.contains(&format!(
                "registry {name} is unreachable; its contents from "
            )),
            "{warning}"
        );
        assert_eq!(names(&next, name).await, listed);
        let error = content(&next, &format!("{name}/db/redis:v1"))
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::RegistryUnavailable, "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_login_opened_is_not_kept_for_anybody_else() {
    let (folder, hub, first) = (tree(), Hub::closed(), alone().await);
    hub.push("t", folder.path(), true).await;
    first.set("right", login()).await;
    register(&first, "shop", hub.url("t"), Some("right")).await;
    assert_eq!(content(&first, "shop/a:v1").await.unwrap(), "fixed");
    let next = Alone::on(&options("/"), first.cache()).await.unwrap();
    register(&next, "shop", hub.url("t"), None).await;
    assert!(content(&next, "shop/a:v1").await.is_err());
    drop(hub);
    let error = content(&next, "shop/a:v1").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RegistryUnavailable, "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_registry_opens_to_its_credential_only() {
    let (folder, hub, alone) = (tree(), Hub::closed(), alone().await);
    hub.push("t", folder.path(), true).await;
    register(&alone, "anybody", hub.url("t"), None).await;
    let error = content(&alone, "anybody/a:v1").await.unwrap_err();
    assert!(
        error.to_string().contains("no credential is set"),
        "{error}"
    );
    let wrong = Credential::Token(Secret::new("s3cret"));
    alone.set("wrong", wrong).await;
    register(&alone, "wrong", hub.url("t"), Some("wrong")).await;
    let error = content(&alone, "wrong/a:v1").await.unwrap_err();
    assert!(
        error.to_string().contains("not open to this credential"),
        "{error}"
    );
    assert!(!error.to_string().contains("s3cret"), "{error}");
    alone.set("right", login()).await;
    register(&alone, "right", hub.url("t"), Some("right")).await;
    assert_eq!(content(&alone, "right/a:v1").await.unwrap(), "fixed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_server_gets_the_login_and_the_host_of_blobs_does_not() {
    let (folder, hub, alone) = (tree(), Hub::open(), alone().await);
    hub.push("t", folder.path(), true).await;
    let front = Front::before(&hub, false);
    alone.set("right", login()).await;
    register(
        &alone,
        "shop",
        format!("oci://{}/t", front.host),
        Some("right"),
    )
    .await;
    assert_eq!(content(&alone, "shop/a:v1").await.unwrap(), "fixed");
    let elsewhere = front.elsewhere.lock().unwrap().clone();
    assert_eq!(elsewhere.len(), 1, "{elsewhere:?}");
    assert!(elsewhere[0].0.contains("/blobs/sha256:"), "{elsewhere:?}");
    assert_eq!(elsewhere[0].1, None, "{elsewhere:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blob_that_is_not_what_the_manifest_says_is_refused() {
    let (folder, hub, alone) = (tree(), Hub::open(), alone().await);
    hub.push("t", folder.path(), true).await;
    let front = Front::before(&hub, true);
    alone.set("right", login()).await;
    register(
        &alone,
        "shop",
        format!("oci://{}/t", front.host),
        Some("right"),
    )
    .await;
    let error = content(&alone, "shop/a:v1").await.unwrap_err();
    assert!(
        error.to_string().contains("does not have the digest"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_artifact_without_files_is_no_template() {
    let (hub, alone) = (Hub::open(), alone().await);
    hub.tag("t/a", "v1", &Manifest::of_index()).await;
    let path = FilePath::parse("other.jinja").unwrap();
    let client = hub.client();
    client.push_blob("t/b", b"x").await.unwrap();
    let other = Manifest::of_files([(&path, &b"x"[..])]);
    hub.tag("t/b", "v1", &other).await;
    register(&alone, "shop", hub.url("t"), None).await;
    let error = content(&alone, "shop/a:v1").await.unwrap_err();
    assert!(
        error.to_string().contains("not an artifact of files"),
        "{error}"
    );
    assert_eq!(error.code(), ErrorCode::InvalidConfiguration, "{error}");
    let error = content(&alone, "shop/b:v1").await.unwrap_err();
    assert!(
        matches!(error, RegistryError::NoTemplateFile { .. }),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_out_of_reach_is_not_asked() {
    let options = Options {
        allow_private_registries: false,
        ..options("/")
    };
    let alone = Alone::new(&options).await.unwrap();
    register(
        &alone,
        "shop",
        "oci+http://169.254.169.254/t".to_owned(),
        None,
    )
    .await;
    let error = content(&alone, "shop/a:v1").await.unwrap_err();
    assert!(error.to_string().contains("169.254.169.254"), "{error}");
}
