//! Charts of chart repositories, which have an `index.yaml`.

use common::api::error::ErrorCode;
use common::model::{Credential, Secret};
use common::registry::sums::hex;
use manager_registry::Options;
use serde_json::json;
use tempfile::TempDir;

use super::{FILES, resolve, type_name, version};
use crate::support::alone::{Alone, options};
use crate::support::chart::{contents, index_of, packed, provenance, repository};
use crate::support::loopback::{Loopback, TOKEN};

async fn registered(url: &str, options: &Options) -> Alone {
    let alone = Alone::new(options).await.unwrap();
    let definition = json!({"type": "helm", "url": url});
    alone.register("shop", definition).await;
    alone
}

fn empty() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[tokio::test]
async fn a_chart_is_found_by_its_version_or_a_range_and_the_manifest_has_its_digest() {
    let folder = empty();
    let versions = ["1.2.3", "1.10.0", "2.0.0-rc.1", "1.2.10"];
    repository(folder.path(), &versions);
    let server = Loopback::serve(folder.path());
    let files = server.address("files");
    let alone = registered(&files, &options("/")).await;
    for (wanted, found) in [
        ("1.2.3", "1.2.3"),
        ("~1.2", "1.2.10"),
        ("*", "1.10.0"),
        (">=1.2.4 <1.3", "1.2.10"),
        ("2.0.0-rc.1", "2.0.0-rc.1"),
    ] {
        let named = format!("helm:shop/web:{wanted}");
        assert_eq!(version(&alone, &named).await, found, "{wanted}");
        let by_url = format!("helm:{files}/web:{wanted}");
        assert_eq!(version(&alone, &by_url).await, found, "{wanted}");
    }
    let resolved = resolve(&alone, "helm:shop/web:1.2.3").await.unwrap();
    assert_eq!(contents(&resolved), FILES);
    assert_eq!(resolved.resolved.url, format!("{files}/web-1.2.3.tgz"));
    let digest = format!("sha256:{}", hex(&packed("web", "1.2.3")));
    assert_eq!(resolved.resolved.files[0].sha256, digest);
    assert_eq!(resolved.imports[0].path(), "shop/web-1.2.3.tgz");
}

#[tokio::test]
async fn the_charts_of_a_repository_are_templates_too() {
    let folder = empty();
    repository(folder.path(), &["1.2.3", "1.2.10", "2.0.0-rc.1"]);
    let server = Loopback::serve(folder.path());
    let alone = registered(&server.address("files/"), &options("/")).await;
    let listed = alone.templates("shop", None).await.unwrap();
    assert_eq!(listed[0].name, "web");
    assert_eq!(listed[0].versions, ["v1.2.3", "v1.2.10"]);
    assert_eq!(version(&alone, "shop/web:v1.2").await, "v1.2.10");
    let resolved = resolve(&alone, "shop/web:v1.2").await.unwrap();
    assert_eq!(contents(&resolved), FILES);
    assert_eq!(
        resolved.resolved.url,
        server.address("files/web-1.2.10.tgz")
    );
    for reference in ["shop/web:v1.2", "helm:shop/web:~1.2"] {
        let described = alone.describe(&type_name(reference)).await.unwrap();
        assert_eq!(described.description.as_deref(), Some("Serves."));
        let schema = described.schema.unwrap();
        assert_eq!(schema["required"], json!(["image"]));
        assert_eq!(schema["properties"]["image"]["default"], "nginx");
        let port = &schema["properties"]["service"]["properties"]["port"];
        assert_eq!(port["default"], 80, "{schema}");
    }
}

#[tokio::test]
async fn what_the_index_does_not_have_is_said_with_what_it_has() {
    let folder = empty();
    repository(folder.path(), &["1.2.3", "1.10.0"]);
    let server = Loopback::serve(folder.path());
    let alone = registered(&server.address("files"), &options("/")).await;
    for (reference, code, says) in [
        (
            "helm:shop/web:1.2.4",
            ErrorCode::TemplateNotFound,
            "has no version 1.2.4; its versions are 1.10.0, 1.2.3",
        ),
        (
            "helm:shop/web:^3",
            ErrorCode::TemplateNotFound,
            "has no version ^3",
        ),
        (
            "helm:shop/webb:1.2.3",
            ErrorCode::TemplateNotFound,
            "has no template 'webb'; its templates are web",
        ),
        (
            "helm:shop/web:latest",
            ErrorCode::UnknownType,
            "a range like ^1.2",
        ),
        ("helm:gone/web:1.2.3", ErrorCode::NotFound, "'gone'"),
        (
            "helm:default/web:1.2.3",
            ErrorCode::TemplateNotFound,
            "is not a chart repository",
        ),
    ] {
        let error = resolve(&alone, reference).await.unwrap_err();
        assert_eq!(error.code(), code, "{reference}: {error}");
        assert!(error.to_string().contains(says), "{reference}: {error}");
    }
    std::fs::remove_file(folder.path().join("index.yaml")).unwrap();
    let error = resolve(&alone, "helm:shop/web:1.2.3").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TemplateNotFound);
    assert!(error.to_string().contains("/files/index.yaml"), "{error}");
}

