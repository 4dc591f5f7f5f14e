//! The differences between two schemas, and whether each one breaks properties that were valid.
//!
//! Draft 4, as expandybird reads schemas. A difference that cannot be judged counts as breaking.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use super::constraints;

/// One difference. Subject and what make one sentence.
#[derive(Debug)]
pub struct SchemaChange {
    pub subject: String,
    pub what: String,
    /// Whether the new version may refuse or ignore properties that were valid.
    pub breaks: bool,
}

/// Deeper schemas, which mostly come from references, are not compared.
const DEPTH: usize = 100;
/// How many references to follow from one to the next.
const REFERENCES: usize = 32;
/// Keywords that validate nothing: descriptions, definitions, and what is compared elsewhere.
const FREE: [&str; 9] = [
    "$schema",
    "id",
    "info",
    "imports",
    "title",
    "description",
    "examples",
    "$comment",
    "definitions",
];
const COMPARED: [&str; 9] = [
    "default",
    "required",
    "properties",
    "patternProperties",
    "additionalProperties",
    "items",
    "additionalItems",
    "anyOf",
    "allOf",
];

pub fn changes(before: &Value, after: &Value) -> Vec<SchemaChange> {
    let mut comparison = Comparison {
        roots: [before, after],
        seen: HashSet::new(),
        depth: 0,
        found: Vec::new(),
    };
    comparison.schemas("", before, after);
    comparison.found
}

struct Comparison<'v> {
    roots: [&'v Value; 2],
    /// Pairs of schemas by their addresses. Each pair is compared once, so circular references end.
    seen: HashSet<[*const Value; 2]>,
    depth: usize,
    found: Vec<SchemaChange>,
}

impl<'v> Comparison<'v> {
    fn note(&mut self, path: &str, what: impl Into<String>, breaks: bool) {
        self.found.push(SchemaChange {
            subject: match path {
                "" => "the template's properties as a whole".to_owned(),
                path => format!("property {path}"),
            },
            what: what.into(),
            breaks,
        });
    }

    /// A schema that is not a map allows everything.
    fn schemas(&mut self, path: &str, before: &'v Value, after: &'v Value) {
        let [before, after] = [
            resolved(self.roots[0], before),
            resolved(self.roots[1], after),
        ];
        if !self
            .seen
            .insert([std::ptr::from_ref(before), std::ptr::from_ref(after)])
        {
            return;
        }
        if self.depth == DEPTH {
            self.note(path, "is nested too deeply to be compared", true);
            return;
        }
        self.depth += 1;
        let (before, after) = (before.as_object(), after.as_object());
        self.keywords(path, before, after);
        self.properties(path, before, after);
        self.required(path, before, after);
        for (keyword, suffix) in [("additionalProperties", "*"), ("additionalItems", "[…]")] {
            let [before, after] = both(keyword, before, after);
            self.rest(path, &below(path, suffix), before, after);
        }
        self.items(path, both("items", before, after));
        self.branches(path, both("allOf", before, after), "condition", true);
        self.branches(path, both("anyOf", before, after), "alternative", false);
        self.depth -= 1;
    }

    /// The keywords that contain no other schema.
    fn keywords(
        &mut self,
        path: &str,
        before: Option<&'v Map<String, Value>>,
        after: Option<&'v Map<String, Value>>,
    ) {
        for (what, breaks) in constraints::differences(before, after) {
            self.note(path, what, breaks);
        }
        let [old, new] = both("default", before, after);
        if old != new {
            let what = format!(
                "had {} and has {}",
                constraints::keyword_text("default", old),
                constraints::keyword_text("default", new)
            );
            self.note(path, what, false);
        }
        for keyword in names(before).union(&names(after)) {
            let [old, new] = both(keyword, before, after);
            let is_compared = FREE.contains(keyword)
                || COMPARED.contains(keyword)
                || constraints::COMPARED.contains(keyword);
            if !is_compared && old != new {
                let breaks = constraints::OPAQUE.contains(keyword) && new.is_some();
                let [old, new] = [old, new].map(|value| constraints::keyword_text(keyword, value));
                self.note(path, format!("had {old} and has {new}"), breaks);
            }
        }
    }

