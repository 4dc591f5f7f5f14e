//! A whole plan with every action, the functions of the Inter-operator, and templates that mean harm.

#![expect(clippy::unwrap_used, reason = "what drives the tests is part of them")]

use expandybird_sfplan::{
    Action, BindingFacts, Facts, Made, Plan, PlanError, State, documents, object_name, render,
    sources, status, values,
};
use expandybird_sprig::made::{Host, Values};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

const CACHE: &str = include_str!("../../../e2e/tests/journeys/plans/cache.yaml");
const POSTGRESQL: &str = include_str!("../../../e2e/tests/journeys/plans/postgresql.yaml");
const USERS: &str = include_str!("../../../e2e/tests/journeys/plans/users.yaml");

fn document(text: &str) -> Value {
    expandybird_chart::yaml::read(text.as_bytes()).unwrap()
}

fn plan(text: &str) -> Plan {
    let service = json!({"spec": {"id": "data", "context": {"domain": "example.test"}}});
    Plan::new(document(text), Some(service)).unwrap()
}

fn facts(instance: &str, binding: Option<&str>) -> Facts {
    let parameters = json!({"replicas": 3, "annotations": {"team": "blue"}});
    Facts {
        namespace: "sf-demo".to_owned(),
        instance_id: instance.to_owned(),
        service_id: "data".to_owned(),
        plan_id: "cache".to_owned(),
        instance: Map::from_iter([("parameters".to_owned(), parameters)]),
        state: "in_queue".to_owned(),
        binding: binding.map(|id| BindingFacts {
            id: id.to_owned(),
            spec: Map::new(),
        }),
        ..Facts::default()
    }
}

/// Nothing is made up in these plans.
struct Nothing;

impl Values for Nothing {
    fn kept(&self, _: &str) -> Option<String> {
        None
    }

    fn random(&mut self, _: &str, bytes: &mut [u8]) {
        bytes.fill(0);
    }