#[tokio::test]
async fn an_archive_with_another_digest_and_an_index_that_is_none_are_refused() {
    let folder = empty();
    std::fs::write(folder.path().join("web.tgz"), packed("web", "1.0.0")).unwrap();
    index_of(folder.path(), "web.tgz", Some(&hex(b"other")));
    let server = Loopback::serve(folder.path());
    let alone = registered(&server.address("files"), &options("/")).await;
    let error = resolve(&alone, "helm:shop/web:1.0.0").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RegistryUnavailable);
    assert!(error.to_string().contains("the digest"), "{error}");
    std::fs::write(folder.path().join("index.yaml"), "<html></html>").unwrap();
    let alone = registered(&server.address("files"), &options("/")).await;
    let error = resolve(&alone, "helm:shop/web:1.0.0").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RegistryUnavailable);
    assert!(
        error.to_string().contains("apiVersion and entries"),
        "{error}"
    );
}

/// A registered repository may be inside the network itself. Where it leads must be public.
#[tokio::test]
async fn a_repository_does_not_lead_inside() {
    let folder = empty();
    std::fs::write(folder.path().join("web.tgz"), packed("web", "1.0.0")).unwrap();
    let (server, inside) = (
        Loopback::serve(folder.path()),
        Loopback::serve(folder.path()),
    );
    let public_only = Options {
        allow_private_registries: false,
        ..options("/")
    };
    for url in [
        inside.address("files/web.tgz"),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "http://10.0.0.1/web.tgz".to_owned(),
        "http://[::1]/web.tgz".to_owned(),
    ] {
        index_of(folder.path(), &url, None);
        let alone = registered(&server.address("files"), &public_only).await;
        let error = resolve(&alone, "helm:shop/web:1.0.0").await.unwrap_err();
        assert_eq!(
            error.code(),
            ErrorCode::InvalidConfiguration,
            "{url}: {error}"
        );
        assert!(error.to_string().contains("private address"), "{error}");
    }
    assert_eq!(inside.requests(), 0);
    let by_url = format!("helm:{}/web:1.0.0", server.address("files"));
    let alone = Alone::new(&public_only).await.unwrap();
    let error = resolve(&alone, &by_url).await.unwrap_err();
    assert!(error.to_string().contains("private address"), "{error}");
}

#[tokio::test]
async fn a_redirect_is_followed_as_far_as_addresses_may_be_asked() {
    let folder = empty();
    std::fs::write(folder.path().join("web.tgz"), packed("web", "1.0.0")).unwrap();
    let elsewhere = Loopback::serve(folder.path());
    let server = Loopback::serve(folder.path());
    server.sends_to(elsewhere.address("files"));
    index_of(folder.path(), &server.address("sent/web.tgz"), None);
    let anywhere = registered(&server.address("files"), &options("/")).await;
    let resolved = resolve(&anywhere, "helm:shop/web:1.0.0").await.unwrap();
    assert_eq!(contents(&resolved), FILES);
    let public_only = Options {
        allow_private_registries: false,
        ..options("/")
    };
    let asked = elsewhere.requests();
    let alone = registered(&server.address("files"), &public_only).await;
    let error = resolve(&alone, "helm:shop/web:1.0.0").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidConfiguration, "{error}");
    assert!(error.to_string().contains("private address"), "{error}");
    assert_eq!(elsewhere.requests(), asked);
}

#[tokio::test]
async fn the_credential_goes_to_the_repository_alone() {
    let folder = empty();
    repository(folder.path(), &["1.0.0"]);
    let server = Loopback::serve(folder.path());
    let alone = Alone::new(&options("/")).await.unwrap();
    let closed = server.address("closed");
    alone
        .register(
            "shop",
            json!({"type": "helm", "url": closed, "credential": "token"}),
        )
        .await;
    let error = resolve(&alone, "helm:shop/web:1.0.0").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RegistryUnavailable, "{error}");
    alone
        .set("token", Credential::Token(Secret::new(TOKEN)))
        .await;
    assert_eq!(version(&alone, "helm:shop/web:1.0.0").await, "1.0.0");
    // The URL of a registered repository is that repository.
    let by_url = format!("helm:{closed}/web:1.0.0");
    assert_eq!(version(&alone, &by_url).await, "1.0.0");
}

