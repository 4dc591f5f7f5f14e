//! Which fields one schema knows and another does not.

use serde_json::Value;

/// Schemas are as deep as objects.
const DEPTH: usize = 64;

/// The fields of the old schema that objects lose under the new one, each with its place.
pub fn lost(before: &Value, after: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(before, after, "", 0, &mut found);
    found
}

fn collect(before: &Value, after: &Value, path: &str, depth: usize, found: &mut Vec<String>) {
    if depth == DEPTH || after["x-kubernetes-preserve-unknown-fields"] == true {
        return;
    }
    let known = &after["properties"];
    let any = &after["additionalProperties"];
    for (field, schema) in before["properties"].as_object().into_iter().flatten() {
        let place = match path {
            "" => field.clone(),
            path => format!("{path}.{field}"),
        };
        match known.get(field) {
            Some(after) => collect(schema, after, &place, depth + 1, found),
            None if any.is_object() || *any == true => {}
            None => found.push(place),
        }
    }
    for (inner, mark) in [("items", "[]"), ("additionalProperties", ".*")] {
        if before[inner].is_object() && after[inner].is_object() {
            let place = format!("{path}{mark}");
            collect(&before[inner], &after[inner], &place, depth + 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_looked_for_within_lists_and_maps_and_kept_where_all_is_kept() {
        let inner = |fields: Value| json!({"type": "object", "properties": fields});
        let before = json!({"properties": {
            "list": {"items": inner(json!({"a": {}, "b": {}}))},
            "map": {"additionalProperties": inner(json!({"x": {}}))},
            "free": inner(json!({"y": {}})),
            "gone": {"type": "string"},
        }});
        let after = json!({"properties": {
            "list": {"items": inner(json!({"a": {}}))},
            "map": {"additionalProperties": inner(json!({}))},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        }});
        assert_eq!(lost(&before, &after), ["list[].b", "map.*.x", "gone"]);
    }
}
