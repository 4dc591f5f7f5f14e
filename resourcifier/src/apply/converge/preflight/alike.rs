//! Objects that the API server judges alike when they are new: it accepts all of them, or none.
//!
//! Alike are objects of one kind that differ only in what no rule of the API server looks at: names and keys that are
//! valid under each rule, and texts of any content. [`KINDS`] has the kinds whose rules are known. Rules of the cluster's
//! own, such as webhooks and admission policies, may look at everything: those are not known here. Most of them select
//! objects by labels, so labels are compared.
//!
//! Pure.

use common::model::Namespace;
use serde_json::Value;

/// Where the objects of a kind have texts: a map of which the API server checks the keys and the size, and no value.
struct Kind {
    name: &'static str,
    texts: Option<&'static str>,
    /// Another map, which may not have the same keys.
    beside: Option<&'static str>,
}

/// Kinds of version `v1`. The rules are in Kubernetes' `pkg/apis/core/validation/validation.go`: all names are RFC 1123
/// subdomains, and what is not a text here is compared.
const KINDS: &[Kind] = &[
    // `ValidateConfigMap`: each key, none twice, and the size of all values.
    Kind {
        name: "ConfigMap",
        texts: Some("/data"),
        beside: Some("/binaryData"),
    },
    // `ValidateSecret`: each key, and the size. What it asks of values depends on the type, so only `Opaque` is alike.
    Kind {
        name: "Secret",
        texts: Some("/stringData"),
        beside: None,
    },
    // `ValidateServiceAccount`: the metadata alone.
    Kind {
        name: "ServiceAccount",
        texts: None,
        beside: None,
    },
];

/// `ValidateAnnotations` checks the keys, and the size of all. The three kinds have no annotations of their own, except
/// Secrets of service accounts, which are not `Opaque`.
const ANNOTATIONS: &str = "/metadata/annotations";

/// Half of the smallest limit of sizes, that of annotations (`TotalAnnotationSizeLimitB`). The values of a ConfigMap or a
/// Secret may have 1 MiB.
const BYTES: usize = 128 * 1024;

/// Keys of 253 characters are valid.
const KEY_BYTES: usize = 63;

/// What all objects that are alike have in common. `None` for an object that is like no other.
pub fn shape(object: &Value) -> Option<String> {
    let kind = KINDS.iter().find(|kind| object["kind"] == kind.name)?;
    let name = object["metadata"]["name"].as_str()?;
    // The name of a namespace is an RFC 1123 label: no kind asks more of a name.
    let is_usual = Namespace::parse(name).is_ok();
    let is_opaque = matches!(object["type"].as_str(), None | Some("Opaque"));
    let mut left = BYTES;
    if object["apiVersion"] != "v1" || !is_usual || !is_opaque || !fits(object, &mut left) {
        return None;
    }
    let mut rest = object.clone();
    rest["metadata"]["name"] = Value::Null;
    forget(&mut rest, ANNOTATIONS, |_| false);
    if let Some(place) = kind.texts {
        let beside = kind.beside.and_then(|place| object.pointer(place));
        match beside {
            None => forget(&mut rest, place, is_usual_key),
            Some(_) => forget(&mut rest, place, |_| false),
        }
    }
    Some(rest.to_string())
}

/// Forgets the texts of a map, and the keys that are free. A value that is not a text is a fault, and stays.
fn forget(object: &mut Value, place: &str, is_free: impl Fn(&str) -> bool) {
    let Some(texts) = object.pointer_mut(place).and_then(Value::as_object_mut) else {
        return;
    };
    texts.retain(|key, text| !(is_free(key) && is_plain(text)));
    let texts = texts.values_mut().filter(|text| is_plain(text));
    texts.for_each(|text| *text = Value::String(String::new()));
}

/// A key that `IsConfigMapKey` accepts, which has the same rule for both kinds.
fn is_usual_key(key: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    key.len() <= KEY_BYTES
        && key.starts_with(|c: char| c.is_ascii_alphanumeric())
        && key.chars().all(is_inner)
}

