use std::path::Path;

use super::read::{Source, read};
use super::*;

/// The faults of a catalog in a folder with one template.
fn faults(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("web.jinja"), "resources: []").unwrap();
    let source = Source {
        path: folder.path().join("catalog.yaml"),
        text: text.to_owned(),
    };
    let folder = format!("{}/", folder.path().display());
    match read(&[source]).catalog {
        Ok(_) => Vec::new(),
        Err(faults) => faults
            .iter()
            .map(|fault| fault.replace(&folder, ""))
            .collect(),
    }
}

/// A catalog with one plan.
fn plan(plan: &str) -> String {
    format!(
        "services:\n- id: s\n  name: n\n  description: d\n  bindable: false\n  plans:\n  - id: p\n    name: n\n    description: d\n    {plan}\n"
    )
}

#[test]
fn t021_to_t025_every_fault_is_reported_with_its_place() {
    let cases = [
        ("a: [", "catalog.yaml:2:1: while parsing"),
        ("[]", "it must be an object"),
        ("{}", "write services: []"),
        ("services: [1]", "/services/0: it must be an object"),
        ("services: [{}]", "/services/0/id: id is missing"),
        (
            "services: [{}]",
            "/services/0/description: description is missing",
        ),
        (
            "services: [{}]",
            "/services/0/bindable: bindable is missing",
        ),
        ("services: [{plans: []}]", "at least one plan"),
        (
            "services: [{bindable: maybe}]",
            "bindable must be true or false",
        ),
        (
            "services: [{requires: [root]}]",
            "\"root\" is none of syslog_drain",
        ),
        (
            "services: [{dashboard_client: {id: a}}]",
            "/dashboard_client/secret: secret is missing",
        ),
        (
            "services: [{id: a, name: n}, {id: a, name: n}]",
            "/services/1/id: another service or plan has this id",
        ),
        (
            "services: [{id: a, name: n}, {id: a, name: n}]",
            "/services/1/name: another service has this name",
        ),
        (
            "services: [{id: a, plans: [{id: a}]}]",
            "/plans/0/id: another service or plan has this id",
        ),
        (
            "services: [{plans: [{name: a}, {name: a}]}]",
            "/plans/1/name: another plan",
        ),
    ];
    for (text, expected) in cases {
        let faults = faults(text);
        let found = faults.iter().any(|fault| fault.contains(expected));
        assert!(found, "{text}: {faults:?}");
    }
}

#[test]
fn t022_to_t024_the_faults_of_a_plan() {
    let cases = [
        (
            "type: ''",
            "catalog.yaml:10:5: /services/0/plans/0/type: type must be a text",
        ),
        ("free: 1", "/type: type is missing"),
        ("type: missing.jinja", "missing.jinja cannot be read"),
        (
            "type: web, bindable: true",
            "the plan is bindable, and has no bind",
        ),
        ("type: web, bind: {type: web}", "the plan is not bindable"),
        (
            "type: web, bindable: true, bind: {type: web,async: true}",
            "set bindings_retrievable",
        ),
        (
            "type: web, namespace: Not",
            "/namespace: namespace \"Not\" is not valid",
        ),
        (
            "type: web, maintenance_info: {version: '1.2'}",
            "semantic version",
        ),
        (
            "type: web, maximum_polling_duration: long",
            "a number of seconds",
        ),
        (
            "type: web, schemas: {service_instance: {create: {parameters: {}}}}",
            "/parameters: the schema has no $schema",
        ),
        (
            "type: web, schemas: {service_instance: {update: {parameters: {$schema: a,$ref: 'http://a'}}}}",
            "outside of itself",
        ),
        (
            "type: web, schemas: {service_binding: {create: {parameters: {$schema: 'http://json-schema.org/draft-07/schema#',type: nothing}}}}",
            "the schema is not valid",
        ),
    ];
    for (text, expected) in cases {
        let text = plan(&text.replace(", ", "\n    "));
        let faults = faults(&text);
        let found = faults.iter().any(|fault| fault.contains(expected));
        assert!(found, "{text}: {faults:?}");
    }
}

#[test]
fn t024_a_schema_has_at_most_64_kb() {
    let schema = serde_json::json!({"$schema": "a", "title": "x".repeat(64 * 1024)});
    assert!(Schema::read(&schema).unwrap_err().contains("64 kB"));
}

#[test]
fn t024_parameters_that_do_not_fit_are_reported_by_their_paths_and_not_by_their_values() {
    let schema = serde_json::json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"size": {"maximum": 3}, "password": {"minLength": 9}},
    });
    let schema = Schema::read(&schema).unwrap();
    let faults = schema.faults(&serde_json::json!({"size": 9, "password": "s3cret"}));
    let faults = faults.unwrap();
    assert!(faults.contains("parameters/size") && faults.contains("parameters/password"));
    assert!(!faults.contains("s3cret"), "{faults}");
}

