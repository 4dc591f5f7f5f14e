//! References, and what they mean.

use super::*;

fn parse(text: &str) -> Result<Reference, ReferenceError> {
    Reference::parse(text, &["default"])
}

fn template(collection: Option<&str>, template: &str, version: &str) -> TemplateVersion {
    TemplateVersion {
        collection: collection.map(str::to_owned),
        template: template.to_owned(),
        version: version.parse().unwrap(),
    }
}

fn github(owner: &str, repository: &str, template: TemplateVersion) -> Reference {
    Reference::Github {
        owner: owner.to_owned(),
        repository: repository.to_owned(),
        template,
    }
}

/// Every form of a reference in docs/reference/registries.md.
#[test]
fn the_seeds_valid_examples_are_references() {
    let dots = Some("dot.delimited.strings.are.allowed");
    for (text, expected) in [
        (
            "github.com/ownerA/repository2/templateA:v1",
            github("ownerA", "repository2", template(None, "templateA", "v1")),
        ),
        (
            "github.com/ownerA/repository2/collectionM/templateA:v1",
            github(
                "ownerA",
                "repository2",
                template(Some("collectionM"), "templateA", "v1"),
            ),
        ),
        (
            "github.com/ownerA/repository2/dot.delimited.strings.are.allowed/templateA:v1",
            github("ownerA", "repository2", template(dots, "templateA", "v1")),
        ),
        (
            "github.com/my-org/my-repo/my-collection/template-name:v1.1.0",
            github(
                "my-org",
                "my-repo",
                template(Some("my-collection"), "template-name", "v1.1"),
            ),
        ),
        (
            "https://raw.githubusercontent.com/ownerA/repository2/master/templateA/v1/templateA.py",
            Reference::Url {
                base: "https://raw.githubusercontent.com/ownerA/repository2/master/templateA/v1/"
                    .parse()
                    .unwrap(),
                file: "templateA.py".to_owned(),
            },
        ),
    ] {
        assert_eq!(parse(text), Ok(expected), "{text}");
        assert!(Reference::is_meant(text), "{text}");
    }
}

#[test]
fn the_seeds_invalid_example_is_refused_with_the_grammar() {
    let text = "github.com/ownerA/repository2/multiple/path/segments/are/not/allowed/templateA:v1";
    let error = parse(text).unwrap_err().to_string();
    assert!(
        error.contains("[<collection>/]<template>:<version>"),
        "{error}"
    );
    assert!(
        Reference::is_meant(text),
        "it is a reference that is malformed, not a Kubernetes kind"
    );
}

#[test]
fn short_references_name_a_template_of_the_default_registry_or_of_a_registered_one() {
    for (text, registry, expected) in [
        ("redis:v1", None, template(None, "redis", "v1")),
        ("db/redis:v1.2", None, template(Some("db"), "redis", "v1.2")),
        (
            "default/redis:v1",
            Some("default"),
            template(None, "redis", "v1"),
        ),
        (
            "default/db/redis:v1",
            Some("default"),
            template(Some("db"), "redis", "v1"),
        ),
        ("default:v1", None, template(None, "default", "v1")),
    ] {
        let registry = registry.map(str::to_owned);
        assert_eq!(
            parse(text),
            Ok(Reference::Registered {
                registry,
                template: expected
            }),
            "{text}"
        );
    }
}

#[test]
fn what_is_malformed_is_refused_with_the_reason() {
    for (text, reason) in [
        ("github.com/a/b/c", "no version"),
        ("github.com/a/b:v1", "github.com/<owner>"),
        ("github.com/a/b/c:1.0", "v1.1.0"),
        ("github.com/a/../c/d:v1", "\"..\""),
        ("github.com//b/c:v1", "\"\""),
        ("a/b/c:v1", "registry's name"),
        ("https://host/a/b.txt", ".jinja"),
        ("https://host/.py", ".jinja"),
        ("https://host/a/b.py?token=1", "'?'"),
        ("https://user:secret@host/b.py", "credentials"),
        ("https://", "host"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn kubernetes_kinds_and_files_are_no_references() {
    for text in [
        "Service",
        "apps/v1/Deployment",
        "apps/v1:Deployment",
        "v1:Service",
        "template.py",
        "a/b.jinja",
        "redis:",
        ":v1",
        "redis",
        "redis:latest",
        "monitoring.coreos.com/v1/ServiceMonitor",
        "text: v1",
        "$(ref.a.b):v1",
    ] {
        assert!(!Reference::is_meant(text), "{text}");
    }
}
