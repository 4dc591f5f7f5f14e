//! The tables of what Template objects mean: files of data, a row a case.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::HashMap;

use expandybird_templateobject::{
    Expression, Faults, Inputs, Processed, Seeded, Template, process,
};
use serde_json::{Map, Value, json};

fn table(name: &str) -> Value {
    let path = format!("{}/tests/tables/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn rows(table: &Value) -> &[Value] {
    table.as_array().unwrap()
}

fn values() -> Seeded {
    Seeded::new(b"seed", "", HashMap::new())
}

fn processed(template: Value, inputs: &Inputs<'_>) -> Result<Processed, Faults> {
    process(Template::read(template)?, inputs, &mut values())
}

fn substitutions(name: &str, version: &str) {
    let table = table(name);
    let parameters = table["parameters"].as_object().unwrap().iter();
    let parameters: Vec<_> = parameters
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect();
    for row in rows(&table["rows"]) {
        let template = json!({
            "apiVersion": version, "kind": "Template",
            "metadata": {"annotations": {"deployment-manager.dev/template-dialect": name}},
            "parameters": parameters,
            "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "field": row[0], "list": [{"deep": row[0]}]}],
        });
        let found = processed(template, &Inputs::default()).unwrap();
        let object = &found.objects[0];
        assert_eq!(object["field"], row[1], "{}", row[0]);
        assert_eq!(object["list"][0]["deep"], row[1], "{}", row[0]);
    }
}

#[test]
fn the_references_of_the_proposal_become_what_the_table_says() {
    substitutions("proposal", "v1");
}

#[test]
fn the_references_of_openshift_become_what_the_table_says() {
    substitutions("openshift", "template.openshift.io/v1");
}

#[test]
fn keys_labels_and_the_message_are_substituted_as_text() {
    let found = processed(
        json!({
            "apiVersion": "template.openshift.io/v1", "kind": "Template", "message": "use ${N}",
            "parameters": [{"name": "N", "value": "3"}], "labels": {"k${N}": "first", "k3": "${{N}}"},
            "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "data": {"a${N}": "${{N}}", "${{N}}": "kept"}}],
        }),
        &Inputs::default(),
    )
    .unwrap();
    assert_eq!(found.message.as_deref(), Some("use 3"));
    assert_eq!(found.labels, [("k3".to_owned(), "3".to_owned())]);
    assert_eq!(found.objects[0]["data"], json!({"a3": 3, "${{N}}": "kept"}));
}

#[test]
fn a_generator_makes_what_its_expression_says() {
    for row in rows(&table("generator")) {
        let from = row["from"].as_str().unwrap();
        match (Expression::parse(from), row["error"].as_str()) {
            (Err(error), Some(expected)) => assert_eq!(error.to_string(), expected),
            (Ok(expression), None) => {
                let pattern = row["matches"].as_str().unwrap();
                let pattern = regex::Regex::new(&format!("^{pattern}$")).unwrap();
                let mut random = fastrand::Rng::with_seed(1);
                for _ in 0..50 {
                    let value = expression.generate(|bytes| random.fill(bytes));
                    assert!(pattern.is_match(&value), "{from}: {value}");
                }
            }
            (found, _) => panic!("{from}: {found:?}"),
        }
    }
}

#[test]
fn every_character_of_a_range_is_drawn_about_as_often() {
    let expression = Expression::parse("[0-9]{200}").unwrap();
    let mut random = fastrand::Rng::with_seed(7);
    let mut counts = [0_u32; 10];
    for _ in 0..100 {
        for digit in expression.generate(|bytes| random.fill(bytes)).bytes() {
            counts[usize::from(digit - b'0')] += 1;
        }
    }
    assert!(
        counts.iter().all(|count| (1_700..2_300).contains(count)),
        "{counts:?}"
    );
}

#[test]
fn labels_are_added_where_the_table_says() {
    for row in rows(&table("labels")) {
        let mut object = row["object"].clone();
        object["apiVersion"] = json!("v1");
        let template = json!({"apiVersion": "v1", "kind": "Template", "labels": {"app": "web"}, "objects": [object]});
        match (processed(template, &Inputs::default()), row.get("error")) {
            (Err(faults), Some(error)) => assert_eq!(faults.to_string(), *error, "{}", row["name"]),
            (Ok(found), None) => {
                let mut found = found.objects[0].clone();
                found.as_object_mut().unwrap().remove("apiVersion");
                assert_eq!(found, row["result"], "{}", row["name"]);
            }
            (found, _) => panic!("{}: {found:?}", row["name"]),
        }
    }
}

#[test]
fn openshift_labels_objects_and_leaves_selectors() {
    let object = json!({"apiVersion": "v1", "kind": "Service", "spec": {"selector": {"a": "b"}}});
    let template = json!({"apiVersion": "template.openshift.io/v1", "kind": "Template", "labels": {"app": "web"}, "objects": [object]});
    let found = processed(template, &Inputs::default()).unwrap();
    assert_eq!(
        found.objects[0],
        json!({"apiVersion": "v1", "kind": "Service", "spec": {"selector": {"a": "b"}}, "metadata": {"labels": {"app": "web"}}})
    );
}

#[test]
fn a_dialect_is_known_by_what_the_table_says() {
    for row in rows(&table("dialects")) {
        let mut template = json!({"apiVersion": "v1", "kind": "Template", "objects": []});
        let fields = row["template"].as_object().unwrap().clone();
        template.as_object_mut().unwrap().extend(fields);
        match Template::read(template) {
            Ok(template) => {
                assert_eq!(row["dialect"], template.dialect.as_str(), "{}", row["name"]);
            }
            Err(faults) => assert_eq!(row["error"], faults.to_string(), "{}", row["name"]),
        }
    }
}

#[test]
fn all_faults_are_listed_each_with_its_field() {
    for row in rows(&table("refused")) {
        let faults = processed(row["template"].clone(), &Inputs::default()).unwrap_err();
        let shown: Vec<_> = faults.0.iter().map(ToString::to_string).collect();
        assert_eq!(json!(shown), row["errors"], "{}", row["name"]);
    }
}

#[test]
fn a_required_parameter_has_a_value_from_somewhere() {
    for (parameter, chosen, is_valid) in [
        (json!({"value": "default"}), None, true),
        (json!({"value": "default"}), Some(""), false),
        (json!({}), Some("chosen"), true),
        (json!({}), Some(""), false),
        (json!({}), None, false),
        (
            json!({"generate": "expression", "from": "[a-z]{3}"}),
            None,
            true,
        ),
        (
            json!({"generate": "expression", "from": "[a-z]{3}"}),
            Some("chosen"),
            true,
        ),
        (
            json!({"generate": "expression", "from": "[a-z]{3}"}),
            Some(""),
            false,
        ),
    ] {
        for version in ["v1", "template.openshift.io/v1"] {
            let mut parameter = parameter.clone();
            parameter["name"] = json!("P");
            parameter["required"] = json!(true);
            let template = json!({"apiVersion": version, "kind": "Template", "objects": [], "parameters": [parameter]});
            let chosen = chosen.map(|chosen| ("P".to_owned(), Value::from(chosen)));
            let inputs = Inputs {
                parameters: chosen.into_iter().collect(),
                ..Inputs::default()
            };
            let found = processed(template.clone(), &inputs);
            assert_eq!(
                found.is_ok(),
                is_valid,
                "{template} {:?}",
                inputs.parameters
            );
        }
    }
}

#[test]
fn a_value_that_was_kept_is_used_again_and_another_one_is_not() {
    let template = json!({"apiVersion": "template.openshift.io/v1", "kind": "Template", "objects": [],
        "parameters": [{"name": "A", "generate": "expression", "from": "[a-z]{9}"}, {"name": "B", "generate": "expression", "from": "[a-z]{9}"}]});
    let template = Template::read(template).unwrap();
    let kept = HashMap::from([("A".to_owned(), "kept".to_owned())]);
    let found = |seed: &[u8], scope| {
        let mut values = Seeded::new(seed, scope, kept.clone());
        process(template.clone(), &Inputs::default(), &mut values)
            .unwrap()
            .generated
    };
    let first = found(b"1", "x");
    assert_eq!(first[0], ("A".to_owned(), "kept".to_owned()));
    assert_eq!(found(b"1", "x"), first);
    assert_ne!(found(b"2", "x")[1], first[1]);
    assert_ne!(found(b"1", "y")[1], first[1]);
}

#[test]
fn namespaces_that_are_fixed_are_removed_in_openshift_s_dialect() {
    let object = |namespace: Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": namespace}});
    let template = |version: &str| {
        json!({"apiVersion": version, "kind": "Template", "parameters": [{"name": "NS", "value": "own"}], "objects": [
            object(json!("fixed")), object(json!("${NS}")), object(json!("${{NS}}")), object(json!("x-${OTHER}")), object(json!(1)),
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}, {"apiVersion": "v1", "kind": "Odd", "namespace": "fixed"},
        ]})
    };
    let shown = |found: &Processed| {
        let objects = found.objects.iter();
        let namespaces = objects.map(|object| {
            object["metadata"]
                .get("namespace")
                .or(object.get("namespace"))
                .cloned()
        });
        namespaces.collect::<Vec<_>>()
    };
    let found = processed(template("template.openshift.io/v1"), &Inputs::default()).unwrap();
    assert_eq!(
        shown(&found),
        [
            None,
            Some(json!("own")),
            None,
            Some(json!("x-${OTHER}")),
            None,
            None,
            None
        ]
    );
    let mut kept = template("v1");
    kept["metadata"] =
        json!({"annotations": {"deployment-manager.dev/template-dialect": "proposal"}});
    let found = processed(kept, &Inputs::default()).unwrap();
    assert_eq!(shown(&found)[0], Some(json!("fixed")));
}

