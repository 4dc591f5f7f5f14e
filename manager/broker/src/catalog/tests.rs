use std::path::Path;
use std::sync::Arc;

use super::read::read;
use super::source::fake::FakeSource;
use super::source::{File, FileSource, Folder, Source, SourceError};
use super::*;

/// A file, and what is beside it on disk.
fn file(path: &Path, text: &str) -> File {
    File {
        path: path.to_owned(),
        text: text.to_owned(),
        beside: Folder::Disk(path.parent().unwrap().to_owned()),
    }
}

/// The faults of a catalog in a folder with one template.
fn faults(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("web.jinja"), "resources: []").unwrap();
    let source = file(&folder.path().join("catalog.yaml"), text);
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
    let source = file(&folder.path().join("catalog.yaml"), &text);
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

#[tokio::test]
async fn a_changed_file_is_read_again_and_a_fault_leaves_no_catalog() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.yaml");
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    write("services: []");
    let open = async |path| {
        let source: Arc<dyn Source> = Arc::new(FileSource::new(path));
        Catalogs::open(vec![source]).await
    };
    let catalogs = open(path.clone()).await;
    assert_eq!(catalogs.get().unwrap().answer, r#"{"services":[]}"#);
    write("services: [1]");
    catalogs.look().await;
    assert!(catalogs.get().unwrap_err()[0].contains("it must be an object"));
    write(&plan("type: web.jinja"));
    catalogs.look().await;
    assert!(catalogs.get().unwrap_err()[0].contains("web.jinja cannot be read"));
    std::fs::write(folder.path().join("web.jinja"), "resources: []").unwrap();
    catalogs.look().await;
    assert!(catalogs.get().unwrap().plan("s", "p").is_some());
    std::fs::remove_file(&path).unwrap();
    catalogs.look().await;
    assert!(catalogs.get().unwrap_err()[0].contains("cannot be read"));
    assert!(open("/nowhere".into()).await.get().is_err());
}

#[tokio::test]
async fn a_source_that_is_unreachable_keeps_what_it_had_and_one_that_is_gone_does_not() {
    let source = FakeSource::new(&plan("type: web.jinja"), &[("web.jinja", "resources: []")]);
    let away = || SourceError::Unreachable("no answer".to_owned());
    source.fail(away());
    let catalogs = Catalogs::open(vec![Arc::new(source.clone())]).await;
    assert_eq!(*catalogs.get().unwrap_err(), ["no answer"]);
    source.put(&plan("type: web.jinja"), &[("web.jinja", "resources: []")]);
    catalogs.look().await;
    let first = catalogs.get().unwrap();
    let (_, found) = first.plan("s", "p").unwrap();
    assert_eq!(found.template.imports[0].content, "resources: []");
    catalogs.look().await;
    let same = catalogs.get().unwrap();
    assert!(
        Arc::ptr_eq(&first, &same),
        "what is equal is not read again"
    );
    source.fail(away());
    catalogs.look().await;
    assert!(Arc::ptr_eq(&first, &catalogs.get().unwrap()));
    source.fail(SourceError::Faulty("fake does not exist".to_owned()));
    catalogs.look().await;
    assert_eq!(*catalogs.get().unwrap_err(), ["fake does not exist"]);
    source.put(&plan("type: web.jinja"), &[]);
    catalogs.look().await;
    let faults = catalogs.get().unwrap_err();
    assert!(
        faults[0].contains("there are no files beside"),
        "{faults:?}"
    );
}

#[tokio::test]
async fn requests_are_answered_from_the_previous_catalog_while_documents_are_read() {
    let source = FakeSource::new("services: []", &[]);
    let catalogs = Catalogs::open(vec![Arc::new(source.clone())]).await;
    source.put(&plan("type: web"), &[]);
    let mut look = std::pin::pin!(catalogs.look());
    // The only thread of this test goes on: the documents are read on another.
    assert!(futures::poll!(look.as_mut()).is_pending());
    assert_eq!(catalogs.get().unwrap().answer, r#"{"services":[]}"#);
    look.await;
    assert!(catalogs.get().unwrap().plan("s", "p").is_some());
}

/// A catalog of so many plans of one type.
fn plans(count: usize, type_name: &str) -> String {
    let plan = |n| format!("  - {{id: p{n}, name: p{n}, description: d, type: {type_name}}}\n");
    let plans: String = (0..count).map(plan).collect();
    format!("services:\n- id: s\n  name: n\n  description: d\n  bindable: false\n  plans:\n{plans}")
}

fn of_fake(text: &str, beside: &[(&str, &str)]) -> Vec<String> {
    let beside = beside.iter();
    let beside = beside.map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_owned()));
    let file = File {
        path: "shop/catalog.yaml".into(),
        text: text.to_owned(),
        beside: Folder::Held(Arc::new(beside.collect())),
    };
    read(&[file]).catalog.err().unwrap_or_default()
}