#[test]
fn a_type_that_is_a_file_brings_its_schema_and_what_that_imports() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("web.jinja", "resources: []");
    write(
        "web.jinja.schema",
        "imports: [{path: helper.py, name: help.py}]",
    );
    write("helper.py", "def help(): pass");
    let text = plan("type: web.jinja");
    let source = Source {
        path: folder.path().join("catalog.yaml"),
        text,
    };
    let reading = read(&[source]);
    let catalog = reading.catalog.unwrap();
    let (_, plan) = catalog.plan("s", "p").unwrap();
    let imports = plan.template.imports.iter();
    let imports: Vec<_> = imports.map(|one| (one.name.as_str(), one.path())).collect();
    let expected = [
        ("web.jinja.schema", "web.jinja.schema"),
        ("web.jinja", "web.jinja"),
        ("help.py", "helper.py"),
    ];
    assert_eq!(imports, expected);
    assert!(reading.files.contains(&folder.path().join("helper.py")));
}

#[test]
fn a_changed_file_is_read_again_and_a_fault_leaves_no_catalog() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.yaml");
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    write("services: []");
    let catalogs = Catalogs::open(vec![path.clone()]);
    assert_eq!(catalogs.get().unwrap().answer, r#"{"services":[]}"#);
    write("services: [1]");
    catalogs.look_now();
    assert!(catalogs.get().unwrap_err()[0].contains("it must be an object"));
    write(&plan("type: web"));
    catalogs.look_now();
    assert!(catalogs.get().unwrap().plan("s", "p").is_some());
    std::fs::remove_file(&path).unwrap();
    catalogs.look_now();
    assert!(catalogs.get().unwrap_err()[0].contains("cannot be read"));
    assert!(
        Catalogs::open(vec![Path::new("/nowhere").to_owned()])
            .get()
            .is_err()
    );
}

#[test]
fn t021_ids_are_those_of_the_file_and_the_tag_follows_the_contents() {
    let read_one = |text: &str| {
        let source = Source {
            path: "catalog.yaml".into(),
            text: text.to_owned(),
        };
        read(&[source]).catalog.unwrap()
    };
    let (one, same) = (read_one(&plan("type: web")), read_one(&plan("type: other")));
    assert_eq!((&one.tag, &one.answer), (&same.tag, &same.answer));
    let other = read_one(&plan("type: web\n    free: false"));
    assert_ne!(one.tag, other.tag);
}

const BROKER_CONFIG: &str = r#"
kind: Role
---
apiVersion: servicebroker.couchbase.com/v1alpha1
kind: ServiceBrokerConfig
spec:
  catalog:
    services:
    - id: s
      name: web
      description: d
      bindable: true
      plans: [{id: p, name: small, description: d, free: false}]
  templates: [{name: object, template: {kind: ConfigMap}}]
  bindings:
  - name: b
    service: web
    plan: small
    serviceInstance: {templates: [object]}
    serviceBinding: {templates: [object]}
"#;

fn of_broker_config(text: &str) -> Result<Catalog, Vec<String>> {
    let source = Source {
        path: "shop/broker.yaml".into(),
        text: text.to_owned(),
    };
    read(&[source]).catalog
}

#[test]
fn the_plans_of_a_broker_configuration_are_types_of_its_file() {
    let catalog = of_broker_config(BROKER_CONFIG).unwrap();
    let (service, plan) = catalog.plan("s", "p").unwrap();
    assert_eq!(plan.template.type_name.as_str(), "broker.yaml#web/small");
    assert_eq!(plan.template.imports[0].name, "broker.yaml");
    assert!(plan.is_async && plan.replaces_parameters && plan.expands_first);
    let bind = plan.bind.as_ref().unwrap();
    assert_eq!(
        bind.template.type_name.as_str(),
        "broker.yaml#web/small#binding"
    );
    assert!(!bind.is_async && service.bindings_retrievable);
    assert!(
        catalog.answer.contains(r#""free":false"#),
        "{}",
        catalog.answer
    );
}

#[test]
fn a_fault_of_a_broker_configuration_has_its_line_and_its_place() {
    for (from, to, expected) in [
        ("plan: small", "plan: x", "broker.yaml:13:"),
        (
            "kind: ConfigMap",
            "kind: '{{ x }}'",
            "/spec/templates/0/template/kind: function \"x\" not defined",
        ),
        ("id: p,", "id: s,", "another service or plan has this id"),
        (
            "kind: ServiceBrokerConfig",
            "kind: Other",
            "it has none of a ServiceBrokerConfig, a catalog",
        ),
    ] {
        let faults = of_broker_config(&BROKER_CONFIG.replace(from, to)).unwrap_err();
        let found = faults.iter().any(|fault| fault.contains(expected));
        assert!(found, "{to}: {faults:?}");
    }
}
