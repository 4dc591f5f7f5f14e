//! Schemas of every keyword, with values that mean harm, and properties that they are to be compared with.

use common::api::expander::ExpandRequest;
use fastrand::Rng;
use serde_json::{Map, Value, json};

use crate::requests::{HARMLESS, request_of};

/// Those of draft 4, and those that only we read.
const KEYWORDS: [&str; 37] = [
    "$ref",
    "$schema",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "default",
    "definitions",
    "dependencies",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "id",
    "imports",
    "info",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
    "writeOnly",
];
const REFERENCES: [&str; 9] = [
    "#",
    "#/properties/a",
    "#/definitions/a",
    "#/allOf/0",
    "#/properties/a/properties/a/properties/a",
    "#/nowhere",
    "http://example.com/schema",
    "file:///etc/passwd",
    "../../t.jinja.schema",
];
const PATTERNS: [&str; 10] = [
    "^(a|a)*$",
    "^(a+)+$",
    "(?=(a+)+b)\\1",
    "((a{1,100}){1,100}){1,100}",
    "(x{0,1000}){0,1000}",
    "[^\\w\\W]",
    "(",
    "\\p{L}*",
    "(?i)(?s).*.*.*.*.*.*!",
    "a{99999999999}",
];
/// How many of something: few, and more than there may be.
const MANY: [usize; 4] = [1, 2, 50, 20_000];
/// What one list may come to: lists are within lists.
const REPEATED_BYTES: usize = 1 << 20;
/// Levels of schemas and of values.
const DEEP: [usize; 4] = [2, 20, 100, 5_000];

/// Two schemas a keyword, and each way of being large.
pub fn requests(random: &mut Rng) -> Vec<ExpandRequest> {
    let keywords = KEYWORDS.into_iter().chain(KEYWORDS);
    let mut schemas: Vec<String> = keywords
        .map(|keyword| schema_with(random, keyword, 3).to_string())
        .collect();
    schemas.extend(large(random));
    schemas
        .iter()
        .map(|schema| {
            let properties = properties(random);
            request_of(
                &format!("resources: [{{name: a, type: t.jinja, properties: {properties}}}]"),
                &[("t.jinja", HARMLESS), ("t.jinja.schema", schema)],
            )
        })
        .collect()
}

fn one_of<'v>(random: &mut Rng, values: &[&'v str]) -> &'v str {
    values[random.usize(..values.len())]
}

fn many(random: &mut Rng) -> usize {
    MANY[random.usize(..MANY.len())]
}

fn schema(random: &mut Rng, depth: usize) -> Value {
    let keyword = one_of(random, &KEYWORDS);
    schema_with(random, keyword, depth)
}

/// This keyword, and up to two others.
fn schema_with(random: &mut Rng, keyword: &str, depth: usize) -> Value {
    let mut map = Map::new();
    for _ in 0..random.usize(..3) {
        let other = one_of(random, &KEYWORDS);
        map.insert(other.to_owned(), value_of(random, other, depth));
    }
    map.insert(keyword.to_owned(), value_of(random, keyword, depth));
    Value::Object(map)
}

/// What the keyword takes, and every fifth time anything.
fn value_of(random: &mut Rng, keyword: &str, depth: usize) -> Value {
    if depth == 0 || random.u8(..5) == 0 {
        return anything(random);
    }
    let deeper = depth - 1;
    match keyword {
        "$ref" | "id" | "$schema" => Value::from(one_of(random, &REFERENCES)),
        "pattern" => Value::from(one_of(random, &PATTERNS)),
        "allOf" | "anyOf" | "oneOf" => {
            let one = schema(random, deeper);
            repeated(random, one)
        }
        "not" | "items" | "additionalItems" | "additionalProperties" => schema(random, deeper),
        "properties" | "definitions" | "dependencies" => json!({
            "a": schema(random, deeper),
            "b": schema(random, deeper),
        }),
        "patternProperties" => {
            let pattern = one_of(random, &PATTERNS);
            json!({ pattern: schema(random, deeper) })
        }
        "enum" | "required" | "type" => {
            let one = anything(random);
            repeated(random, one)
        }
        "default" => value(random),
        _ => number(random),
    }
}