    fn properties(
        &mut self,
        path: &str,
        before: Option<&'v Map<String, Value>>,
        after: Option<&'v Map<String, Value>>,
    ) {
        for keyword in ["properties", "patternProperties"] {
            let [before, after] = both(keyword, before, after).map(|map| map?.as_object());
            for name in names(before).union(&names(after)) {
                let path = below(path, name);
                match both(name, before, after) {
                    [Some(before), Some(after)] => self.schemas(&path, before, after),
                    [Some(_), None] => self.note(&path, "is removed", true),
                    [None, _] => self.note(&path, "is new", false),
                }
            }
        }
    }

    /// A property with a default need not be given.
    fn required(
        &mut self,
        path: &str,
        before: Option<&'v Map<String, Value>>,
        after: Option<&'v Map<String, Value>>,
    ) {
        let before = needed(self.roots[0], before);
        let after = needed(self.roots[1], after);
        for name in after.difference(&before) {
            self.note(&below(path, name), "is now required", true);
        }
        for name in before.difference(&after) {
            self.note(&below(path, name), "is no longer required", false);
        }
    }

    /// What may stand beside the named properties or items: nothing (`false`), anything, or what a schema allows.
    fn rest(
        &mut self,
        path: &str,
        inner: &str,
        before: Option<&'v Value>,
        after: Option<&'v Value>,
    ) {
        const ANYTHING: &Value = &Value::Bool(true);
        match (before.unwrap_or(ANYTHING), after.unwrap_or(ANYTHING)) {
            (Value::Bool(before), Value::Bool(after)) if before == after => {}
            (Value::Bool(false), _) => {
                self.note(path, "now allows more than the named ones", false)
            }
            (_, Value::Bool(false)) => {
                self.note(path, "now allows only the named ones", true);
            }
            (before, after) => self.schemas(inner, before, after),
        }
    }

    fn items(&mut self, path: &str, items: [Option<&'v Value>; 2]) {
        let inner = format!("{path}[]");
        match items.map(|items| items.unwrap_or(&Value::Null)) {
            [Value::Array(before), Value::Array(after)] => {
                for (index, pair) in before.iter().zip(after).enumerate() {
                    self.schemas(&format!("{path}[{index}]"), pair.0, pair.1);
                }
                if before.len() != after.len() {
                    self.note(&inner, "has a different number of schemas", true);
                }
            }
            [Value::Array(_), _] | [_, Value::Array(_)] => {
                self.note(&inner, "is described in a different way", true);
            }
            [before, after] => self.schemas(&inner, before, after),
        }
    }

    /// More branches make `allOf` narrower and `anyOf` wider. The branches are compared in their order.
    fn branches(
        &mut self,
        path: &str,
        branches: [Option<&'v Value>; 2],
        what: &str,
        more_breaks: bool,
    ) {
        let [before, after] = branches.map(|list| list.and_then(Value::as_array));
        // An absent list allows everything, like an empty allOf.
        let appears = before.is_none() || after.is_none();
        let [before, after] = [before, after].map(|list| list.map_or(&[][..], Vec::as_slice));
        for (before, after) in before.iter().zip(after) {
            self.schemas(path, before, after);
        }
        if after.len() > before.len() {
            self.note(path, format!("has one more {what}"), more_breaks || appears);
        }
        if after.len() < before.len() {
            self.note(
                path,
                format!("has one {what} less"),
                !more_breaks && !appears,
            );
        }
    }
}

fn both<'v>(
    keyword: &str,
    before: Option<&'v Map<String, Value>>,
    after: Option<&'v Map<String, Value>>,
) -> [Option<&'v Value>; 2] {
    [before, after].map(|schema| schema?.get(keyword))
}

fn names(map: Option<&Map<String, Value>>) -> BTreeSet<&str> {
    map.into_iter()
        .flat_map(Map::keys)
        .map(String::as_str)
        .collect()
}

fn needed<'v>(root: &'v Value, schema: Option<&'v Map<String, Value>>) -> BTreeSet<&'v str> {
    let Some(schema) = schema else {
        return BTreeSet::new();
    };
    let has_default = |name: &str| {
        let property = schema.get("properties").and_then(|all| all.get(name));
        property.is_some_and(|property| {
            property.get("default").is_some() || resolved(root, property).get("default").is_some()
        })
    };
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    names.filter(|name| !has_default(name)).collect()
}

/// Follows references within the document. Other references stay.
fn resolved<'v>(root: &'v Value, schema: &'v Value) -> &'v Value {
    let mut schema = schema;
    for _ in 0..REFERENCES {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let pointer = reference.and_then(|reference| reference.strip_prefix('#'));
        match pointer.and_then(|pointer| root.pointer(pointer)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

fn below(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}
