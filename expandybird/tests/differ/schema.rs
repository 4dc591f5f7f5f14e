//! Random schemas of draft 4, and properties that are about what they ask for.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::compare::{Case, Grammar};
use super::tree::{Node, Sort};

pub struct Schemas;

const SCHEMA: Sort = Sort {
    name: "schema",
    least: &["{}"],
};
const VALUE: Sort = Sort {
    name: "value",
    least: &["1", "\"\"", "{}", "[]"],
};
const PROPERTIES: Sort = Sort {
    name: "properties",
    least: &["{}"],
};
const ENTRY: Sort = Sort {
    name: "entry",
    least: &[],
};

const NAMES: &[&str] = &["a", "b", "c", "", "a b", "x.y", "é"];
const TYPES: &[&str] = &[
    "string", "integer", "number", "boolean", "null", "array", "object",
];

impl Grammar for Schemas {
    fn derive(&self, seed: u64) -> Case {
        let mut rng = Rng::with_seed(seed);
        let schema = root(&mut rng);
        let properties = sorted(&properties(&mut rng, 3), PROPERTIES);
        Case(vec![
            ("schema", tree_of_schema(&schema)),
            ("properties", properties),
        ])
    }
}

fn one<'t>(rng: &mut Rng, from: &[&'t str]) -> &'t str {
    from[rng.usize(..from.len())]
}

/// A schema as a tree: every schema in it may stand for the whole.
fn tree_of_schema(value: &Value) -> Node {
    sorted(value, SCHEMA)
}

fn sorted(value: &Value, sort: Sort) -> Node {
    match value {
        Value::Object(map) => {
            let inner = if sort == SCHEMA { SCHEMA } else { VALUE };
            let entries = map.iter().map(|(key, value)| {
                let key = Node::text(format!("{}: ", Value::from(key.as_str())));
                Node::Of(ENTRY, vec![key, sorted(value, inner)])
            });
            Node::Of(
                sort,
                vec![
                    Node::text("{"),
                    Node::List(", ", entries.collect()),
                    Node::text("}"),
                ],
            )
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| sorted(item, sort)).collect();
            Node::Of(
                VALUE,
                vec![Node::text("["), Node::List(", ", items), Node::text("]")],
            )
        }
        scalar => Node::text(scalar.to_string()),
    }
}

fn root(rng: &mut Rng) -> Value {
    let mut root = object(rng, 3);
    let definitions = ["x", "y"].map(|name| (name.to_owned(), schema(rng, 2)));
    root.insert(
        "definitions".to_owned(),
        Value::Object(definitions.into_iter().collect()),
    );
    Value::Object(root)
}

/// A schema of a map.
fn object(rng: &mut Rng, depth: usize) -> Map<String, Value> {
    let mut map = Map::new();
    if rng.u8(..3) > 0 {
        map.insert("type".to_owned(), json!("object"));
    }
    if rng.u8(..8) > 0 {
        map.insert("properties".to_owned(), named(rng, depth));
    }
    for keyword in [
        "required",
        "additionalProperties",
        "patternProperties",
        "dependencies",
        "minProperties",
        "maxProperties",
    ] {
        if rng.u8(..6) == 0 {
            let value = keyword_value(rng, keyword, depth);
            map.insert(keyword.to_owned(), value);
        }
    }
    if rng.u8(..4) == 0 {
        let keyword = one(rng, &["allOf", "anyOf", "oneOf", "not"]);
        let value = keyword_value(rng, keyword, depth);
        map.insert(keyword.to_owned(), value);
    }
    map
}

fn named(rng: &mut Rng, depth: usize) -> Value {
    let count = rng.usize(0..4);
    let entries = (0..count).map(|_| {
        (
            one(rng, NAMES).to_owned(),
            schema(rng, depth.saturating_sub(1)),
        )
    });
    Value::Object(entries.collect())
}

