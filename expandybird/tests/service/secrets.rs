//! The answer has the places of values that a schema marks as secret. No error contains them.

use common::model::LayoutPath;
use serde_json::json;

use super::{Duration, expander, jinja, request_of};

const SCHEMA: &str = "properties:\n  password: {type: string, format: password, default: dEfault-s3cret}\n  \
    keys: {type: array, items: {writeOnly: true}}\n  size: {type: integer}\n";

#[tokio::test]
async fn marked_values_are_named_wherever_the_template_is_used() {
    let outer =
        "resources: [{name: in, type: db.jinja, properties: {password: {{ properties.pass }}}}]";
    let request = request_of(
        "resources:\n- {name: a, type: db.jinja, properties: {keys: [one, two]}}\n- {name: b, type: outer.jinja, properties: {pass: hunter2}}",
        &[
            ("db.jinja", "resources: [{name: p, type: Pod}]"),
            ("db.jinja.schema", SCHEMA),
            ("outer.jinja", outer),
        ],
    );
    let expander = expander(Duration::from_secs(20), jinja::Limits::default());
    let answer = expander.expand(request).await.unwrap();
    let found: Vec<_> = answer
        .secrets
        .into_iter()
        .map(|secret| json!([secret.path.to_string(), secret.pointer, secret.value]))
        .collect();
    assert_eq!(
        found,
        [
            json!(["$.resources[0]", "/keys/0", "one"]),
            json!(["$.resources[0]", "/keys/1", "two"]),
            json!(["$.resources[0]", "/password", "dEfault-s3cret"]),
            json!(["$.resources[1].resources[0]", "/password", "hunter2"]),
        ]
    );
    assert!(answer.layout.at(&LayoutPath::root().child(1)).is_some());
}

#[tokio::test]
async fn no_error_tells_a_marked_value() {
    let configuration = "resources: [{name: a, type: TEMPLATE, properties: {password: hunter2, keys: [k3y-to-all]}}, MORE]";
    let other = "{name: z, type: Pod}";
    let jinja = |text: &str| ("db.jinja", text.to_owned(), other.to_owned());
    let python = |text: &str| {
        (
            "db.py",
            format!("def GenerateConfig(context):\n  {text}\n"),
            other.to_owned(),
        )
    };
    let cases = [
        jinja("{{ fail(properties.password) }}"),
        jinja("{{ properties['password'].hunter2.x }}"),
        jinja("resources: [{{ properties.password }}: ["),
        jinja("{{ properties.password }}"),
        jinja(
            "resources: [{name: x, type: Pod, properties: '$(ref.{{ properties.password }}.x)'}]",
        ),
        jinja(
            "resources: [{name: '{{ properties.password }}', type: Pod}, {name: '{{ properties.password }}', type: Pod}]",
        ),
        python(
            "raise Exception('bad ' + context.properties['password'] + context.properties['keys'][0])",
        ),
        python("return {context.properties['password']: context.properties['keys']}"),
        python("return context.properties['password']"),
        python("import hunter2"),
        (
            "db.jinja",
            "resources: []".to_owned(),
            "{name: a, type: Pod}".to_owned(),
        ),
        (
            "db.jinja",
            "resources: []".to_owned(),
            "{name: b, type: Pod, metadata: {dependsOn: 1}}".to_owned(),
        ),
        (
            "db.jinja",
            "resources: []".to_owned(),
            "{name: b, type: db.jinja, properties: {size: hunter2}}".to_owned(),
        ),
    ];
    let expander = expander(Duration::from_secs(20), jinja::Limits::default());
    for (name, template, more) in cases {
        let content = configuration
            .replace("TEMPLATE", name)
            .replace("MORE", &more);
        let schema = format!("{name}.schema");
        let request = request_of(&content, &[(name, &template), (&schema, SCHEMA)]);
        let Err(error) = expander.expand(request).await else {
            panic!("{template} has not failed")
        };
        let reported = serde_json::to_string(&error.0).unwrap();
        assert!(
            !reported.contains("hunter2") && !reported.contains("k3y-to"),
            "{template}: {reported}"
        );
    }
}

#[tokio::test]
async fn no_error_tells_the_values_of_a_kubernetes_secret() {
    let secret = "{name: s, type: Secret, properties: {stringData: {p: hunter2-s3cret}, data: {q: aHVudGVyMg==}}}";
    let cases = [
        format!("resources: [{secret}, {{name: s, type: Pod}}]"),
        format!("resources: [{secret}, {{name: b, type: db.jinja}}]"),
        "resources: [{name: b, type: made.jinja}]".to_owned(),
    ];
    let made = format!("resources: [{secret}, {{name: s, type: Pod}}]");
    let imports = [
        ("db.jinja", "{{ fail('no') }}"),
        ("made.jinja", made.as_str()),
    ];
    let expander = expander(Duration::from_secs(20), jinja::Limits::default());
    for content in cases {
        let Err(error) = expander.expand(request_of(&content, &imports)).await else {
            panic!("{content} has not failed")
        };
        let reported = serde_json::to_string(&error.0).unwrap();
        assert!(
            !reported.contains("hunter2") && !reported.contains("aHVudGVy"),
            "{content}: {reported}"
        );
    }
}
