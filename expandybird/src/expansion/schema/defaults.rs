//! Adds the defaults of a schema.
//!
//! A default replaces an absent value, never an explicit null, and only if its parent exists (given or by default).
//! Defaults are found through `items`, `allOf`, `anyOf` and `oneOf` (until a branch passes, without `required`),
//! `dependencies`, `patternProperties`, `additionalProperties` and local `$ref`s.

use jsonschema::ValidatorMap;
use serde_json::{Map, Value};

use super::walk::{At, DEPTH, Walk, WalkError};

pub fn fill(
    schema: &Value,
    branches: Option<&ValidatorMap>,
    instance: &mut Value,
) -> Result<(), WalkError> {
    let mut filler = Filler {
        walk: Walk::new(schema),
        branches,
    };
    filler.fill(&At::root(schema), instance, 0)
}

/// Whether any part of the schema depends on which branch passes.
pub fn has_branches(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.iter().any(|(key, value)| {
            (value.is_array() && (key == "anyOf" || key == "oneOf")) || has_branches(value)
        }),
        Value::Array(items) => items.iter().any(has_branches),
        _ => false,
    }
}

/// Removes every `required`, because a default may still add a value that a branch requires. Only lists: a map under
/// that name describes a property called `required`.
pub fn forget_required(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("required").is_some_and(Value::is_array) {
                map.remove("required");
            }
            map.values_mut().for_each(forget_required);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_required),
        _ => {}
    }
}

struct Filler<'s> {
    walk: Walk<'s>,
    branches: Option<&'s ValidatorMap>,
}

impl<'s> Filler<'s> {
    fn fill(&mut self, at: &At<'s>, instance: &mut Value, depth: usize) -> Result<(), WalkError> {
        self.walk.enter(at, depth)?;
        if let (Some(Value::String(pattern)), Value::String(_)) =
            (at.schema.get("pattern"), &*instance)
        {
            self.walk.take_match(pattern)?;
        }
        if let Some(target) = self.walk.referred(at)? {
            return self.fill(&target, instance, depth + 1);
        }
        match instance {
            Value::Object(map) => self.fill_map(at, map, depth)?,
            Value::Array(items) => self.fill_list(at, items, depth)?,
            _ => {}
        }
        if instance.is_object() {
            self.fill_dependencies(at, instance, depth)?;
        }
        for part in (0..at.len("allOf")).filter_map(|index| at.item("allOf", index)) {
            self.fill(&part, instance, depth + 1)?;
        }
        self.fill_branches(at, "anyOf", instance, depth)?;
        self.fill_branches(at, "oneOf", instance, depth)
    }

    fn fill_map(
        &mut self,
        at: &At<'s>,
        map: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), WalkError> {
        let properties = at.map("properties");
        self.walk.look(properties.map_or(0, Map::len))?;
        for (name, part) in properties.into_iter().flatten() {
            let fills = || part.get("default").is_some() || part.get("$ref").is_some();
            if !map.contains_key(name) && !fills() {
                continue;
            }
            let Some(property) = at.child(&["properties", name]) else {
                continue;
            };
            if !map.contains_key(name)
                && let Some(default) = self.default_of(&property, 0)?
            {
                let default = self.walk.filled(default)?;
                map.insert(name.clone(), default);
            }
            if let Some(value) = map.get_mut(name) {
                self.fill(&property, value, depth + 1)?;
            }
        }
        self.fill_patterns(at, map, depth)?;
        self.fill_additional(at, map, depth)
    }

