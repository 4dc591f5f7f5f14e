//! Schemas with properties, and their errors.

use serde_json::json;

use super::*;

fn applied(schema: &str, properties: Value) -> Result<Value, SchemaFault> {
    let (schema, mut properties) = (Schema::compile("t.schema", schema)?, properties);
    schema.fill("t.schema", &mut properties)?;
    let marked = schema.marked("t.schema", &properties)?;
    schema.check("t", &properties, &marked)?;
    Ok(properties)
}

fn refused(schema: &str, properties: Value) -> Vec<String> {
    match applied(schema, properties.clone()) {
        Err(SchemaFault::Refused { refusals, .. }) => {
            refusals.iter().map(ToString::to_string).collect()
        }
        other => panic!("{properties} under {schema}: {other:?}"),
    }
}

#[test]
fn a_boolean_and_a_float_are_no_integers_and_a_boolean_is_no_number() {
    for kind in ["integer", "number"] {
        let schema = format!("properties: {{a: {{type: {kind}}}}}");
        assert_eq!(refused(&schema, json!({"a": true})).len(), 1);
        assert!(applied(&schema, json!({"a": 1})).is_ok());
    }
    assert_eq!(
        refused("properties: {a: {type: integer}}", json!({"a": 1.0})).len(),
        1
    );
}

#[test]
fn all_refusals_come_together_each_with_its_path() {
    let schema = "required: [z]\nproperties: {a: {type: string}, b: {items: {type: integer}}}";
    let mut found = refused(schema, json!({"a": 1, "b": [1, "x"]}));
    found.sort();
    assert_eq!(
        found,
        [
            "\"z\" is a required property",
            "a: 1 is not of type \"string\"",
            "b[1]: \"x\" is not of type \"integer\"",
        ]
    );
}

#[test]
fn a_property_that_another_one_demands_is_refused_with_its_reason() {
    for (dependencies, given, expected) in [
        (
            "{a: [b]}",
            json!({"a": 1}),
            "\"b\" is a required property, because 'a' is given",
        ),
        (
            "{a: {required: [b]}}",
            json!({"a": 1}),
            "\"b\" is a required property, because 'a' is given",
        ),
        (
            "{c: [b], a: [b]}",
            json!({"a": 1}),
            "\"b\" is a required property, because 'a' is given",
        ),
        (
            "{a/b: {required: [c]}}",
            json!({"a/b": 1}),
            "\"c\" is a required property, because 'a/b' is given",
        ),
    ] {
        let schema = format!("dependencies: {dependencies}");
        assert_eq!(refused(&schema, given), [expected], "{dependencies}");
    }
    assert!(applied("dependencies: {a: [b]}", json!({"c": 1})).is_ok());
}

#[test]
fn no_refusal_tells_what_is_marked_as_secret() {
    let schema = r"{properties: {
            p: {writeOnly: true, type: integer, pattern: '^x', minLength: 90, enum: [1]},
            m: {format: password, properties: {in: {type: integer}}},
            o: {maxProperties: 0, not: {}, properties: {t: {writeOnly: true}}, enum: [{}]},
            l: {uniqueItems: true, items: {format: password}}, n: {type: integer}}}";
    let given = json!({
        "p": "hunter2", "m": {"in": "hunter2"}, "o": {"t": "hunter2"}, "l": ["hunter2", "hunter2"], "n": "public",
    });
    let found = refused(schema, given);
    assert!(found.len() >= 9, "{found:?}");
    assert!(
        !found.iter().any(|text| text.contains("hunter")),
        "{found:#?}"
    );
    assert!(found.contains(&r#"n: "public" is not of type "integer""#.to_owned()));
    assert!(
        found.contains(&r#"p: (redacted) does not match "^x""#.to_owned()),
        "{found:#?}"
    );
}

#[test]
fn formats_are_not_checked_and_patterns_search() {
    assert!(applied("properties: {a: {format: ipv4}}", json!({"a": "x"})).is_ok());
    assert!(applied("properties: {a: {pattern: 'b+'}}", json!({"a": "abc"})).is_ok());
    assert!(applied("properties: {a: {pattern: '^(?=x)'}}", json!({"a": "xy"})).is_ok());
}

#[test]
fn patterns_are_pythons_and_messages_show_them_as_they_were_written() {
    let schema = r"{properties: {a: {pattern: '(?i)^x\d+$'}}, patternProperties: {'(?P<c>b)(?P=c)$': {type: integer}},
            additionalProperties: false}";
    assert!(applied(schema, json!({"a": "X\u{661}\n", "abb": 1})).is_ok());
    let mut found = refused(schema, json!({"a": "y", "abb": "z", "ab": 1}));
    found.sort();
    assert_eq!(
        found,
        [
            "Additional properties are not allowed ('ab' was unexpected)",
            r#"a: "y" does not match "(?i)^x\d+$""#,
            r#"abb: "z" is not of type "integer""#,
        ]
    );
}

#[test]
fn a_property_called_as_a_keyword_is_no_keyword_and_data_is_no_schema() {
    let schema = r"{properties: {patternProperties: {type: string}, pattern: {enum: [{pattern: '('}]}},
            default: {pattern: '('}}";
    assert!(
        applied(
            schema,
            json!({"patternProperties": "x", "pattern": {"pattern": "("}})
        )
        .is_ok()
    );
}

