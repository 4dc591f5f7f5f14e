use serde_json::json;

use super::*;

fn broken(step: VersionStep, before: &Value, after: &Value) -> Vec<String> {
    let promise = |schema| Promise {
        schema: Some(schema),
        outputs: None,
    };
    violations(step, promise(before), promise(after))
}

/// One property before and after, and whether a MINOR may change it so. A PATCH may in no case.
#[test]
fn a_minor_may_widen_and_not_narrow_what_a_property_takes_and_a_patch_neither() {
    for (before, after, allowed) in [
        (json!({"type": "string"}), json!({"type": "integer"}), false),
        (json!({"type": "number"}), json!({"type": "integer"}), false),
        (json!({"type": "integer"}), json!({"type": "number"}), true),
        (
            json!({"type": "string"}),
            json!({"type": ["string", "null"]}),
            true,
        ),
        (json!({}), json!({"type": "string"}), false),
        (json!({"type": "string"}), json!({}), true),
        (json!({"default": 1}), json!({"default": 2}), true),
        (json!({"enum": ["a", "b"]}), json!({"enum": ["a"]}), false),
        (json!({"enum": ["a"]}), json!({"enum": ["a", "b"]}), true),
        (json!({}), json!({"enum": ["a"]}), false),
        (json!({"minimum": 1}), json!({"minimum": 2}), false),
        (json!({"minimum": 1}), json!({"minimum": 0}), true),
        (
            json!({"minimum": 1}),
            json!({"minimum": 1, "exclusiveMinimum": true}),
            false,
        ),
        (
            json!({"minimum": 1, "exclusiveMinimum": true}),
            json!({"minimum": 1}),
            true,
        ),
        (json!({}), json!({"maximum": 9}), false),
        (json!({"maximum": 9}), json!({"maximum": 8}), false),
        (json!({"maximum": 9}), json!({"maximum": 10}), true),
        (json!({"maxLength": 9}), json!({}), true),
        (json!({"minItems": 1}), json!({"minItems": 2}), false),
        (json!({"multipleOf": 4}), json!({"multipleOf": 2}), true),
        (json!({"multipleOf": 2}), json!({"multipleOf": 4}), false),
        (
            json!({"uniqueItems": false}),
            json!({"uniqueItems": true}),
            false,
        ),
        (json!({"pattern": "^a"}), json!({"pattern": "^b"}), false),
        (json!({"pattern": "^a"}), json!({}), true),
        (json!({"format": "password"}), json!({}), true),
        (
            json!({"additionalProperties": true}),
            json!({"additionalProperties": false}),
            false,
        ),
        (json!({"additionalProperties": false}), json!({}), true),
        (
            json!({}),
            json!({"additionalProperties": {"type": "string"}}),
            false,
        ),
        (
            json!({"items": {"type": "number"}}),
            json!({"items": {"type": "integer"}}),
            false,
        ),
        (json!({"items": [{}]}), json!({"items": {}}), false),
        (
            json!({"anyOf": [{"type": "string"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            true,
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!({"anyOf": [{"type": "string"}]}),
            false,
        ),
        (json!({}), json!({"anyOf": [{"type": "string"}]}), false),
        (json!({"allOf": [{"minimum": 1}]}), json!({}), true),
        (json!({}), json!({"allOf": [{"minimum": 1}]}), false),
        (json!({}), json!({"not": {"type": "null"}}), false),
        (
            json!({"properties": {"a": {}}}),
            json!({"properties": {"b": {}}}),
            false,
        ),
        (
            json!({"properties": {"a": {}}}),
            json!({"properties": {"a": {}, "b": {}}}),
            true,
        ),
        (
            json!({"properties": {"a": {}}}),
            json!({"properties": {"a": {}}, "required": ["a"]}),
            false,
        ),
        (
            json!({"properties": {"a": {}}, "required": ["a"]}),
            json!({"properties": {"a": {}}}),
            true,
        ),
        (
            json!({}),
            json!({"properties": {"a": {"type": "string"}}, "required": ["a"]}),
            false,
        ),
        (
            json!({}),
            json!({"properties": {"a": {"default": 1}}, "required": ["a"]}),
            true,
        ),
        (
            json!({"properties": {"a": {"default": 1}}, "required": ["a"]}),
            json!({"properties": {"a": {}}, "required": ["a"]}),
            false,
        ),
    ] {
        let schema = |property: &Value| json!({"properties": {"p": property}});
        let (before, after) = (schema(&before), schema(&after));
        let case = format!("{before} → {after}");
        let minor = broken(VersionStep::Minor, &before, &after);
        assert_eq!(minor.is_empty(), allowed, "{case}: {minor:?}");
        assert!(
            !broken(VersionStep::Patch, &before, &after).is_empty(),
            "{case}"
        );
        assert!(
            broken(VersionStep::Major, &before, &after).is_empty(),
            "{case}"
        );
    }
}

#[test]
fn what_says_the_same_is_no_change() {
    for (before, after) in [
        (
            json!({"title": "a", "info": {"title": "x"}}),
            json!({"description": "b"}),
        ),
        (json!({"type": "string"}), json!({"type": ["string"]})),
        (json!({"additionalProperties": true}), json!({})),
        (json!({"minLength": 0}), json!({})),
        (
            json!({"properties": {"a": {"default": 1}}}),
            json!({"properties": {"a": {"default": 1}}, "required": ["a"]}),
        ),
        (
            json!({"properties": {"a": {"$ref": "#/definitions/x"}}, "definitions": {"x": {"type": "string"}}}),
            json!({"properties": {"a": {"type": "string"}}}),
        ),
        (Value::Null, json!({})),
    ] {
        let found = broken(VersionStep::Patch, &before, &after);
        assert!(found.is_empty(), "{before} → {after}: {found:?}");
    }
}

#[test]
fn a_sentence_names_the_property_by_its_path() {
    let before = json!({"properties": {"service": {"properties": {"ports": {"items": {"type": "integer"}}}}}});
    let after = json!({"properties": {"service": {"properties": {"ports": {"items": {"type": "string"}}}}}});
    assert_eq!(
        broken(VersionStep::Minor, &before, &after),
        [
            "property service.ports[] had the type \"integer\" and has the type \"string\": a MINOR may not break existing configurations"
        ]
    );
    assert_eq!(
        broken(
            VersionStep::Patch,
            &json!({}),
            &json!({"properties": {"a": {}}})
        ),
        ["property a is new: a PATCH may not add or change properties or outputs"]
    );
}

#[test]
fn a_change_behind_references_is_found_and_circles_end() {
    let schema = |kind: &str| {
        json!({
            "properties": {"a": {"$ref": "#/definitions/node"}},
            "definitions": {"node": {"properties": {"next": {"$ref": "#/definitions/node"}, "value": {"type": kind}}}},
        })
    };
    let found = broken(VersionStep::Minor, &schema("string"), &schema("integer"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("property a.value "), "{found:?}");
}

#[test]
fn outputs_may_be_added_by_a_minor_and_removed_by_a_major_only() {
    let names = |names: &[&str]| -> Outputs {
        let named = |name: &&str| ((*name).to_owned(), OutputKind::String);
        names.iter().map(named).collect()
    };
    let (few, many) = (names(&["a"]), names(&["a", "b"]));
    let count = |step, before, after| {
        let promise = |outputs| Promise {
            schema: None,
            outputs,
        };
        violations(step, promise(before), promise(after)).len()
    };
    for (step, added, removed) in [
        (VersionStep::Patch, 1, 1),
        (VersionStep::Minor, 0, 1),
        (VersionStep::Major, 0, 0),
    ] {
        assert_eq!(count(step, Some(&few), Some(&many)), added, "{step:?}");
        assert_eq!(count(step, Some(&many), Some(&few)), removed, "{step:?}");
        assert_eq!(count(step, Some(&many), None), 0, "{step:?}");
    }
}

#[test]
fn an_output_keeps_its_kind_as_far_as_it_is_known_before_it_is_deployed() {
    use OutputKind::{List, Number, Reference, String};
    let found = |before, after| {
        let outputs = [before, after].map(|kind| Outputs::from([("ip".to_owned(), kind)]));
        let [before, after] = outputs.each_ref().map(|outputs| Promise {
            schema: None,
            outputs: Some(outputs),
        });
        violations(VersionStep::Minor, before, after)
    };
    assert_eq!(
        found(Number, String),
        ["output ip was a number and is a string: a MINOR may not break existing configurations"]
    );
    for (before, after) in [(List, List), (Reference, String), (Number, Reference)] {
        assert!(found(before, after).is_empty(), "{before:?} → {after:?}");
    }
}

#[test]
fn the_highest_part_that_differs_is_the_step() {
    let version = |text: &str| text.parse::<Version>().unwrap();
    for (before, after, step) in [
        ("v1", "v1.0.1", VersionStep::Patch),
        ("v1.0.1", "v1.1", VersionStep::Minor),
        ("v1.9.9", "v2", VersionStep::Major),
    ] {
        assert_eq!(VersionStep::between(version(before), version(after)), step);
    }
}
