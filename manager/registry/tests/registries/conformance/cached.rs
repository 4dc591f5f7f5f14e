//! A cached response is not requested again without need, survives its process, and serves while the registry is
//! unreachable.

use std::path::{Path, PathBuf};
use std::time::Duration;

use common::api::error::ErrorCode;
use common::model::{Credential, Secret};
use serde_json::json;

use crate::conformance::{Alone, Loopback, Options, options, tree, type_name, write};
use crate::support::alone::list_files;
use crate::support::loopback::TOKEN;

/// Each type that uses HTTP: a web server's list, GitHub, a full URL.
fn references(server: &Loopback) -> [String; 3] {
    [
        "files/a:v1".to_owned(),
        "github.com/owner/repo/a:v1".to_owned(),
        server.address("files/a/v1.0.1/a.py"),
    ]
}

fn refreshed_after(refresh: Duration, server: &Loopback) -> Options {
    Options {
        registry_refresh: refresh,
        github_api_url: server.address("api"),
        ..options("/")
    }
}

async fn with_files(alone: Alone, server: &Loopback) -> Alone {
    let definition = json!({"type": "http", "url": server.address("files")});
    alone.register("files", definition).await;
    alone
}

async fn content(alone: &Alone, reference: &str) -> String {
    let resolved = alone.resolve(&type_name(reference)).await.unwrap();
    resolved.imports[0].content.clone()
}

fn contents(cache: &Path) -> Vec<PathBuf> {
    let entries = cache.read_dir().into_iter().flatten().flatten();
    let below = entries.map(|entry| match entry.path() {
        path if path.is_dir() => contents(&path),
        path => vec![path],
    });
    below.flatten().collect()
}

#[tokio::test]
async fn a_warm_reference_is_resolved_without_a_request() {
    let folder = tree();
    list_files(folder.path());
    let server = Loopback::serve(folder.path());
    let options = refreshed_after(Duration::from_secs(3600), &server);
    let alone = with_files(Alone::new(&options).await.unwrap(), &server).await;
    for reference in references(&server) {
        let first = alone.resolve(&type_name(&reference)).await.unwrap();
        let before = server.requests();
        let again = alone.resolve(&type_name(&reference)).await.unwrap();
        assert_eq!(again, first, "{reference}");
        assert_eq!(server.requests(), before, "{reference}");
    }
}

#[tokio::test]
async fn what_has_not_changed_is_asked_for_and_not_sent_again_also_to_the_next_process() {
    let folder = tree();
    list_files(folder.path());
    let server = Loopback::serve(folder.path());
    let options = refreshed_after(Duration::ZERO, &server);
    let first = with_files(Alone::new(&options).await.unwrap(), &server).await;
    for reference in references(&server) {
        content(&first, &reference).await;
    }
    let next = Alone::on(&options, first.cache()).await.unwrap();
    let next = with_files(next, &server).await;
    for reference in references(&server) {
        let (asked, unchanged) = (server.requests(), server.unchanged());
        assert_eq!(content(&next, &reference).await, "fixed");
        let (asked, unchanged) = (server.requests() - asked, server.unchanged() - unchanged);
        assert!(asked > 0 && asked == unchanged, "{reference}: {asked}");
    }
    write(folder.path(), "a/v1.0.2/a.py", "newest");
    list_files(folder.path());
    for reference in &references(&server)[..2] {
        assert_eq!(content(&next, reference).await, "newest", "{reference}");
    }
}

#[tokio::test]
async fn what_was_given_is_used_while_its_registry_is_away_and_told_to_be_old() {
    let folder = tree();
    list_files(folder.path());
    let server = Loopback::serve(folder.path());
    let options = refreshed_after(Duration::ZERO, &server);
    let first = with_files(Alone::new(&options).await.unwrap(), &server).await;
    for reference in references(&server) {
        content(&first, &reference).await;
    }
    server.stop().await;
    let next = Alone::on(&options, first.cache()).await.unwrap();
    let next = with_files(next, &server).await;
    for alone in [first, next] {
        for reference in references(&server) {
            let resolved = alone.resolve(&type_name(&reference)).await.unwrap();
            assert_eq!(resolved.imports[0].content, "fixed", "{reference}");
            let warning = resolved.warning.unwrap();
            assert!(
                warning.contains("is unreachable; its contents from ")
                    && warning.contains(" ago, at "),
                "{warning}"
            );
        }
        let unknown = type_name(&server.address("files/a/v1.1/a.jinja"));
        let error = alone.resolve(&unknown).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::RegistryUnavailable, "{error}");
    }
}

#[tokio::test]
async fn what_is_damaged_on_disk_is_fetched_again() {
    let folder = tree();
    list_files(folder.path());
    let server = Loopback::serve(folder.path());
    let options = refreshed_after(Duration::from_secs(3600), &server);
    let first = with_files(Alone::new(&options).await.unwrap(), &server).await;
    for reference in references(&server) {
        content(&first, &reference).await;
    }
    for file in contents(&first.cache().path().join("files/contents")) {
        std::fs::write(file, "damaged").unwrap();
    }
    let next = Alone::on(&options, first.cache()).await.unwrap();
    let next = with_files(next, &server).await;
    for reference in references(&server) {
        assert_eq!(content(&next, &reference).await, "fixed", "{reference}");
    }
}

#[tokio::test]
async fn a_full_url_that_was_not_there_is_asked_for_again_at_once() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let options = refreshed_after(Duration::from_secs(3600), &server);
    let alone = Alone::new(&options).await.unwrap();
    let url = server.address("files/late.py");
    assert!(alone.resolve(&type_name(&url)).await.is_err());
    write(folder.path(), "late.py", "there");
    assert_eq!(content(&alone, &url).await, "there");
}

#[tokio::test]
async fn what_a_credential_opened_is_for_nobody_without_it() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let options = refreshed_after(Duration::from_secs(3600), &server);
    let alone = Alone::new(&options).await.unwrap();
    let open = Credential::Token(Secret::new(TOKEN));
    alone.set("open", open).await;
    let url = "https://github.com/owner/closed";
    let closed = json!({"type": "github", "url": url, "apiUrl": server.address("api")});
    let mut opened = closed.clone();
    opened["credential"] = json!("open");
    alone.register("opened", opened).await;
    alone.register("closed", closed).await;
    assert_eq!(content(&alone, "opened/a:v1").await, "fixed");
    for reference in ["closed/a:v1", "github.com/owner/closed/a:v1"] {
        let error = alone.resolve(&type_name(reference)).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::TemplateNotFound, "{error}");
    }
}
