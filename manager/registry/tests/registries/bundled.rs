//! The bundled registry, `charts/`, follows the rules of registries.

use std::path::{Path, PathBuf};

use common::model::{TypeName, Version};
use common::yaml::{Duplicates, Limits};
use serde_json::Value;

use crate::support::alone::{Alone, alone, options};

fn charts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../charts")
}

async fn registries() -> Alone {
    alone(&options(charts().to_str().unwrap())).await.unwrap()
}

/// Template, version, folder.
fn versions() -> Vec<(String, String, PathBuf)> {
    let mut found = Vec::new();
    for template in folders(&charts()) {
        for version in folders(&template) {
            found.push((name(&template), name(&version), version));
        }
    }
    found
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

fn yaml(text: &str) -> Value {
    common::yaml::read(text, &Limits::DEFAULT, Duplicates::Error)
        .unwrap()
        .value
}

fn type_name(template: &str, version: &str) -> TypeName {
    TypeName::parse(format!("{template}:{version}")).unwrap()
}

#[tokio::test]
async fn every_version_is_described_and_has_an_example_of_itself() {
    let registries = registries().await;
    let versions = versions();
    assert!(versions.len() >= 6, "{versions:?}");
    for (template, version, folder) in versions {
        let place = folder.display();
        assert!(version.parse::<Version>().is_ok(), "{place}");
        let endings = ["py", "jinja"].into_iter();
        let templates =
            endings.filter(|ending| folder.join(format!("{template}.{ending}")).is_file());
        assert_eq!(templates.count(), 1, "{place} has exactly one template");

        let described = registries
            .describe(&type_name(&template, &version))
            .await
            .unwrap();
        assert!(
            described.title.is_some() && described.description.is_some(),
            "{place}"
        );
        let schema = described.schema.unwrap();
        for (property, rules) in schema["properties"].as_object().unwrap() {
            assert!(
                rules["type"].is_string() || rules["type"].is_array(),
                "{place}: {property} has no type"
            );
            assert!(
                rules["description"].is_string(),
                "{place}: {property} has no description"
            );
        }
        let example = std::fs::read_to_string(folder.join("example.yaml")).unwrap();
        let named = yaml(&example)["resources"][0]["type"].clone();
        let named = named
            .as_str()
            .and_then(|text| text.strip_prefix(&format!("{template}:")));
        let (named, own): (Version, Version) =
            (named.unwrap().parse().unwrap(), version.parse().unwrap());
        assert_eq!(
            (named.major, named.minor),
            (own.major, own.minor),
            "{place}: its example is of another version"
        );
    }
}

#[tokio::test]
async fn references_resolve_by_the_rules_of_versions() {
    let registries = registries().await;
    for (template, version, chosen, files) in [
        ("replicatedservice", "v1", "v1.0.1", 2),
        ("replicatedservice", "v1.0.0", "v1.0.1", 2),
        ("replicatedservice", "v1.1", "v1.1", 2),
        ("redis", "v1", "v1", 2),
        ("guestbook", "v1", "v1", 2),
        ("postgresql", "v1", "v1", 3),
    ] {
        let resolved = registries
            .resolve(&type_name(template, version))
            .await
            .unwrap();
        assert_eq!(
            resolved.resolved.version.as_deref(),
            Some(chosen),
            "{template}:{version}"
        );
        assert_eq!(resolved.imports.len(), files, "{template}:{version}");
    }
}

#[tokio::test]
async fn the_list_names_every_template_with_its_versions() {
    let listed = registries().await.templates("default", None).await.unwrap();
    let listed: Vec<_> = listed
        .iter()
        .map(|t| format!("{} {}", t.name, t.versions.join(" ")))
        .collect();
    let expected = [
        "deployment-manager v1",
        "guestbook v1",
        "postgresql v1",
        "redis v1",
        "replicatedservice v1 v1.0.1 v1.1",
    ];
    assert_eq!(listed, expected);
}

/// A PATCH neither adds nor changes properties.
#[tokio::test]
async fn a_patch_has_the_properties_of_the_version_that_it_fixes() {
    let registries = registries().await;
    let schema = async |version: &str| {
        let file = format!("replicatedservice/{version}/replicatedservice.py.schema");
        let bytes = registries.download("default", &file).await.unwrap();
        yaml(std::str::from_utf8(&bytes).unwrap())["properties"].clone()
    };
    let (first, patch, minor) = (
        schema("v1").await,
        schema("v1.0.1").await,
        schema("v1.1").await,
    );
    assert_eq!(first, patch);
    for (property, rules) in first.as_object().unwrap() {
        assert_eq!(minor[property], *rules, "a MINOR keeps {property}");
    }
}