#[test]
fn many_plans_with_the_same_large_file_are_too_large_together() {
    let large = "x".repeat(1024 * 1024);
    let beside = [("web.jinja", large.as_str())];
    assert_eq!(
        of_fake(&plans(60, "web.jinja"), &beside),
        Vec::<String>::new()
    );
    let faults = of_fake(&plans(70, "web.jinja"), &beside);
    assert!(
        faults[0].contains("larger than 64 MiB together"),
        "{faults:?}"
    );
}

#[test]
fn documents_and_faults_are_of_a_limited_number() {
    let text = format!("services: [] # {}", "x".repeat(9 * 1024 * 1024));
    let files = [1, 2].map(|n| file(Path::new(&format!("{n}.yaml")), &text));
    assert!(read(&files[..1]).catalog.is_ok());
    let faults = read(&files).catalog.unwrap_err();
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(
        faults[0].starts_with("2.yaml: all documents of the catalog"),
        "{faults:?}"
    );
    let faults = of_fake(&plans(300, "''"), &[]);
    assert_eq!(faults.len(), 101);
    assert_eq!(faults[100], "there are more faults");
}

#[test]
fn t021_ids_are_those_of_the_file_and_the_tag_follows_the_contents() {
    let read_one = |text: &str| {
        let source = file(Path::new("catalog.yaml"), text);
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
    let source = file(Path::new("shop/broker.yaml"), text);
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
    let Gives::Outputs(template) = &bind.gives else {
        panic!("{bind:?}")
    };
    assert_eq!(template.type_name.as_str(), "broker.yaml#web/small#binding");
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

const TEMPLATE: &str = r#"
apiVersion: template.openshift.io/v1
kind: Template
metadata:
  name: redis
  namespace: shop
  annotations:
    description: A store of keys
    tags: "database, redis"
    iconClass: icon-redis
    openshift.io/display-name: Redis
objects: []
parameters:
- {name: MEMORY, displayName: Memory, value: 1Gi}
- {name: PASSWORD, generate: expression, from: "[a-z]{8}", required: true}
- {name: PLACE, required: true}
"#;

fn of_template(text: &str) -> Result<Catalog, Vec<String>> {
    read(&[file(Path::new("redis.template.yaml"), text)]).catalog
}

#[test]
fn a_template_is_a_service_with_its_annotations_as_metadata() {
    let catalog = of_template(TEMPLATE).unwrap();
    let answer: Value = serde_json::from_str(&catalog.answer).unwrap();
    let service = &answer["services"][0];
    assert_eq!(service["name"], "redis");
    assert_eq!(service["description"], "A store of keys");
    assert_eq!(service["tags"], serde_json::json!(["database", "redis"]));
    let metadata =
        serde_json::json!({"displayName": "Redis", "console.openshift.io/iconClass": "icon-redis"});
    assert_eq!(service["metadata"], metadata);
    let schema = &service["plans"][0]["schemas"]["service_instance"]["create"]["parameters"];
    assert_eq!(schema["required"], serde_json::json!(["PLACE"]));
    assert_eq!(schema["properties"]["MEMORY"]["default"], "1Gi");
    let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
    let (service_id, plan_id) = (id(service), id(&service["plans"][0]));
    let (_, plan) = catalog.plan(&service_id, &plan_id).unwrap();
    assert_eq!(plan.template.type_name.as_str(), "redis.template.yaml");
    assert!(matches!(plan.bind.as_ref().unwrap().gives, Gives::Exposed));
    let changed = of_template(&TEMPLATE.replace("1Gi", "2Gi")).unwrap();
    assert!(changed.plan(&service_id, &plan_id).is_some(), "ids stay");
}

#[test]
fn a_template_may_say_that_it_has_no_bindings_and_its_faults_have_places() {
    let bindable = TEMPLATE.replace(
        "tags:",
        "template.openshift.io/bindable: 'false'\n    tags:",
    );
    let catalog = of_template(&bindable).unwrap();
    assert!(
        catalog.answer.contains(r#""bindable":false"#),
        "{}",
        catalog.answer
    );
    let faults = of_template(&TEMPLATE.replace("name: MEMORY", "name: '-'")).unwrap_err();
    assert!(faults[0].contains("redis.template.yaml:14:"), "{faults:?}");
    assert!(faults[0].contains("/parameters/0/name"), "{faults:?}");
    let twice = format!("{TEMPLATE}---\n{TEMPLATE}");
    let faults = of_template(&twice).unwrap_err().join(" ");
    assert!(faults.contains("another service has this name"), "{faults}");
    assert!(
        faults.contains("another service or plan has this id"),
        "{faults}"
    );
}
