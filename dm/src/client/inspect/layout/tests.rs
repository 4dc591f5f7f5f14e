use common::model::{Manifest, ManifestName, OperationType};
use jiff::Timestamp;
use serde_json::json;

use super::object::find;
use super::why::{answer, render};
use crate::client::inspect::history::{Revision, State};

fn manifest() -> Manifest {
    let origin = |file: &str, line: u32| json!({"file": file, "line": line});
    serde_json::from_value(json!({
        "name": "m-3", "deployment": "web", "createdAt": "2026-01-01T00:00:00Z", "revision": 3,
        "inputConfig": {"content": ""}, "digests": {"input": "", "resolvedTypes": "", "expansion": ""},
        "resolvedTypes": [{"type": "shop:v1", "version": "v1.0.2", "url": "https://h/shop.jinja", "sha256": ""}],
        "expandedConfig": {"resources": [
            {"name": "pods", "type": "apps/v1/Deployment", "properties": {"metadata": {"name": "web"}}},
            {"name": "web", "type": "Service"},
            {"name": "alone", "type": "ConfigMap"},
        ]},
        "layout": {"resources": [
            {"name": "shop", "type": "shop:v1", "properties": {"size": 2}, "origin": origin("web", 2), "resources": [
                {"name": "bare", "type": "empty.jinja"},
                {"name": "pods", "type": "apps/v1/Deployment", "origin": origin("shop.jinja", 7)},
                {"name": "web", "type": "Service"},
            ]},
            {"name": "alone", "type": "ConfigMap"},
        ]},
    }))
    .unwrap()
}

fn revision() -> Revision {
    Revision {
        revision: 3,
        manifest: ManifestName::parse("m-3").unwrap(),
        created_at: Timestamp::UNIX_EPOCH,
        state: State::Deployed,
        operation: None,
        operation_type: Some(OperationType::Update),
        user: Some("ana".to_owned()),
        templates: Vec::new(),
    }
}

#[test]
fn the_way_to_an_object_has_files_versions_and_inputs() {
    let why = answer(manifest(), Some(revision()), "deployment/web").unwrap();
    let now = "2026-01-01T00:05:00Z".parse().unwrap();
    insta::assert_snapshot!(render(&why, now, None), @r"
    revision 3, m-3, update by ana, 5m ago

    NAME     TYPE                WRITTEN IN       VERSION  PATH
    shop     shop:v1             configuration:2  v1.0.2   $.resources[0]
    └─ pods  apps/v1/Deployment  shop.jinja:7              $.resources[0].resources[1]

    Inputs of shop:
      size: 2
    ");
}

#[test]
fn an_object_is_found_by_its_names_and_its_path() {
    let manifest = manifest();
    for (object, path) in [
        ("pods", "$.resources[0].resources[1]"),
        ("Deployment/web", "$.resources[0].resources[1]"),
        ("Service/web", "$.resources[0].resources[2]"),
        ("alone", "$.resources[1]"),
        ("shop", "$.resources[0]"),
        ("bare", "$.resources[0].resources[0]"),
        ("$.resources[1]", "$.resources[1]"),
    ] {
        assert_eq!(
            find(&manifest, object).unwrap().to_string(),
            path,
            "{object}"
        );
    }
    let both = find(&manifest, "web").unwrap_err().to_string();
    assert!(
        both.contains("Deployment/web") && both.contains("Service/web"),
        "{both}"
    );
    for absent in ["other", "Pod/web", "$.resources[7]"] {
        assert!(find(&manifest, absent).is_err(), "{absent}");
    }
}
