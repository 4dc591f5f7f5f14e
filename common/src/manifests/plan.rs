//! Plans of the Service Fabrik Inter-operator: which texts are one, and how they are read. What they mean,
//! `expandybird-sfplan` knows.

use serde_json::Value;

use crate::yaml::{self, Duplicates, Limits, YamlError};

const GROUP: &str = "osb.servicefabrik.io/";
const KIND: &str = "SFPlan";

/// Whether a text has a plan.
pub fn is_plan(text: &str) -> bool {
    // Reading a long text only to see what it is costs more than looking for the word.
    let documents = text.contains(KIND).then(|| read_plan(text));
    let is_plan = |document: &Value| {
        let version = document["apiVersion"].as_str().unwrap_or_default();
        document["kind"] == KIND && version.starts_with(GROUP)
    };
    documents.is_some_and(|read| read.is_ok_and(|all| all.iter().any(is_plan)))
}

/// The documents of a text, and the items of its lists.
///
/// # Errors
/// It is no YAML.
pub fn read_plan(text: &str) -> Result<Vec<Value>, YamlError> {
    let documents = yaml::read_all(text, &Limits::DEFAULT, Duplicates::Error)?;
    let documents = documents.into_iter().map(|document| document.value);
    let documents = documents.filter(|document| !document.is_null());
    let each = documents.flat_map(|mut document| match document["items"].take() {
        Value::Array(items) if document["kind"] == "List" => items,
        items => {
            if !items.is_null() {
                document["items"] = items;
            } else if let Some(map) = document.as_object_mut() {
                map.shift_remove("items");
            }
            vec![document]
        }
    });
    Ok(each.collect())
}
