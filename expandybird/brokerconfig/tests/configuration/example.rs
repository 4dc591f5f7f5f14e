//! A whole configuration: its catalog, its registry, its objects, and its faults.

use std::collections::BTreeMap;

use crate::support::{config, inputs, kept, small};
use expandybird_brokerconfig::{Action, Inputs, Kept, Processed, process};
use serde_json::{Value, json};

const WEB: &str = include_str!("web.yaml");

fn processed(inputs: Inputs) -> Processed {
    process(&config(WEB).unwrap(), inputs).unwrap()
}

fn objects(processed: &Processed) -> Vec<&Value> {
    processed
        .objects
        .iter()
        .map(|object| &object.value)
        .collect()
}

fn parameters() -> Value {
    let ports = json!([{"name": "http", "port": 80}, {"name": "admin", "port": 9000}]);
    json!({"size": 2, "host": "www.example.test", "ports": ports})
}

/// The kept values of an instance, as a binding gets them.
fn inherited(processed: &Processed) -> BTreeMap<String, Kept> {
    let kept = kept(processed).into_iter();
    kept.map(|(name, value)| (format!("instance:{name}"), value))
        .collect()
}

#[test]
fn an_instance_has_the_objects_of_its_steps_with_its_parameters() {
    let processed = processed(inputs(parameters(), BTreeMap::new()));
    let found = objects(&processed);
    let labels = json!({"app": "web", "instance": "web-camelot"});
    assert_eq!(
        found[0]["metadata"],
        json!({"name": "web-camelot-config", "labels": labels})
    );
    assert_eq!(found[0]["stringData"]["host"], "www.example.test");
    let password = found[0]["stringData"]["admin"].as_str().unwrap();
    assert!(password.len() == 16 && password.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let spec = &found[1]["spec"];
    assert_eq!(spec["replicas"], json!(2));
    assert_eq!(spec["selector"]["matchLabels"], labels);
    assert_eq!(spec["template"]["metadata"]["labels"], labels);
    assert_eq!(spec["template"]["spec"]["hostname"], "www.example.test");
    let ports =
        json!([{"name": "http", "containerPort": 80}, {"name": "admin", "containerPort": 9000}]);
    assert_eq!(spec["template"]["spec"]["containers"][0]["ports"], ports);
    assert_eq!(found[2]["metadata"]["name"], "web-shared");
    let places = processed.objects.iter();
    let places: Vec<_> = places.map(|one| (one.step, one.is_singleton)).collect();
    assert_eq!(places, [(0, false), (1, false), (1, true)]);
    assert_eq!(
        processed.outputs["dashboard_url"],
        "http://web-camelot.shop.svc"
    );
    let check = &processed.checks[0];
    assert_eq!((check.step, check.timeout.as_secs()), (1, 120));
    assert_eq!(
        (check.object.as_str(), check.namespace.as_deref()),
        ("web-camelot", Some("shop"))
    );
}

#[test]
fn without_parameters_the_optional_parts_are_missing() {
    let processed = processed(inputs(json!({}), BTreeMap::new()));
    let found = objects(&processed);
    let keys = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&found[0]["stringData"]), ["admin"]);
    let pod = &found[1]["spec"]["template"]["spec"];
    assert_eq!(found[1]["spec"]["replicas"], json!(1));
    assert_eq!(keys(pod), ["containers"]);
    assert_eq!(pod["containers"][0]["ports"], json!([]));
}

#[test]
fn an_update_keeps_the_registry_and_replaces_what_parameters_decide() {
    let first = processed(inputs(parameters(), BTreeMap::new()));
    let second = processed(inputs(json!({"size": 3}), kept(&first)));
    let (before, after) = (objects(&first), objects(&second));
    assert_eq!(
        before[0]["stringData"]["admin"],
        after[0]["stringData"]["admin"]
    );
    assert_eq!(after[1]["spec"]["replicas"], json!(3));
    assert!(
        after[1]["spec"]["template"]["spec"]
            .get("hostname")
            .is_none()
    );
    assert_eq!(before[2], after[2]);
    assert_eq!(kept(&first), kept(&second));
}

#[test]
fn a_binding_has_the_registry_of_its_instance_and_values_of_its_own() {
    let instance = processed(inputs(parameters(), BTreeMap::new()));
    let bind = |kept| Inputs {
        action: Action::Binding,
        binding_id: Some("excalibur".to_owned()),
        ..inputs(json!({"role": "editor"}), kept)
    };
    let binding = processed(bind(inherited(&instance)));
    let credentials = binding.outputs["credentials"].as_object().unwrap();
    assert_eq!(credentials["url"], "http://web-camelot.shop.svc");
    assert_eq!(credentials["username"], "user-excalibur");
    let password = credentials["password"].as_str().unwrap();
    let is_digit = |c: char| "abcdef0123456789".contains(c);
    assert!(password.len() == 12 && password.chars().all(is_digit));
    assert_eq!(credentials.len(), 3, "the certificate is null, and removed");
    let object = objects(&binding)[0];
    assert_eq!(object["metadata"]["name"], "user-excalibur");
    assert_eq!(
        object["stringData"],
        json!({"password": password, "role": "editor"})
    );
    let again = processed(bind(kept(&binding)));
    assert_eq!(again.outputs, binding.outputs);
}

