//! Template objects: which texts are one, and how they are read. What they mean, `expandybird-templateobject` knows.

use serde_json::Value;

use crate::json;
use crate::yaml::{self, Duplicates, Limits, YamlError};

const OPENSHIFT: &str = "template.openshift.io/v1";
/// What a Template of the version `v1` may be called.
const KINDS: [&str; 3] = ["Template", "ProcessedTemplate", "TemplateConfig"];

/// Whether a text is a Template object.
pub fn is_template_object(text: &str) -> bool {
    // Reading a long text only to see what it is costs more than looking for the word.
    text.contains(KINDS[0]) && read_template_object(text).is_ok_and(|value| is_template(&value))
}

/// Whether a document says that it is a Template.
pub fn is_template(document: &Value) -> bool {
    let text = |key: &str| document.get(key).and_then(Value::as_str);
    match (text("apiVersion"), text("kind")) {
        (Some(OPENSHIFT), Some(kind)) => kind == KINDS[0],
        (Some("v1"), Some(kind)) => KINDS.contains(&kind),
        _ => false,
    }
}

/// The document of a text: JSON as JSON has it, everything else as YAML 1.1.
///
/// # Errors
/// It is neither, is too large, or has more than one document.
pub fn read_template_object(text: &str) -> Result<Value, YamlError> {
    if text.len() <= Limits::DEFAULT.bytes
        && text.trim_start().starts_with('{')
        && let Ok(value) = json::from_slice(text.as_bytes(), &json::Limits::TEMPLATE)
    {
        return Ok(value);
    }
    yaml::read(text, &Limits::DEFAULT, Duplicates::Error).map(|document| document.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_known_by_its_kind_and_version() {
        for (text, expected) in [
            ("{apiVersion: v1, kind: Template}", true),
            ("{apiVersion: v1, kind: TemplateConfig}", true),
            (
                "{apiVersion: template.openshift.io/v1, kind: Template}",
                true,
            ),
            (
                "{apiVersion: template.openshift.io/v1, kind: TemplateConfig}",
                false,
            ),
            ("{apiVersion: v2, kind: Template}", false),
            ("{apiVersion: v1, kind: PodTemplate}", false),
            ("{apiVersion: v1, kind: Template}\n---\n{}", false),
            ("Template: [", false),
        ] {
            assert_eq!(is_template_object(text), expected, "{text}");
        }
    }

    #[test]
    fn json_is_read_as_json_and_yaml_as_yaml() {
        let read = |text| read_template_object(text).unwrap();
        assert_eq!(read("{\"a\": 1e3}"), serde_json::json!({"a": 1000.0}));
        assert_eq!(read("a: yes"), serde_json::json!({"a": true}));
    }
}