#[test]
fn a_kind_of_openshift_without_a_group_gets_its_group_in_openshift_s_dialect() {
    for row in rows(&table("groups")) {
        let object = json!({"apiVersion": row["version"], "kind": row["kind"]});
        for (version, expected) in [
            ("template.openshift.io/v1", &row["expected"]),
            ("v1", &row["version"]),
        ] {
            let template = json!({"apiVersion": version, "kind": "Template", "objects": [object]});
            let found = processed(template, &Inputs::default()).unwrap();
            assert_eq!(found.objects[0]["apiVersion"], *expected, "{row}");
        }
    }
}

#[test]
fn the_example_of_the_proposal_is_processed_as_it_says() {
    let template = json!({
        "apiVersion": "v1", "kind": "Template", "metadata": {"name": "web"}, "labels": {"app": "web", "slot": "$(SLOT)"},
        "parameters": [{"name": "SLOT", "required": true}, {"name": "COUNT", "type": "int", "value": "2"}, {"name": "DEBUG", "type": "bool", "value": "false"}],
        "objects": [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web-$(SLOT)"}, "spec": {
            "replicas": "$((COUNT))", "selector": {"matchLabels": {"tier": "front"}},
            "template": {"metadata": {"labels": {"tier": "front"}}, "spec": {"containers": [{"name": "c",
                "env": [{"name": "PORT", "value": "80"}, {"name": "URL", "value": "http://$(SLOT):$(PORT)"}],
                "args": ["--debug=$((DEBUG))", "--port=$(PORT)"]}]}}}}],
    });
    let inputs = Inputs {
        parameters: Map::from_iter([("SLOT".to_owned(), json!("blue"))]),
        ..Inputs::default()
    };
    let found = processed(template, &inputs).unwrap();
    let labels = json!({"tier": "front", "app": "web", "slot": "blue"});
    let object = &found.objects[0];
    assert_eq!(
        object["metadata"],
        json!({"name": "web-blue", "labels": {"app": "web", "slot": "blue"}})
    );
    assert_eq!(object["spec"]["replicas"], 2);
    assert_eq!(object["spec"]["selector"]["matchLabels"], labels);
    let template = &object["spec"]["template"];
    assert_eq!(template["metadata"]["labels"], labels);
    let container = &template["spec"]["containers"][0];
    assert_eq!(container["env"][1]["value"], "http://blue:$(PORT)");
    assert_eq!(
        container["args"],
        json!(["--debug=false", "--port=$(PORT)"])
    );
}

#[test]
fn the_schema_says_what_the_parameters_are() {
    let template = json!({"apiVersion": "v1", "kind": "Template", "metadata": {"annotations": {"description": "A web server"}}, "objects": [],
        "parameters": [{"name": "A", "displayName": "First", "description": "The first", "required": true},
            {"name": "N", "type": "int", "value": "3"}, {"name": "B", "type": "bool", "value": "true"}, {"name": "K", "type": "base64"}]});
    let schema = expandybird_templateobject::schema(&Template::read(template).unwrap());
    assert_eq!(
        schema,
        json!({"type": "object", "additionalProperties": false, "required": ["A"], "info": {"description": "A web server"}, "properties": {
            "A": {"type": ["string", "number", "boolean"], "title": "First", "description": "The first", "minLength": 1},
            "N": {"type": ["integer", "string"], "pattern": "^$|^[+-]?[0-9]+$", "default": 3},
            "B": {"type": ["boolean", "string"], "pattern": "^$|^(true|false)$", "default": true},
            "K": {"type": "string", "contentEncoding": "base64", "writeOnly": true},
        }})
    );
}