    fn time(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn used(&mut self, _: &str, _: &str, _: bool) {}
}

fn printed(plan: &Plan, action: Action, facts: &Facts, found: &Value) -> Result<String, PlanError> {
    let found = found.as_object().cloned().unwrap_or_default();
    let made = Made {
        host: Host::new(Box::new(Nothing)),
    };
    render(plan, action, &facts.subject(), &found, made)
}

/// What the template of an action prints in a plan of its own.
fn one(template: &str, found: &Value) -> Result<String, String> {
    let entry = |action: &str, content: &str| json!({"action": action, "type": "gotemplate", "content": content});
    let templates = [
        entry("provision", template),
        entry("bind", "---"),
        entry("sources", "{}"),
        entry("status", "{}"),
    ];
    let plan = json!({"spec": {"context": {"number": 7}, "templates": templates}});
    let plan = Plan::new(plan, None).unwrap();
    printed(&plan, Action::Provision, &facts("demo", None), found)
        .map_err(|error| error.to_string())
}

#[test]
fn a_status_follows_the_live_objects() {
    let plan = plan(CACHE);
    let set = |ready: u64| json!({"spec": {"replicas": 3}, "status": {"readyReplicas": ready}});
    let user = json!({"data": {"password": "cHctYjE="}});
    let cases = [
        (
            json!({}),
            ["in progress", "in progress", "succeeded", "succeeded"],
        ),
        (
            json!({"sts": set(1)}),
            ["in progress", "in progress", "succeeded", "in progress"],
        ),
        (
            json!({"sts": set(3)}),
            ["succeeded", "in progress", "succeeded", "in progress"],
        ),
        (
            json!({"sts": set(3), "user": user}),
            ["succeeded", "succeeded", "in progress", "in progress"],
        ),
    ];
    for (found, expected) in cases {
        let text = printed(&plan, Action::Status, &facts("demo", Some("b1")), &found).unwrap();
        let blocks = ["provision", "bind", "unbind", "deprovision"];
        let states = blocks.map(|block| match status(&text, block).unwrap().state {
            State::Succeeded => "succeeded",
            State::InProgress => "in progress",
            other => panic!("{other:?}"),
        });
        assert_eq!(states, expected, "{found}");
        let wanted = status(&text, "provision").unwrap().response;
        let number = if found["sts"].is_null() { -1 } else { 3 };
        assert_eq!(wanted, format!("{number} replicas wanted"));
        if !found["user"].is_null() {
            let response = status(&text, "bind").unwrap().response;
            let response: Value = serde_json::from_str(&response).unwrap();
            let credentials = json!({"host": "cache-demo", "password": "pw-b1"});
            assert_eq!(response["credentials"], credentials);
        }
    }
}

#[test]
fn the_objects_of_a_plan_are_those_of_the_original() {
    let plan = plan(CACHE);
    let text = printed(&plan, Action::Provision, &facts("demo", None), &json!({})).unwrap();
    let objects = documents(Action::Provision, &text).unwrap();
    assert_eq!(
        objects[0].value["stringData"]["password"],
        "2a97516c354b68848cdb"
    );
    assert_eq!(objects[1].value["spec"]["replicas"], 3);
    let metadata = &objects[1].value["spec"]["template"]["metadata"];
    assert_eq!(metadata["annotations"], json!({"team": "blue"}));
    let text = printed(
        &plan,
        Action::Sources,
        &facts("demo", Some("b1")),
        &json!({}),
    )
    .unwrap();
    let keys: Vec<_> = sources(&text)
        .unwrap()
        .into_iter()
        .map(|one| one.key)
        .collect();
    assert_eq!(keys, ["sts", "user", "nothing", "unserved"]);
}

#[test]
fn a_release_has_the_name_that_templates_compute() {
    for (id, release) in [
        ("0304b210-fcfd-11e8-a31b-b6001f10c97f", "in-2836203859"),
        ("de3dd272-fcfc-11e8-a31b-b6001f10c97f", "in-3202288117"),
        ("demo", "in-67895718"),
    ] {
        let facts = facts(id, None);
        assert_eq!(facts.subject().release(), release);
        let text = printed(&plan(POSTGRESQL), Action::Provision, &facts, &json!({})).unwrap();
        let values = values(Action::Provision, &text).unwrap();
        assert_eq!(values["postgresqlPassword"], format!("{release}-password"));
    }
}

#[test]
fn the_chart_sample_answers_with_its_credentials() {
    let found = json!({
        "statefulset": {"status": {"replicas": 1, "readyReplicas": 1}},
        "service": {"spec": {"clusterIP": "10.0.0.7"}},
        "secret": {"data": {"postgresql-password": "aHVudGVyMg=="}},
    });
    let (plan, facts) = (plan(POSTGRESQL), facts("demo", Some("b1")));
    let text = printed(&plan, Action::Status, &facts, &found).unwrap();
    let bind = status(&text, "bind").unwrap();
    let response =
        r#"{ "credentials":{"host": "10.0.0.7", "username": "postgres", "password": "hunter2"} }"#;
    assert_eq!(
        (bind.state, bind.response.as_str()),
        (State::Succeeded, response)
    );
    let nothing = printed(&plan, Action::Status, &facts, &json!({})).unwrap();
    let states = ["provision", "bind", "unbind", "deprovision"];
    let states = states.map(|block| status(&nothing, block).unwrap().state);
    use State::{InProgress, Succeeded};
    assert_eq!(states, [InProgress, InProgress, Succeeded, Succeeded]);
    let text = printed(&plan, Action::Bind, &facts, &found).unwrap();
    assert_eq!(documents(Action::Bind, &text).unwrap(), []);
}

#[test]
fn a_bind_and_an_unbind_change_a_live_object_in_place() {
    let users = plan(USERS);
    let live = json!({"users": {"kind": "ConfigMap", "data": {"main": "superuser"}}});
    let text = printed(&users, Action::Bind, &facts("demo", Some("b1")), &live).unwrap();
    assert_eq!(
        document(&text)["data"],
        json!({"main": "superuser", "b1": "superuser"})
    );
    let live = json!({"users": {"kind": "ConfigMap", "data": {"main": "superuser", "b1": "x"}}});
    let text = printed(&users, Action::Unbind, &facts("demo", Some("b1")), &live).unwrap();
    assert_eq!(document(&text)["data"], json!({"main": "superuser"}));
}

#[test]
fn the_functions_are_those_of_the_inter_operator() {
    let cases = [
        (r#"{{ b64enc "hi" }}"#, "aGk="),
        (r#"{{ b64dec "aGk=" }}"#, "hi"),
        (r#"{{ (unmarshalJSON "{\"a\": [1]}").a }}"#, "[1]"),
        (r#"{{ len (unmarshalJSON "null") }}"#, "0"),
        (
            r#"{{ marshalJSON (dict "b" 1 "a" "<x>") }}"#,
            r#"{"a":"\u003cx\u003e","b":1}"#,
        ),
        (r#"{{ toJson .missing }}"#, "null"),
        (r#"{{ toJson (list 1 "&") }}"#, r#"[1,"\u0026"]"#),
        (r#"{{ fromJson "{\"a\": 1}" }}"#, "map[a:1]"),
        (
            r#"{{ (fromJson "").Error }}"#,
            "unexpected end of JSON input",
        ),
        (
            r#"{{ (fromJson "[1]").Error }}"#,
            "json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
        (
            r#"{{ toYaml (dict "b" "true" "a" (list 1)) }}"#,
            "a:\n- 1\nb: \"true\"",
        ),
        (r#"{{ (fromYaml "a: yes").a }}"#, "true"),
        (r#"{{ (fromYaml "a: 0x1F").a }}"#, "31"),
        (r#"{{ hasKey (fromYaml "a: [") "Error" }}"#, "true"),
        (r#"{{ .missing }}"#, "<no value>"),
        (r#"{{ with .missing.chain }}x{{ else }}y{{ end }}"#, "y"),
        (r#"{{ default 5 0 }}"#, "5"),
        (r#"{{ .plan.spec.context.number | quote }}"#, "\"7\""),
        (r#"{{ printf "%d" .live.port }}"#, "5432"),
        (
            r#"{{ printf "%d" .plan.spec.context.number }}"#,
            "%!d(float64=7)",
        ),
        (r#"{{ .instance.metadata.namespace }}"#, "sf-demo"),
    ];
    let found = json!({"live": {"port": 5432}});
    for (template, expected) in cases {
        assert_eq!(one(template, &found).as_deref(), Ok(expected), "{template}");
    }
}

#[test]
fn what_the_inter_operator_refuses_is_refused_in_its_words() {
    let cases = [
        (r#"{{ b64dec "!" }}"#, "illegal base64 data at input byte 0"),
        (r#"{{ b64dec "aGk" }}"#, "illegal base64 data at input byte"),
        (
            r#"{{ b64enc .plan.spec.context.number }}"#,
            "wrong type for value; expected string; got float64",
        ),
        (
            r#"{{ unmarshalJSON "{" }}"#,
            "failed to unmarshal {. unexpected end of JSON input",
        ),
        (
            r#"{{ unmarshalJSON "[]" }}"#,
            "failed to unmarshal []. json: cannot unmarshal array",
        ),
        (r#"{{ marshalJSON (list 1) }}"#, "wrong type for value"),
        (
            r#"{{ eq .plan.spec.context.number 7 }}"#,
            "incompatible types for comparison",
        ),
        (r#"{{ env "HOME" }}"#, "function \"env\" not defined"),
        (r#"{{ getHostByName "a" }}"#, "not defined"),
        (r#"{{ $name = . {{ end }}"#, "cannot be read"),
        (r#"{{ include "a" . }}"#, "not defined"),
    ];
    for (template, reason) in cases {
        let error = one(template, &json!({})).unwrap_err();
        assert!(error.contains(reason), "{template}: {error}");
        assert!(error.contains("the provision template"), "{error}");
    }
}

#[test]
fn a_live_object_hides_another_one_of_its_name() {
    let found = json!({"service": {"spec": {"clusterIP": "10.0.0.1"}}});
    assert_eq!(
        one("{{ .service.spec.clusterIP }}", &found).as_deref(),
        Ok("10.0.0.1")
    );
}

#[test]
fn templates_that_mean_harm_end_at_a_limit() {
    for template in [
        "{{ define \"a\" }}{{ template \"a\" . }}{{ end }}{{ template \"a\" . }}",
        "{{ range untilStep 0 100000000 1 }}x{{ end }}",
        "{{ repeat 1000000000 \"x\" }}",
        "{{ $m := dict }}{{ $_ := set $m \"m\" $m }}{{ toYaml $m }}{{ marshalJSON $m }}",
        "{{ range until 3000 }}{{ range until 3000 }}{{ printf \"%s\" \"xxxxxxxxxxxxxxxx\" }}{{ end }}{{ end }}",
    ] {
        assert!(one(template, &json!({})).is_err(), "{template}");
    }
}

#[test]
fn a_plan_that_cannot_work_is_refused_with_its_place() {
    let entry = |action: &str| json!({"action": action, "type": "gotemplate", "content": "a"});
    let all = || {
        ["provision", "bind", "sources", "status"]
            .map(entry)
            .to_vec()
    };
    let with = |index: usize, change: Value| {
        let mut templates = all();
        for (key, value) in change.as_object().unwrap() {
            templates[index][key] = value.clone();
        }
        json!({"spec": {"templates": templates}})
    };
    let cases = [
        (json!({"spec": {}}), "/spec/templates: it must be a list"),
        (
            json!({"spec": {"templates": all()[1..]}}),
            "no template for the action provision",
        ),
        (
            with(1, json!({"action": "provision"})),
            "/spec/templates/1: there are two",
        ),
        (
            with(0, json!({"action": "Provision"})),
            "/spec/templates/0/action",
        ),
        (
            with(0, json!({"type": "jinja"})),
            "unable to create renderer for type jinja. not implemented",
        ),
        (
            with(3, json!({"type": "helm", "url": "a"})),
            "helm renderer type not supported for status action",
        ),
        (with(0, json!({"type": "Helm"})), "/spec/templates/0/url"),
        (
            with(0, json!({"content": ""})),
            "content & contentEncoded fields empty for provision template",
        ),
        (
            with(0, json!({"content": "", "contentEncoded": "?"})),
            "unable to decode base64 content",
        ),
        (
            with(0, json!({"content": 1})),
            "/spec/templates/0/content: content must be a text",
        ),
    ];
    for (plan, reason) in cases {
        let error = Plan::new(plan.clone(), None).unwrap_err().to_string();
        assert!(error.contains(reason), "{plan}: {error}");
    }
    let encoded = with(
        0,
        json!({"content": "", "contentEncoded": "e3sgMSB9\nfQ=="}),
    );
    let plan = Plan::new(encoded, None).unwrap();
    assert_eq!(plan.template(Action::Provision).unwrap().text, "{{ 1 }}");
}

#[test]
fn arbitrary_templates_never_panic() {
    let mut random = fastrand::Rng::with_seed(7);
    let parts = [
        "{{",
        "}}",
        " ",
        ".",
        "instance",
        "binding",
        "spec",
        "with",
        "range",
        "end",
        "|",
        "toYaml",
        "set",
        "\"a\"",
        "$x",
        ":=",
        "dict",
        "(",
        ")",
        "unmarshalJSON",
        "b64dec",
        "-",
        "1",
        "else",
        "\n",
        "---",
        "a: ",
        "index",
        "get",
        "nindent 4",
    ];
    for _ in 0..3_000 {
        let text: String = (0..random.usize(1..14))
            .map(|_| parts[random.usize(..parts.len())])
            .collect();
        if text.is_empty() {
            continue;
        }
        if let Ok(printed) = one(&text, &json!({"a": {"b": [1, "x"]}})) {
            let _ = documents(Action::Provision, &printed);
            let _ = sources(&printed);
            let _ = status(&printed, "provision");
            let _ = values(Action::Provision, &printed);
        }
    }
}

#[test]
fn an_id_that_no_object_can_have_is_hashed() {
    assert_eq!(object_name("a.b-1"), "a.b-1");
    for id in ["A", "a/b", "", "-a", "a..b", &"x".repeat(254)] {
        let name = object_name(id);
        assert_eq!(name.len(), 56, "{id}: {name}");
    }
}
