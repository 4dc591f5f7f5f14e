//! Charts in a real OCI registry, as `helm push` puts them there.

use common::api::error::ErrorCode;
use common::canonical::digest_bytes;
use common::model::{Credential, Secret};
use common::registry::oci::Manifest;
use manager_registry::Options;
use serde_json::json;

use super::{FILES, resolve, type_name, version};
use crate::support::alone::{Alone, options};
use crate::support::chart::{contents, packed, provenance};
use crate::support::hub::Hub;

/// Pushes versions of the chart `web` into a folder of the registry. Returns the digest of the last one.
async fn push(hub: &Hub, folder: &str, versions: &[&str]) -> String {
    let repository = format!("{folder}/web");
    let mut digest = String::new();
    for version in versions {
        let metadata = json!({"name": "web", "version": version}).to_string();
        let archive = packed("web", version);
        let client = hub.client();
        for content in [metadata.as_bytes(), &archive] {
            client.push_blob(&repository, content).await.unwrap();
        }
        let manifest = Manifest::of_chart(metadata.as_bytes(), &archive);
        let tag = version.replace('+', "_");
        let pushed = client.push_manifest(&repository, &tag, &manifest).await;
        pushed.unwrap();
        digest = digest_bytes(&serde_json::to_vec(&manifest).unwrap()).to_string();
    }
    digest
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chart_is_found_by_its_tag_a_range_or_its_digest() {
    let hub = Hub::open();
    let digest = push(&hub, "org", &["1.2.3", "1.10.0", "2.0.0+b.1", "1.2.10"]).await;
    let alone = Alone::new(&options("/")).await.unwrap();
    let chart = hub.url("org/web");
    for (wanted, found) in [
        (":1.2.3".to_owned(), "1.2.3"),
        (":~1.2".to_owned(), "1.2.10"),
        (":1.10".to_owned(), "1.10.0"),
        (":2.0.0+b.1".to_owned(), "2.0.0+b.1"),
        (format!(":1.2.10@{digest}"), "1.2.10"),
    ] {
        let reference = format!("{chart}{wanted}");
        assert_eq!(version(&alone, &reference).await, found, "{reference}");
    }
    let resolved = resolve(&alone, &format!("{chart}:1.2.3")).await.unwrap();
    assert_eq!(contents(&resolved), FILES);
    assert_eq!(resolved.resolved.url, format!("{chart}:1.2.3"));
    let archive = digest_bytes(&packed("web", "1.2.3")).to_string();
    assert_eq!(resolved.resolved.files[0].sha256, archive);
    let by_digest = resolve(&alone, &format!("{chart}@{digest}")).await.unwrap();
    assert_eq!(contents(&by_digest), FILES);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_or_is_no_chart_is_refused() {
    let hub = Hub::open();
    let digest = push(&hub, "org", &["1.2.3", "1.2.4"]).await;
    let file = common::registry::FilePath::parse("a.txt").unwrap();
    hub.client().push_blob("org/text", b"text").await.unwrap();
    let other = Manifest::of_files([(&file, &b"text"[..])]);
    hub.tag("org/text", "1.0.0", &other).await;
    let alone = Alone::new(&options("/")).await.unwrap();
    for (reference, code, says) in [
        (
            "org/web:3.0.0".to_owned(),
            ErrorCode::TemplateNotFound,
            "its versions are 1.2.4, 1.2.3",
        ),
        (
            "org/gone:1.0.0".to_owned(),
            ErrorCode::TemplateNotFound,
            "'org/gone'",
        ),
        (
            "org/text:1.0.0".to_owned(),
            ErrorCode::InvalidConfiguration,
            "not a Helm chart",
        ),
        (
            format!("org/web:1.2.3@{digest}"),
            ErrorCode::RegistryUnavailable,
            "the digest",
        ),
    ] {
        let error = resolve(&alone, &hub.url(&reference)).await.unwrap_err();
        assert_eq!(error.code(), code, "{reference}: {error}");
        assert!(error.to_string().contains(says), "{reference}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_credential_of_a_registered_registry_opens_its_charts() {
    let hub = Hub::closed();
    push(&hub, "org/team", &["1.2.3", "1.2.4"]).await;
    let alone = Alone::new(&options("/")).await.unwrap();
    let chart = hub.url("org/team/web:1.2.3");
    let error = resolve(&alone, &chart).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RegistryUnavailable, "{error}");
    let login = Credential::Basic {
        username: "deployer".to_owned(),
        password: Secret::new("0pen"),
    };
    alone.set("login", login).await;
    let definition = json!({"type": "oci", "url": hub.url("org"), "credential": "login"});
    alone.register("shop", definition).await;
    for reference in [&chart, "helm:shop/team/web:1.2.3"] {
        assert_eq!(version(&alone, reference).await, "1.2.3");
    }
    let resolved = resolve(&alone, "shop/team/web:v1.2").await.unwrap();
    assert_eq!(resolved.resolved.version.as_deref(), Some("v1.2.4"));
    assert_eq!(contents(&resolved), FILES);
    let described = alone.describe(&type_name(&chart)).await.unwrap();
    assert_eq!(
        described.schema.unwrap()["properties"]["image"]["default"],
        "nginx"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_host_needs_a_registration() {
    let hub = Hub::open();
    push(&hub, "org", &["1.2.3"]).await;
    let public_only = Options {
        allow_private_registries: false,
        ..options("/")
    };
    let alone = Alone::new(&public_only).await.unwrap();
    let chart = hub.url("org/web:1.2.3");
    let error = resolve(&alone, &chart).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidConfiguration, "{error}");
    alone
        .register("shop", json!({"type": "oci", "url": hub.url("org")}))
        .await;
    assert_eq!(version(&alone, &chart).await, "1.2.3");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_provenance_layer_is_recorded_as_not_verified() {
    const LAYER: &str = "application/vnd.cncf.helm.chart.provenance.v1.prov";
    let (hub, archive) = (Hub::open(), packed("web", "1.2.3"));
    let text = provenance("web-1.2.3.tgz", &archive);
    let client = hub.client();
    for content in [&b"{}"[..], &archive, text.as_bytes()] {
        client.push_blob("org/web", content).await.unwrap();
    }
    let mut manifest = serde_json::to_value(Manifest::of_chart(b"{}", &archive)).unwrap();
    let layer =
        json!({"mediaType": LAYER, "size": text.len(), "digest": digest_bytes(text.as_bytes())});
    let layers = manifest["layers"].as_array_mut().unwrap();
    layers.insert(0, layer);
    let manifest: Manifest = serde_json::from_value(manifest).unwrap();
    let pushed = client.push_manifest("org/web", "1.2.3", &manifest).await;
    pushed.unwrap();
    let alone = Alone::new(&options("/")).await.unwrap();
    alone
        .register("shop", json!({"type": "oci", "url": hub.url("org")}))
        .await;
    for reference in [hub.url("org/web:1.2.3"), "shop/web:v1.2".to_owned()] {
        let resolved = resolve(&alone, &reference).await.unwrap();
        assert_eq!(contents(&resolved), FILES);
        let found = resolved.resolved.provenance.unwrap();
        let digest = digest_bytes(text.as_bytes()).to_string();
        assert_eq!((found.sha256, found.verified), (digest, false));
    }
}