#[tokio::test]
async fn charts_stay_usable_while_their_repository_is_away() {
    let folder = empty();
    repository(folder.path(), &["1.0.0"]);
    let server = Loopback::serve(folder.path());
    let files = server.address("files");
    let alone = registered(&files, &options("/")).await;
    resolve(&alone, "helm:shop/web:1.0.0").await.unwrap();
    server.stop().await;
    let resolved = resolve(&alone, "helm:shop/web:1.0.0").await.unwrap();
    let warning = resolved.warning.unwrap();
    assert!(
        warning.contains("registry shop is unreachable"),
        "{warning}"
    );
    // Another process finds what this one fetched.
    let next = Alone::on(&options("/"), alone.cache()).await.unwrap();
    next.register("shop", json!({"type": "helm", "url": files}))
        .await;
    let resolved = resolve(&next, "helm:shop/web:1.0.0").await.unwrap();
    assert_eq!(contents(&resolved), FILES);
}

#[tokio::test]
async fn a_chart_repository_takes_no_keys_and_no_collection() {
    let alone = Alone::new(&options("/")).await.unwrap();
    for (field, value) in [("publicKeys", json!(["x"])), ("collection", json!("db"))] {
        let mut definition = json!({"type": "helm", "url": "https://host/charts"});
        definition[field] = value;
        let definition = serde_json::from_value(definition).unwrap();
        let error = alone.check(&definition).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidRequest, "{error}");
    }
}

#[tokio::test]
async fn a_version_counts_for_upgrades_if_it_is_whole() {
    let folder = empty();
    repository(folder.path(), &["1.2.3", "1.2.4"]);
    let server = Loopback::serve(folder.path());
    let alone = registered(&server.address("files"), &options("/")).await;
    let identity = async |text: &str| alone.identity(&type_name(text)).await.unwrap();
    let (old, number) = identity("helm:shop/web:1.2.3").await.unwrap();
    assert_eq!(number.to_string(), "v1.2.3");
    let (new, number) = identity("helm:shop/web:1.2.4").await.unwrap();
    assert_eq!((old, number.to_string().as_str()), (new, "v1.2.4"));
    assert!(identity("helm:shop/web:^1").await.is_none());
    let named = type_name("helm:shop/web:1.2.3");
    let instead = alone.resolve_at(&named, number).await;
    let resolved = instead.unwrap().resolved;
    assert_eq!(resolved.version.as_deref(), Some("1.2.4"));
    assert_eq!(resolved.type_name.as_str(), "helm:shop/web:1.2.3");
}

#[tokio::test]
async fn provenance_is_recorded_as_not_verified_and_must_be_of_the_archive() {
    let folder = empty();
    repository(folder.path(), &["1.0.0"]);
    let server = Loopback::serve(folder.path());
    let files = server.address("files");
    let beside = folder.path().join("web-1.0.0.tgz.prov");
    let plain = registered(&files, &options("/")).await;
    let named = ["helm:shop/web:1.0.0", "shop/web:v1"];
    let mut digests = Vec::new();
    for reference in named {
        let resolved = resolve(&plain, reference).await.unwrap().resolved;
        assert_eq!(resolved.provenance, None);
        digests.push(resolved.sha256);
    }
    let text = provenance("web-1.0.0.tgz", &packed("web", "1.0.0"));
    std::fs::write(&beside, &text).unwrap();
    let alone = registered(&files, &options("/")).await;
    for (reference, digest) in named.into_iter().zip(digests) {
        let resolved = resolve(&alone, reference).await.unwrap().resolved;
        let found = resolved.provenance.unwrap();
        assert_eq!(found.url, format!("{files}/web-1.0.0.tgz.prov"));
        assert_eq!(found.sha256, format!("sha256:{}", hex(text.as_bytes())));
        assert!(!found.verified);
        assert_eq!(resolved.files.len(), 1, "{:?}", resolved.files);
        assert_eq!(resolved.sha256, digest, "it is no part of the chart");
    }
    std::fs::write(&beside, provenance("web-1.0.0.tgz", b"other")).unwrap();
    let alone = registered(&files, &options("/")).await;
    let error = resolve(&alone, "helm:shop/web:1.0.0").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TemplateUntrusted, "{error}");
    assert!(error.to_string().contains("web-1.0.0.tgz.prov"), "{error}");
    // Some servers answer with a page for everything.
    std::fs::write(&beside, "<html></html>").unwrap();
    let alone = registered(&files, &options("/")).await;
    let resolved = resolve(&alone, "helm:shop/web:1.0.0").await.unwrap();
    assert_eq!(resolved.resolved.provenance, None);
}