#[test]
fn generated_values_are_secret_unless_they_are_names_of_objects() {
    let registry = json!([
        {"name": "short", "value": "{{ generatePassword 6 \"abc\" }}"},
        {"name": "name", "value": "{{ printf \"db-%s\" (registry \"short\") }}"},
        {"name": "url", "value": "{{ printf \"http://%s\" (registry \"name\") }}"},
        {"name": "password", "value": "{{ generatePassword 20 nil }}"},
        {"name": "uri", "value": "{{ printf \"db://me:%s@db\" (registry \"password\") }}"},
        {"name": "all", "value": "{{ snippet \"all\" }}"},
    ]);
    let template =
        json!({"metadata": {"name": "{{ registry \"name\" }}"}, "own": "{{ generatePetName 2 }}"});
    let others = json!([{"name": "all", "template": {"password": "{{ registry \"password\" }}"}}]);
    let config = config(&small(&template, &registry, &others)).unwrap();
    let done = process(&config, inputs(json!({}), BTreeMap::new())).unwrap();
    let secret: Vec<_> = done.used.iter().filter(|one| one.secret).collect();
    let names: Vec<_> = secret.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(
        names.contains(&"password") && names.contains(&"uri"),
        "{names:?}"
    );
    let own = done
        .used
        .iter()
        .find(|one| one.name.contains("generatePetName"));
    assert_eq!(
        own.map(|one| &one.value),
        Some(&done.objects[0].value["own"])
    );
    let again = process(&config, inputs(json!({}), kept(&done))).unwrap();
    assert_eq!(again, done);
    let mut without = kept(&done);
    without.remove("password");
    let changed = process(&config, inputs(json!({}), without)).unwrap();
    assert_ne!(kept(&changed)["password"], kept(&done)["password"]);
    assert_eq!(kept(&changed)["name"], kept(&done)["name"]);
}

#[test]
fn every_fault_is_found_with_its_place() {
    for (from, to, expected) in [
        (
            "plan: small",
            "plan: other",
            "service plan 'small' for offering 'web' does not have a binding",
        ),
        (
            "plan: small",
            "plan: other",
            "/spec/bindings/0: binding 'web-small' is of plan 'other' of 'web', which the catalog lacks",
        ),
        (
            "bindable: true",
            "bindable: false",
            "not bindable, but binding 'web-small' defines service binding",
        ),
        (
            "    serviceBinding:",
            "    other:",
            "bindable, but binding 'web-small' does not define service binding",
        ),
        (
            "templates: [user-secret]",
            "templates: [nosuch]",
            "/serviceBinding/templates/0: template 'nosuch', referenced by binding 'web-small' service binding, must exist",
        ),
        (
            "templates: [web-config]",
            "templates: [nosuch]",
            "/steps/0/templates/0: template 'nosuch'",
        ),
        (
            "{name: credentials, template: {url",
            "{name: labels, template: {url",
            "another template has this name",
        ),
        (
            "template: {app: web, instance",
            "template: [a], x: {instance",
            "/spec/templates/0/template: it must be an object",
        ),
        (
            "'{{ registry \"user\" }}'}, stringData",
            "'{{ registry \"user\" '}, stringData",
            "malformed",
        ),
        (
            "snippet \"credentials\"",
            "snippet \"nosuch\"",
            "/serviceBinding/registry/2/value: there is no template \"nosuch\"",
        ),
        ("timeout: 2m", "timeout: soon", "time: invalid duration"),
        (
            "{name: user, value",
            "{name: plan-id, value",
            "registry key plan-id cannot be written",
        ),
        (
            "{name: user, value",
            "{name: parameters, value",
            "registry key parameters cannot be written",
        ),
        (
            "description: A small web tier, ",
            "",
            "description is missing",
        ),
        (
            "      steps:",
            "      templates: [web-config]\n      steps:",
            "templates and steps exclude each other",
        ),
        (
            "instance: '{{ registry \"name\" }}'",
            "instance: '{{ snippet \"labels\" }}'",
            "in a circle: labels → labels",
        ),
        (
            "requires: []",
            "requires: [root]",
            "\"root\" is none of syslog_drain",
        ),
    ] {
        assert!(WEB.contains(from), "{from}");
        let faults = config(&WEB.replacen(from, to, 1)).unwrap_err();
        let has = faults
            .iter()
            .any(|fault| fault.contains(expected) && fault.starts_with("broker.yaml:"));
        assert!(has, "{from} → {to}: {faults:#?}");
    }
}

#[test]
fn a_text_that_only_looks_dynamic_is_a_warning() {
    let template = json!({"a": "x {{ registry \"name\" }}"});
    let config = config(&small(&template, &json!([]), &json!([]))).unwrap();
    let places: Vec<_> = config
        .warnings
        .iter()
        .map(|one| one.pointer.as_str())
        .collect();
    assert_eq!(places, ["/spec/templates/0/template/a"]);
}

#[test]
fn platforms_see_the_services_in_the_words_of_the_open_service_broker_api() {
    let config = config(WEB).unwrap();
    let service = &config.services[0];
    assert_eq!(service.listed["plan_updateable"], false);
    assert_eq!(service.listed["bindable"], true);
    let plan = &service.plans[0].listed;
    let schema = &plan["schemas"]["service_instance"]["create"]["parameters"];
    assert_eq!(schema["properties"]["size"]["maximum"], 5);
    assert_eq!(plan.get("free"), None);
}
