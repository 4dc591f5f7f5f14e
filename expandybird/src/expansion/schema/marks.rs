//! The properties that a schema marks as secret: `writeOnly: true` or `format: password`.
//!
//! A mark on a map or a list marks its whole content. Every branch of `allOf`, `anyOf` and `oneOf` counts, even if it
//! does not apply: it is safer to redact too many values.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::walk::{At, Walk, WalkError};

/// Whether there is any mark in the schema.
pub fn has_marks(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => is_marked(map) || map.values().any(has_marks),
        Value::Array(items) => items.iter().any(has_marks),
        _ => false,
    }
}

fn is_marked(schema: &Map<String, Value>) -> bool {
    let is = |key: &str, value: Value| schema.get(key) == Some(&value);
    is("writeOnly", Value::Bool(true)) || is("format", Value::from("password"))
}

/// JSON pointers to the marked parts of an instance, only the outermost.
pub fn marked(schema: &Value, instance: &Value) -> Result<BTreeSet<String>, WalkError> {
    let mut marker = Marker {
        walk: Walk::new(schema),
        found: BTreeSet::new(),
    };
    marker.visit(&At::root(schema), instance, "", 0)?;
    let found = marker.found;
    let is_within = |pointer: &String| {
        let mut around = pointer.match_indices('/').map(|(end, _)| &pointer[..end]);
        around.any(|outer| found.contains(outer))
    };
    Ok(found
        .iter()
        .filter(|pointer| !is_within(pointer))
        .cloned()
        .collect())
}

struct Marker<'s> {
    walk: Walk<'s>,
    found: BTreeSet<String>,
}

impl<'s> Marker<'s> {
    fn visit(
        &mut self,
        at: &At<'s>,
        instance: &Value,
        pointer: &str,
        depth: usize,
    ) -> Result<(), WalkError> {
        self.walk.enter(at, depth)?;
        if at.schema.as_object().is_some_and(is_marked) {
            self.found.insert(pointer.to_owned());
            return Ok(());
        }
        if let Some(target) = self.walk.referred(at)? {
            return self.visit(&target, instance, pointer, depth + 1);
        }
        match instance {
            Value::Object(map) => self.map(at, map, pointer, depth)?,
            Value::Array(items) => self.list(at, items, pointer, depth)?,
            _ => {}
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            for branch in (0..at.len(key)).filter_map(|index| at.item(key, index)) {
                self.visit(&branch, instance, pointer, depth + 1)?;
            }
        }
        let dependencies = at.map("dependencies");
        self.walk.look(dependencies.map_or(0, Map::len))?;
        for name in dependencies.into_iter().flat_map(Map::keys) {
            if instance.get(name).is_none() {
                continue;
            }
            if let Some(part) = at.child(&["dependencies", name]) {
                self.visit(&part, instance, pointer, depth + 1)?;
            }
        }
        Ok(())
    }

    fn map(
        &mut self,
        at: &At<'s>,
        map: &Map<String, Value>,
        pointer: &str,
        depth: usize,
    ) -> Result<(), WalkError> {
        for (name, value) in map {
            let pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
            for part in self.parts(at, name)? {
                self.visit(&part, value, &pointer, depth + 1)?;
            }
        }
        Ok(())
    }

    /// The schemas of a property.
    fn parts(&mut self, at: &At<'s>, name: &str) -> Result<Vec<At<'s>>, WalkError> {
        let mut parts: Vec<_> = at.child(&["properties", name]).into_iter().collect();
        for pattern in at.map("patternProperties").into_iter().flat_map(Map::keys) {
            if self.walk.matches(pattern, name)? {
                parts.extend(at.child(&["patternProperties", pattern]));
            }
        }
        if parts.is_empty() {
            parts.extend(at.child(&["additionalProperties"]));
        }
        Ok(parts)
    }

    fn list(
        &mut self,
        at: &At<'s>,
        items: &[Value],
        pointer: &str,
        depth: usize,
    ) -> Result<(), WalkError> {
        let positions = at.len("items");
        let rest = match positions {
            0 => at.child(&["items"]),
            _ => at.child(&["additionalItems"]),
        };
        for (index, item) in items.iter().enumerate() {
            let position = (index < positions).then(|| at.item("items", index));
            if let Some(part) = position.flatten().as_ref().or(rest.as_ref()) {
                self.visit(part, item, &format!("{pointer}/{index}"), depth + 1)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(schema: Value, instance: Value) -> Vec<String> {
        marked(&schema, &instance).unwrap().into_iter().collect()
    }

    #[test]
    fn marks_are_found_wherever_a_schema_leads() {
        let secret = json!({"writeOnly": true});
        let schema = json!({
            "definitions": {"secret": secret, "user": {"properties": {"token": {"$ref": "#/definitions/secret"}}}},
            "properties": {
                "password": {"type": "string", "format": "password"},
                "admin": {"$ref": "#/definitions/user"},
                "users": {"items": {"$ref": "#/definitions/user"}},
                "pair": {"items": [{}, secret], "additionalItems": secret},
                "either": {"anyOf": [{"type": "integer"}, {"properties": {"key": secret}}]},
                "both": {"allOf": [{"oneOf": [secret]}]},
                "a/b": secret,
                "beside": {"$ref": "#/definitions/user", "writeOnly": true},
                "kept": {"writeOnly": false, "format": "uri"},
            },
            "patternProperties": {"_key$": secret},
            "additionalProperties": {"properties": {"deep": secret}},
            "dependencies": {"password": {"properties": {"again": secret}}, "absent": secret},
        });
        let instance = json!({
            "password": "p", "admin": {"token": "t", "name": "n"}, "users": [{"token": "t"}, {"name": "n"}],
            "pair": [1, 2, 3], "either": {"key": "k", "other": 1}, "both": "b", "a/b": "s", "beside": {"token": 1},
            "kept": "x", "api_key": "k", "other": {"deep": 1, "shallow": 2}, "again": "p",
        });
        let expected = [
            "/admin/token",
            "/again",
            "/api_key",
            "/a~1b",
            "/beside",
            "/both",
            "/either/key",
            "/other/deep",
            "/pair/1",
            "/pair/2",
            "/password",
            "/users/0/token",
        ];
        assert!(has_marks(&schema));
        assert_eq!(found(schema, instance), expected);
    }

    #[test]
    fn a_mark_around_others_stands_for_all_in_it() {
        let schema = json!({
            "allOf": [{"properties": {"a": {"properties": {"b": {"writeOnly": true}}}}}],
            "properties": {"a": {"writeOnly": true}, "a-b": {"writeOnly": true}},
        });
        assert_eq!(
            found(schema, json!({"a": {"b": 1}, "a-b": 1})),
            ["/a", "/a-b"]
        );
        assert_eq!(found(json!({"writeOnly": true}), json!({"a": 1})), [""]);
    }

    #[test]
    fn a_schema_without_end_is_an_error() {
        let schema = json!({"allOf": [{"$ref": "#"}]});
        assert_eq!(marked(&schema, &json!({})), Err(WalkError::TooDeep));
    }
}