fn schema(rng: &mut Rng, depth: usize) -> Value {
    if rng.u8(..12) == 0 {
        return json!({ "$ref": one(rng, &["#/definitions/x", "#/definitions/y", "#"]) });
    }
    if depth > 0 && rng.u8(..3) == 0 {
        let mut map = object(rng, depth);
        if rng.u8(..3) == 0 {
            map.insert("default".to_owned(), properties(rng, 1));
        }
        return Value::Object(map);
    }
    let keywords = [
        "type",
        "type",
        "default",
        "default",
        "enum",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "items",
        "additionalItems",
        "minItems",
        "maxItems",
        "uniqueItems",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "title",
        "description",
    ];
    let mut map = Map::new();
    for _ in 0..rng.usize(0..4) {
        let keyword = one(rng, &keywords);
        if keyword == "exclusiveMinimum" {
            map.insert("minimum".to_owned(), json!(rng.i32(-2..4)));
        }
        let value = keyword_value(rng, keyword, depth);
        map.insert(keyword.to_owned(), value);
    }
    Value::Object(map)
}

fn keyword_value(rng: &mut Rng, keyword: &str, depth: usize) -> Value {
    let inner = depth.saturating_sub(1);
    match keyword {
        "type" if rng.u8(..5) == 0 => {
            let first = one(rng, TYPES);
            let second = one(rng, TYPES);
            if first == second {
                json!([first])
            } else {
                json!([first, second])
            }
        }
        "type" => json!(one(rng, TYPES)),
        "default" => value(rng, 1),
        "enum" => {
            let mut values: Vec<Value> = Vec::new();
            for _ in 0..rng.usize(1..4) {
                let new = value(rng, 1);
                if !values.contains(&new) {
                    values.push(new);
                }
            }
            Value::from(values)
        }
        "minimum" | "maximum" => number(rng),
        "multipleOf" => json!(rng.i32(1..5)),
        "exclusiveMinimum" | "uniqueItems" => json!(rng.bool()),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            json!(rng.u32(0..4))
        }
        "pattern" => json!(one(
            rng,
            &["a", "^a", "b$", "^[a-z]+$", "\\d", "é", ".", "^$"]
        )),
        "format" => json!(one(rng, &["email", "date-time", "ipv4", "uri", "x"])),
        "items" if rng.bool() => Value::from(
            (0..rng.usize(1..3))
                .map(|_| schema(rng, inner))
                .collect::<Vec<_>>(),
        ),
        "items" | "not" => schema(rng, inner),
        "additionalItems" | "additionalProperties" if rng.bool() => json!(rng.bool()),
        "additionalItems" | "additionalProperties" => schema(rng, inner),
        "patternProperties" => json!({ (one(rng, &["a", "^b", "."])): schema(rng, inner) }),
        "dependencies" if rng.bool() => json!({ (one(rng, NAMES)): [one(rng, NAMES)] }),
        "dependencies" => json!({ (one(rng, NAMES)): schema(rng, inner) }),
        "required" => {
            let mut names = vec![one(rng, NAMES), one(rng, NAMES)];
            names.dedup();
            json!(names)
        }
        "allOf" | "anyOf" | "oneOf" => Value::from(
            (0..rng.usize(1..4))
                .map(|_| schema(rng, inner))
                .collect::<Vec<_>>(),
        ),
        _ => json!("text"),
    }
}

fn number(rng: &mut Rng) -> Value {
    match rng.u8(..6) {
        0 => json!(f64::from(rng.i32(-4..8)) / 2.0),
        1 => json!(1.0),
        2 => json!(9_007_199_254_740_993_i64),
        _ => json!(rng.i32(-3..6)),
    }
}

fn value(rng: &mut Rng, depth: usize) -> Value {
    match rng.u8(..if depth == 0 { 6 } else { 8 }) {
        0 => Value::Null,
        1 => json!(rng.bool()),
        2 | 3 => number(rng),
        4 | 5 => json!(one(
            rng,
            &["", "a", "ab", "b", "é", "😀", "1", "a b", "x\ny"]
        )),
        6 => Value::from(
            (0..rng.usize(0..4))
                .map(|_| value(rng, depth - 1))
                .collect::<Vec<_>>(),
        ),
        _ => properties(rng, depth - 1),
    }
}

fn properties(rng: &mut Rng, depth: usize) -> Value {
    let entries = (0..rng.usize(0..5)).map(|_| (one(rng, NAMES).to_owned(), value(rng, depth)));
    Value::Object(entries.collect())
}
