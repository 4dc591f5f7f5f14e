//! Which values of a layout are secret.

use serde_json::json;

use super::*;

fn expansion() -> Expansion {
    serde_json::from_value(json!({
        "expandedConfig": {"resources": [
            {"name": "db", "type": "Pod", "properties": {
                "metadata": {"name": "db", "labels": {"app": "postgres"}},
                "env": [{"value": "postgres://u:hunter2@db"}, {"value": "1"}, {"value": "postgres"}]}},
            {"name": "key", "type": "v1:Secret", "properties": {
                "metadata": {"name": "key"}, "stringData": {"a": "x"}, "data": {"b": "bW9yZS1zZWNyZXQ="}}},
            {"name": "map", "type": "ConfigMap", "properties": {"data": {"c": "more-secret is in it"}}},
        ]},
        "layout": {"resources": [
            {"name": "app", "type": "app.py", "properties": {"password": "hunter2", "pin": 1, "name": "postgres", "open": true},
             "resources": [{"name": "postgres", "type": "Pod"}]},
        ]},
        "outputs": [{"name": "url", "value": "postgres://u:hunter2@db"}],
        "secrets": [
            {"path": "$.resources[0]", "pointer": "/password", "value": "hunter2"},
            {"path": "$.resources[0]", "pointer": "/pin", "value": 1},
            {"path": "$.resources[0]", "pointer": "/name", "value": "postgres"},
            {"path": "$.resources[0]", "pointer": "/open", "value": true},
        ],
    }))
    .unwrap()
}

fn redaction() -> Redaction {
    Redaction::new(secrets_of(&expansion()))
}

#[test]
fn an_expansion_is_told_without_its_secrets() {
    let mut reported = expansion();
    redaction().expansion(&mut reported);
    let reported = serde_json::to_value(reported).unwrap();
    let resources = &reported["expandedConfig"]["resources"];
    let env = &resources[0]["properties"]["env"];
    assert_eq!(
        *env,
        json!([{"value": "postgres://u:(redacted)@db"}, {"value": "1"}, {"value": "postgres"}])
    );
    assert_eq!(
        resources[0]["properties"]["metadata"]["labels"]["app"],
        "postgres"
    );
    let secret = json!({"metadata": {"name": "key"}, "stringData": {"a": REDACTED}, "data": {"b": REDACTED}});
    assert_eq!(resources[1]["properties"], secret);
    assert_eq!(
        resources[2]["properties"]["data"]["c"],
        "(redacted) is in it"
    );
    assert_eq!(
        reported["layout"]["resources"][0]["properties"],
        json!({"password": REDACTED, "pin": REDACTED, "name": REDACTED, "open": REDACTED})
    );
    assert_eq!(
        reported["outputs"][0]["value"],
        "postgres://u:(redacted)@db"
    );
    assert_eq!(reported.get("secrets"), None);
}

#[test]
fn a_configuration_is_told_as_it_was_written_but_for_its_secrets() {
    let redaction = redaction();
    let reported = redaction.content(
        "# hunter2 is mine\nresources:\n- name: app   # the app\n  type: app.py\n  properties:\n    \
             password: \"hun\\u0074er2\"\n    pin: 1\n    open: yes\n    name: postgres\n- {name: k, type: Secret, properties: {data: {a: eA==}}}\n",
    );
    assert_eq!(
        reported,
        "# (redacted) is mine\nresources:\n- name: app   # the app\n  type: app.py\n  properties:\n    \
             password: (redacted)\n    pin: (redacted)\n    open: (redacted)\n    name: (redacted)\n\
             - {name: k, type: Secret, properties: {data: {a: (redacted)}}}\n"
    );
}

#[test]
fn a_configuration_that_cannot_be_changed_in_place_is_told_as_it_was_read() {
    let redaction = redaction();
    let reported = redaction.content(
        "resources: [{name: app, type: app.py, properties: {password: !!str hunter2, pin: !!int 1}}]",
    );
    assert!(
        reported.contains("pin: (redacted)") && !reported.contains("hunter2"),
        "{reported}"
    );
    assert_eq!(redaction.content("a: ["), REDACTED);
}

#[test]
fn what_stands_for_a_secret_is_known_when_it_comes_back() {
    assert_eq!(given_back(&expansion()), None);
    let mut own = expansion();
    own.secrets[0].value = json!({"in": [REDACTED]});
    assert_eq!(
        given_back(&own).as_deref(),
        Some("$.resources[0].properties/password")
    );
    let mut passed_on = expansion();
    passed_on.expanded_config.resources[2].properties =
        Some(json!({"data": {"c": "x (redacted)"}}));
    assert_eq!(given_back(&passed_on).as_deref(), Some("resource 'map'"));
}