    fn default_of(&mut self, at: &At<'s>, hops: usize) -> Result<Option<&'s Value>, WalkError> {
        if hops > DEPTH {
            return Err(WalkError::TooDeep);
        }
        match self.walk.referred(at)? {
            Some(target) => self.default_of(&target, hops + 1),
            None => Ok(at.schema.get("default")),
        }
    }

    fn fill_patterns(
        &mut self,
        at: &At<'s>,
        map: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), WalkError> {
        for pattern in at
            .map("patternProperties")
            .iter()
            .flat_map(|patterns| patterns.keys())
        {
            let Some(part) = at.child(&["patternProperties", pattern]) else {
                continue;
            };
            for (name, value) in map.iter_mut() {
                if self.walk.matches(pattern, name)? {
                    self.fill(&part, value, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn fill_additional(
        &mut self,
        at: &At<'s>,
        map: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), WalkError> {
        let Some(part) = at
            .child(&["additionalProperties"])
            .filter(|part| part.schema.is_object())
        else {
            return Ok(());
        };
        let properties = at.map("properties");
        let patterns = at.map("patternProperties");
        for (name, value) in map.iter_mut() {
            let mut is_named = properties.is_some_and(|properties| properties.contains_key(name));
            for pattern in patterns.iter().flat_map(|patterns| patterns.keys()) {
                is_named = is_named || self.walk.matches(pattern, name)?;
            }
            if !is_named {
                self.fill(&part, value, depth + 1)?;
            }
        }
        Ok(())
    }

    fn fill_list(
        &mut self,
        at: &At<'s>,
        items: &mut [Value],
        depth: usize,
    ) -> Result<(), WalkError> {
        let positions = at.len("items");
        let rest = match positions {
            0 => at.child(&["items"]),
            _ => at.child(&["additionalItems"]),
        };
        for (index, item) in items.iter_mut().enumerate() {
            let position = (index < positions).then(|| at.item("items", index));
            if let Some(part) = position.flatten().as_ref().or(rest.as_ref()) {
                self.fill(part, item, depth + 1)?;
            }
        }
        Ok(())
    }

    fn fill_dependencies(
        &mut self,
        at: &At<'s>,
        instance: &mut Value,
        depth: usize,
    ) -> Result<(), WalkError> {
        let dependencies = at.map("dependencies");
        self.walk.look(dependencies.map_or(0, Map::len))?;
        for name in dependencies.into_iter().flat_map(Map::keys) {
            if instance.get(name).is_none() {
                continue;
            }
            let part = at.child(&["dependencies", name]);
            if let Some(part) = part.filter(|part| part.schema.is_object()) {
                self.fill(&part, instance, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Each branch adds its defaults, until one passes.
    fn fill_branches(
        &mut self,
        at: &At<'s>,
        key: &str,
        instance: &mut Value,
        depth: usize,
    ) -> Result<(), WalkError> {
        for branch in (0..at.len(key)).filter_map(|index| at.item(key, index)) {
            self.fill(&branch, instance, depth + 1)?;
            let validator = self
                .branches
                .and_then(|branches| branches.get(&branch.pointer));
            if validator.is_some_and(|validator| validator.is_valid(instance)) {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (0..3).prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            let list = prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from);
            let map = prop::collection::btree_map("[abc]", inner, 0..3);
            prop_oneof![list, map.prop_map(|map| json!(map))]
        })
    }

    fn schema() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!({})),
            value().prop_map(|value| json!({ "default": value }))
        ];
        leaf.prop_recursive(3, 16, 3, |inner| {
            let parts = prop::collection::btree_map("[abc]", inner.clone(), 0..3);
            (value(), parts, inner.clone(), inner).prop_map(|(default, parts, items, others)| {
                json!({"default": default, "properties": parts, "items": items, "additionalProperties": others})
            })
        })
    }

    /// Schemas with all keywords that defaults go through. References lead to `#/definitions/[de]`.
    fn whole_schema() -> impl Strategy<Value = Value> {
        let kind = prop::sample::select(vec!["object", "array", "integer", "null"]);
        let leaf = prop_oneof![
            Just(json!({})),
            value().prop_map(|value| json!({ "default": value })),
            kind.prop_map(|kind| json!({ "type": kind })),
            Just(json!({"required": ["a"]})),
            Just(json!({"$ref": "#/definitions/d"})),
            Just(json!({"$ref": "#/definitions/e"})),
        ];
        let parts = leaf.prop_recursive(3, 20, 3, |inner| {
            let map = |names: &'static str| prop::collection::btree_map(names, inner.clone(), 0..3);
            let list = prop::collection::vec(inner.clone(), 1..3);
            prop_oneof![
                map("[abc]").prop_map(|parts| json!({ "properties": parts })),
                inner.clone().prop_map(|items| json!({ "items": items })),
                (list.clone(), inner.clone())
                    .prop_map(|(items, rest)| json!({"items": items, "additionalItems": rest})),
                (map("[ab]"), inner.clone()).prop_map(
                    |(parts, rest)| json!({"properties": parts, "additionalProperties": rest})
                ),
                map("[abc]").prop_map(|parts| json!({ "patternProperties": parts })),
                map("[abc]").prop_map(|parts| json!({ "dependencies": parts })),
                list.clone().prop_map(|parts| json!({ "allOf": parts })),
                list.clone().prop_map(|parts| json!({ "anyOf": parts })),
                list.prop_map(|parts| json!({ "oneOf": parts })),
            ]
        });
        // Definitions have no references, otherwise defaults might never end.
        let definition = || {
            value().prop_map(
                |value| json!({"default": value, "properties": {"a": {"default": value}}}),
            )
        };
        (parts, definition(), definition()).prop_map(|(mut schema, d, e)| {
            if schema.get("$ref").is_none() {
                schema["definitions"] = json!({"d": d, "e": e});
            } else {
                schema = json!({"allOf": [schema], "definitions": {"d": d, "e": e}});
            }
            schema
        })
    }

    /// A second implementation of the rules, without pointers, limits and a map of branches.
    fn model(root: &Value, schema: &Value, instance: &mut Value) {
        if let Some(reference) = schema["$ref"].as_str() {
            return model(
                root,
                &root.pointer(&reference[1..]).unwrap().clone(),
                instance,
            );
        }
        let object = |key: &str| schema[key].as_object().cloned().unwrap_or_default();
        if let Value::Object(map) = instance {
            for (name, part) in object("properties") {
                let target = match part["$ref"].as_str() {
                    Some(reference) => root.pointer(&reference[1..]).unwrap(),
                    None => &part,
                };
                if let (false, Some(default)) = (map.contains_key(&name), target.get("default")) {
                    map.insert(name.clone(), default.clone());
                }
                if let Some(value) = map.get_mut(&name) {
                    model(root, &part, value);
                }
            }
            let matches = |pattern: &String, name: &String| name.contains(pattern.as_str());
            for (pattern, part) in object("patternProperties") {
                for (_, value) in map.iter_mut().filter(|(name, _)| matches(&pattern, name)) {
                    model(root, &part, value);
                }
            }
            if schema["additionalProperties"].is_object() {
                let (named, patterns) = (object("properties"), object("patternProperties"));
                for (name, value) in map.iter_mut() {
                    if !named.contains_key(name) && !patterns.keys().any(|p| matches(p, name)) {
                        model(root, &schema["additionalProperties"], value);
                    }
                }
            }
        }
        if let Value::Array(items) = instance {
            for (index, item) in items.iter_mut().enumerate() {
                match &schema["items"] {
                    Value::Array(parts) => model(
                        root,
                        parts.get(index).unwrap_or(&schema["additionalItems"]),
                        item,
                    ),
                    part => model(root, part, item),
                }
            }
        }
        for (name, part) in object("dependencies") {
            if instance.get(&name).is_some() {
                model(root, &part, instance);
            }
        }
        let list = |key: &str| schema[key].as_array().cloned().unwrap_or_default();
        for part in list("allOf") {
            model(root, &part, instance);
        }
        for key in ["anyOf", "oneOf"] {
            for part in list(key) {
                model(root, &part, instance);
                let mut alone = json!({"allOf": [part], "definitions": root["definitions"]});
                forget_required(&mut alone);
                if crate::expansion::schema::options()
                    .build(&alone)
                    .unwrap()
                    .is_valid(instance)
                {
                    break;
                }
            }
        }
    }

    /// Whether all given values are unchanged.
    fn keeps(filled: &Value, given: &Value) -> bool {
        match (filled, given) {
            (Value::Object(filled), Value::Object(given)) => given
                .iter()
                .all(|(key, given)| filled.get(key).is_some_and(|filled| keeps(filled, given))),
            (Value::Array(filled), Value::Array(given)) => {
                filled.len() == given.len()
                    && filled
                        .iter()
                        .zip(given)
                        .all(|(filled, given)| keeps(filled, given))
            }
            (filled, given) => filled == given,
        }
    }

    proptest! {
        #[test]
        fn defaults_fill_as_the_rules_say(schema in whole_schema(), given in value()) {
            let mut expected = given.clone();
            model(&schema, &schema, &mut expected);
            prop_assert_eq!(filled(schema, given), expected);
        }

        #[test]
        fn defaults_never_replace_what_is_given_and_fill_once_for_all(schema in schema(), given in value()) {
            let once = filled(schema.clone(), given.clone());
            prop_assert!(keeps(&once, &given), "{once}");
            prop_assert_eq!(filled(schema, once.clone()), once);
        }

        #[test]
        fn no_schema_at_all_makes_filling_panic(schema in value(), mut given in value()) {
            // An error would also do, but none of these schemas has references.
            prop_assert_eq!(fill(&schema, None, &mut given), Ok(()));
        }
    }

    fn filled(schema: Value, mut instance: Value) -> Value {
        let branches =
            has_branches(&schema).then(|| crate::expansion::schema::branches(&schema).unwrap());
        fill(&schema, branches.as_ref(), &mut instance).unwrap();
        instance
    }

    #[test]
    fn defaults_fill_what_is_absent_wherever_the_schema_reaches() {
        let a = json!({"properties": {"a": {"default": 1}}});
        for (schema, instance, expected) in [
            (a.clone(), json!({}), json!({"a": 1})),
            (a.clone(), json!({"a": null}), json!({"a": null})),
            (json!({"properties": {"p": a}}), json!({}), json!({})),
            (
                json!({"properties": {"p": a}}),
                json!({"p": {}}),
                json!({"p": {"a": 1}}),
            ),
            (
                json!({"properties": {"p": {"default": {}, "properties": {"a": {"default": 1}}}}}),
                json!({}),
                json!({"p": {"a": 1}}),
            ),
            (
                json!({"properties": {"p": {"items": a}}}),
                json!({"p": [{}]}),
                json!({"p": [{"a": 1}]}),
            ),
            (
                json!({"properties": {"p": {"items": [{}, a]}}}),
                json!({"p": [{}, {}]}),
                json!({"p": [{}, {"a": 1}]}),
            ),
            (json!({"allOf": [a]}), json!({}), json!({"a": 1})),
            (
                json!({"additionalProperties": a}),
                json!({"x": {}}),
                json!({"x": {"a": 1}}),
            ),
            (
                json!({"patternProperties": {"^x": a}}),
                json!({"x1": {}, "y": {}}),
                json!({"x1": {"a": 1}, "y": {}}),
            ),
            (
                json!({"dependencies": {"x": a}}),
                json!({"x": 0}),
                json!({"x": 0, "a": 1}),
            ),
            (json!({"dependencies": {"x": a}}), json!({}), json!({})),
            (
                json!({"definitions": {"d": {"default": 2}}, "properties": {"a": {"$ref": "#/definitions/d"}}}),
                json!({}),
                json!({"a": 2}),
            ),
            (
                json!({"definitions": {"d": {"type": "string"}}, "properties": {"a": {"$ref": "#/definitions/d"}}}),
                json!({}),
                json!({}),
            ),
        ] {
            assert_eq!(filled(schema.clone(), instance), expected, "{schema}");
        }
    }

    #[test]
    fn branches_fill_until_one_passes() {
        let branch = |kind: &str, name: &str| json!({"required": [name], "properties": {"t": {"enum": [kind]}, name: {"default": 1}}});
        for key in ["anyOf", "oneOf"] {
            let schema = json!({key: [branch("x", "a"), branch("y", "b")]});
            assert_eq!(
                filled(schema.clone(), json!({"t": "x"})),
                json!({"t": "x", "a": 1})
            );
            assert_eq!(
                filled(schema, json!({"t": "y"})),
                json!({"t": "y", "a": 1, "b": 1})
            );
        }
    }

    #[test]
    fn defaults_that_never_end_are_an_error() {
        let schema = json!({"default": {}, "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}});
        assert_eq!(fill(&schema, None, &mut json!({})), Err(WalkError::TooDeep));
        let schema = json!({"properties": {"a": {"$ref": "#/properties/a"}}});
        assert_eq!(fill(&schema, None, &mut json!({})), Err(WalkError::TooDeep));
    }
}
