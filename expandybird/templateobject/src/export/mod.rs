//! A Template from live objects: without what belongs to the cluster they come from.
//!
//! Its dialect is the proposal's, and its annotation says so. A parameter has a name that no text of the objects refers
//! to, so no text needs an escape.

mod clean;
mod parameters;

use serde_json::{Map, Value, json};

use self::parameters::Parameters;

pub use self::clean::{Portable, cleaned};

/// How a Template is made of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style<'a> {
    /// The name of the Template.
    pub name: &'a str,
    /// Images, replicas and hosts become parameters, whose defaults they are.
    pub parameterize: bool,
}

/// A Template of these objects. The values of Secrets become parameters without a default: nobody else should read them.
pub fn template(mut objects: Vec<Value>, style: Style<'_>) -> Value {
    let mut parameters = Parameters::new(&objects);
    for object in &mut objects {
        parameters.take_secrets(object);
        if style.parameterize {
            parameters.take_settings(object);
        }
    }
    let parameters = parameters.into_list();
    let mut template = Map::new();
    for (key, value) in [
        ("apiVersion", json!("v1")),
        ("kind", json!("Template")),
        (
            "metadata",
            json!({"name": style.name, "annotations": {crate::detection::ANNOTATION: "proposal"}}),
        ),
        ("parameters", Value::Array(parameters)),
        ("objects", Value::Array(objects)),
    ] {
        if value != json!([]) || key == "objects" {
            template.insert(key.to_owned(), value);
        }
    }
    Value::Object(template)
}

#[cfg(test)]
mod tests;