#[test]
fn an_unreadable_pattern_is_an_invalid_schema_that_names_it() {
    for schema in ["pattern: 'a(?>b)'", "patternProperties: {'a(?>b)': {}}"] {
        let fault = applied(schema, json!({})).unwrap_err().to_string();
        assert!(
            fault.contains("'a(?>b)'") && fault.contains("is not supported"),
            "{fault}"
        );
    }
}

#[test]
fn choices_may_be_given_twice_or_not_at_all() {
    let schema = "properties: {a: {enum: [x, 1, x, 1.0, [1]]}, b: {enum: []}}";
    assert!(applied(schema, json!({"a": "x"})).is_ok());
    assert!(applied(schema, json!({"a": [1]})).is_ok());
    assert_eq!(refused(schema, json!({"a": "y", "b": 1})).len(), 2);
}

#[test]
fn multiples_are_those_of_the_decimals_as_written() {
    for (value, is_multiple) in [
        (0.3, true),
        (0.7, true),
        (1.1, true),
        (3.0, true),
        (0.35, false),
    ] {
        let found = applied("properties: {a: {multipleOf: 0.1}}", json!({"a": value}));
        assert_eq!(found.is_ok(), is_multiple, "{value}");
    }
}

#[test]
fn a_reference_leads_into_pattern_properties_as_they_were_written() {
    let schema = "{patternProperties: {'^a/b$': {default: {x: 1}, properties: {x: {default: 2}}}},
            properties: {c: {$ref: '#/patternProperties/%5Ea~1b$'}}}";
    let filled = applied(schema, json!({"a/b": {}})).unwrap();
    assert_eq!(filled, json!({"a/b": {"x": 2}, "c": {"x": 1}}));
}

#[test]
fn a_pattern_that_never_ends_is_refused_in_time() {
    let text = format!("{}!", "a".repeat(60));
    let found = refused(
        r"properties: {a: {pattern: '^(?=(a+)+$)\1$'}}",
        json!({"a": text}),
    );
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_pattern_given_up_has_a_code_of_its_own_and_many_are_not_even_begun() {
    let schema = r"properties: {a: {items: {pattern: '^(a|a)*\1b'}}}";
    let text = format!("{}!", "a".repeat(60));
    for count in [1, 100_000] {
        let fault = applied(schema, json!({"a": vec![text.as_str(); count]})).unwrap_err();
        assert_eq!(fault.code(), ErrorCode::PatternTooCostly, "{fault}");
    }
}

#[test]
fn a_schema_of_too_many_aliases_has_a_code_of_its_own() {
    let more: String = (1..30)
        .map(|n| format!("a{n}: &a{n} [*a{m}, *a{m}]\n", m = n - 1))
        .collect();
    let fault = Schema::compile("t.schema", &format!("a0: &a0 [x, x]\n{more}")).unwrap_err();
    assert_eq!(fault.code(), ErrorCode::YamlTooLarge, "{fault}");
}

#[test]
fn an_unknown_type_and_a_remote_reference_are_invalid_schemas() {
    for (schema, named) in [
        ("properties: {a: {type: strin}}", "strin"),
        (
            "properties: {a: {$ref: 'http://example.com/x'}}",
            "example.com",
        ),
        ("[1]", "a list"),
        ("imports: [{name: x}]", "path"),
        ("a: [", "line 2"),
    ] {
        let fault = Schema::compile("t.schema", schema).unwrap_err().to_string();
        assert!(fault.starts_with("Invalid schema 't.schema': "), "{fault}");
        assert!(fault.contains(named), "{fault}");
    }
}

#[test]
fn a_path_shows_what_a_pointer_points_to() {
    assert_eq!(json_path("/a/0/b.c/d~1e"), ".a[0]['b.c'].d/e");
}