/// Whether the value is not larger than what is left, approximately.
fn fits(value: &Value, left: &mut usize) -> bool {
    match value {
        Value::String(text) => take(left, text.len()),
        Value::Array(items) => take(left, 0) && items.iter().all(|item| fits(item, left)),
        Value::Object(map) => map
            .iter()
            .all(|(key, value)| take(left, key.len()) && fits(value, left)),
        Value::Null | Value::Bool(_) | Value::Number(_) => take(left, 0),
    }
}

fn take(left: &mut usize, bytes: usize) -> bool {
    let rest = left.checked_sub(bytes + 1);
    *left = rest.unwrap_or_default();
    rest.is_some()
}

/// A text that every parser of YAML reads: some refuse or fold rare characters, such as DEL and the separator of lines.
fn is_plain(text: &Value) -> bool {
    let is_plain =
        |c: char| matches!(c, '\n' | '\t' | ' ') || c.is_ascii_graphic() || c.is_alphanumeric();
    text.as_str().is_some_and(|text| text.chars().all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map() -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}, "metadata": {
            "name": "one", "namespace": "home", "labels": {"app": "x"}, "annotations": {"note": "n"}}})
    }

    /// The object with another value at this place.
    fn with(mut object: Value, place: &str, value: Value) -> Value {
        let (parent, key) = place.rsplit_once('/').unwrap();
        object.pointer_mut(parent).unwrap()[key] = value;
        object
    }

    #[test]
    fn what_no_rule_looks_at_makes_no_difference() {
        let shape_of_map = shape(&map());
        assert!(shape_of_map.is_some());
        for (place, value) in [
            ("/metadata/name", "two-2".to_owned()),
            ("/data/a", "ü\n\t\"{$}".to_owned()),
            ("/data/a", String::new()),
            ("/data/a", "x".repeat(BYTES / 2)),
            ("/data/b", "1".to_owned()),
            ("/data/9-_.json", "1".to_owned()),
            ("/metadata/annotations/note", "another".to_owned()),
        ] {
            let other = with(map(), place, json!(value));
            assert_eq!(shape(&other), shape_of_map, "{place}");
        }
        let secret = |value: &str| {
            shape(
                &json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": value},
                "stringData": {"a": value}}),
            )
        };
        assert!(secret("a").is_some());
        assert_eq!(secret("a"), secret("b"));
    }

    #[test]
    fn what_a_rule_may_look_at_makes_a_difference() {
        let shape_of_map = shape(&map());
        for (place, value) in [
            ("/data/a", json!(1)),
            ("/data/a", json!(null)),
            ("/data/a", json!(["1"])),
            ("/data/a", json!("\u{7f}")),
            ("/data/a", json!("\u{2028}")),
            ("/data/.b", json!("1")),
            ("/data/b c", json!("1")),
            ("/data", json!("1")),
            ("/dta", json!({"a": "1"})),
            ("/immutable", json!(true)),
            ("/binaryData", json!({"b": "1"})),
            ("/metadata/namespace", json!("away")),
            ("/metadata/labels/app", json!("y")),
            ("/metadata/annotations/note", json!(1)),
            ("/metadata/annotations/more", json!("n")),
            ("/metadata/finalizers", json!(["a/b"])),
        ] {
            let other = shape(&with(map(), place, value.clone()));
            assert_ne!(other, shape_of_map, "{place} {value}");
        }
    }

    #[test]
    fn keys_beside_others_are_compared() {
        let both = |key: &str| {
            let object = with(map(), "/binaryData", json!({"b": "AQ=="}));
            shape(&with(object, &format!("/data/{key}"), json!("1")))
        };
        assert!(both("b").is_some());
        assert_ne!(both("b"), both("c"));
    }

    #[test]
    fn what_is_unknown_or_near_a_limit_is_like_no_other() {
        let long = "n".repeat(64);
        for (place, value) in [
            ("/apiVersion", json!("v2")),
            ("/kind", json!("Service")),
            ("/metadata/name", json!("Upper")),
            ("/metadata/name", json!("dot.ted")),
            ("/metadata/name", json!(long)),
            ("/metadata/name", json!(7)),
            ("/type", json!("kubernetes.io/dockerconfigjson")),
            ("/data/a", json!("x".repeat(BYTES))),
            ("/data", json!({"k".repeat(BYTES): "1"})),
        ] {
            assert_eq!(shape(&with(map(), place, value.clone())), None, "{place}");
        }
    }
}