/// Many times, as far as a request has room for it.
fn repeated(random: &mut Rng, one: Value) -> Value {
    let room = REPEATED_BYTES / one.to_string().len();
    Value::from(vec![one; many(random).min(room.max(1))])
}

fn number(random: &mut Rng) -> Value {
    let numbers = [
        json!(0),
        json!(-1),
        json!(u64::MAX),
        json!(1e308),
        json!(1e-308),
        json!(0.1),
        json!(true),
    ];
    numbers[random.usize(..numbers.len())].clone()
}

fn anything(random: &mut Rng) -> Value {
    match random.u8(..8) {
        0 => Value::Null,
        1 => json!([]),
        2 => json!({}),
        3 => Value::from(one_of(random, &REFERENCES)),
        4 => Value::from(one_of(random, &PATTERNS)),
        5 => json!("a".repeat(many(random))),
        6 => json!(["a", "a", 1, 1.0, null, [[]], { "$ref": "#" }]),
        _ => number(random),
    }
}

/// A value that a schema may be compared with, or a default.
fn value(random: &mut Rng) -> Value {
    match random.u8(..5) {
        0 => json!({ "a": vec!["a"; many(random)] }),
        1 => json!({ "a": format!("{}!", "a".repeat(many(random))) }),
        2 => (0..50).fold(json!({}), |inner, _| json!({ "a": inner, "b": [1] })),
        3 => json!({ "a": { "a": { "a": number(random) } }, "b": [anything(random)] }),
        _ => (0..many(random))
            .map(|index| (format!("k{index}"), json!("a")))
            .collect(),
    }
}

fn properties(random: &mut Rng) -> String {
    match random.u8(..4) {
        0 => {
            let depth = DEEP[random.usize(..DEEP.len())];
            format!("{}{}", "{a: ".repeat(depth), "}".repeat(depth))
        }
        _ => value(random).to_string(),
    }
}

/// Text that is long, deep, or more than it looks.
fn large(random: &mut Rng) -> Vec<String> {
    let (deep, many) = (DEEP[random.usize(..DEEP.len())], many(random));
    let nested = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(deep), close.repeat(deep))
    };
    let listed = |each: &str| each.repeat(many);
    let aliases: String = (1..40)
        .map(|level| format!("a{level}: &a{level} [*a{0}, *a{0}]\n", level - 1))
        .collect();
    vec![
        nested("{properties: {a: ", "{}", "}}"),
        nested("{not: ", "{}", "}"),
        nested("{items: [", "{}", "]}"),
        nested("{properties: {a: {default: {}, allOf: [", "{}", "]}}}"),
        nested("[", "", "]"),
        format!("oneOf: [{}]", listed("{$ref: '#'}, ")),
        format!(
            "{{properties: {{a: {{$ref: '#'}}}}, anyOf: [{}]}}",
            listed("{$ref: '#/properties/a'}, ")
        ),
        format!("properties: {{a: {{default: [{}]}}}}", listed("[], ")),
        format!("properties: {{a: {{enum: [{}]}}}}", listed("[{a: 1}], ")),
        format!(
            "patternProperties: {{{}}}",
            (0..many.min(2_000))
                .map(|index| format!("'^a{index}(a|a)*$': {{}}, "))
                .collect::<String>()
        ),
        format!(
            "definitions: {{a: {{default: {{}}, properties: {{a: {{$ref: '#/definitions/a'}}}}}}}}\nproperties: {{{}}}",
            listed("a: {$ref: '#/definitions/a'}, ")
        ),
        format!("a0: &a0 [x, x]\n{aliases}"),
        "&a {properties: *a}".to_owned(),
        "!!python/object:os.system {}".to_owned(),
    ]
}
