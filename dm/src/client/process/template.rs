//! A Template as a document: what the command line sets in it.

use common::model::Namespace;
use serde_json::{Map, Value, json};

use super::assignments::Assignments;

/// Sets labels over those of the Template.
pub fn set_labels(template: &mut Value, labels: Assignments) {
    if labels.is_empty() {
        return;
    }
    if !template["labels"].is_object() {
        template["labels"] = Value::Object(Map::new());
    }
    for (key, value) in labels {
        template["labels"][key] = Value::from(value);
    }
}

/// Sets the values of parameters. Returns the names that the Template does not have.
pub fn set_values(template: &mut Value, values: Assignments) -> Vec<String> {
    let mut unknown = Vec::new();
    for (name, value) in values {
        let parameters = template.get_mut("parameters").and_then(Value::as_array_mut);
        let mut parameters = parameters.into_iter().flatten();
        let named = parameters.find(|one| one.get("name") == Some(&json!(name)));
        match named.and_then(Value::as_object_mut) {
            Some(parameter) => {
                parameter.insert("value".to_owned(), Value::from(value));
                parameter.shift_remove("generate");
            }
            None => unknown.push(name),
        }
    }
    unknown
}

/// A Template that names another namespace gets this one.
pub fn set_namespace(template: &mut Value, namespace: &Namespace) {
    let named = template.pointer_mut("/metadata/namespace");
    if let Some(named) = named.filter(|named| named.is_string()) {
        *named = Value::from(namespace.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_takes_the_place_of_a_generator() {
        let mut template = json!({"parameters": [{"name": "A", "generate": "expression"}]});
        let given = [("A", "x"), ("B", "y")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(set_values(&mut template, given.into()), ["B"]);
        assert_eq!(
            template["parameters"][0],
            json!({"name": "A", "value": "x"})
        );
        assert_eq!(
            set_values(&mut json!({}), vec![("A".to_owned(), String::new())]),
            ["A"]
        );
    }

    #[test]
    fn labels_and_namespace_override_those_of_the_template() {
        let mut template = json!({"metadata": {"namespace": "a"}, "labels": {"a": "x", "b": "y"}});
        set_labels(&mut template, vec![("a".to_owned(), "z".to_owned())]);
        set_namespace(&mut template, &Namespace::parse("shop").unwrap());
        let expected = json!({"metadata": {"namespace": "shop"}, "labels": {"a": "z", "b": "y"}});
        assert_eq!(template, expected);
        let mut without = json!({"metadata": {}});
        set_namespace(&mut without, &Namespace::parse("shop").unwrap());
        assert_eq!(without, json!({"metadata": {}}));
    }
}
