//! The annotations `template.openshift.io/expose-KEY`: values of a live object that an instance gives to its user.
//!
//! Deployment Manager reads live objects through references, so a path becomes `$(ref.NAME.PATH)`. A reference has no
//! filters: they are resolved in the object as the Template has it.

use serde_json::Value;

use crate::json_path::{PathError, Piece, Step, pieces};
use crate::parameters::text_of;

/// Both mean the same in outputs: Deployment Manager masks the values of Secrets, and everything else is text.
const PREFIXES: [&str; 2] = [
    "template.openshift.io/expose-",
    "template.openshift.io/base64-expose-",
];
/// The kinds whose annotations count.
pub const KINDS: [&str; 4] = ["ConfigMap", "Route", "Secret", "Service"];

/// A value that an object exposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposed {
    /// The end of the annotation's name.
    pub key: String,
    /// Text with references to the object.
    pub value: String,
}

/// Why an annotation exposes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExposeError {
    #[error("annotation {annotation}: {error}")]
    Path {
        annotation: String,
        error: PathError,
    },
    #[error("{count} JSONPath results found on annotation {annotation}; make the filter match one")]
    Several { annotation: String, count: usize },
    #[error(
        "annotation {annotation} filters a list that only the live object has; write the index of the item"
    )]
    LiveList { annotation: String },
    #[error(
        "annotation {annotation} has a key with both kinds of quotes, which no reference can have"
    )]
    Quotes { annotation: String },
    #[error("unrepresentable kind {kind} found in JSONPath result on annotation {annotation}")]
    Kind {
        annotation: String,
        kind: &'static str,
    },
    #[error("the value in the JSONPath result on annotation {annotation} is not in Base64")]
    Base64 { annotation: String },
}

/// What an object exposes. `resource` is its name in references.
///
/// # Errors
/// An annotation has no path that a reference can have.
pub fn exposed(object: &Value, resource: &str) -> Result<Vec<Exposed>, ExposeError> {
    let exposed = annotations(object).map(|found| {
        let reader = Reader {
            object,
            resource,
            annotation: found.name,
        };
        Ok(Exposed {
            key: found.key.to_owned(),
            value: reader.value(found.template)?,
        })
    });
    exposed.collect()
}

/// An annotation that exposes a value.
pub(crate) struct Annotation<'o> {
    pub name: &'o str,
    pub key: &'o str,
    pub template: &'o str,
    /// Whether the value is to be in Base64.
    pub is_base64: bool,
}

pub(crate) fn annotations(object: &Value) -> impl Iterator<Item = Annotation<'_>> {
    let kind = object.get("kind").and_then(Value::as_str);
    let has_kind = kind.is_some_and(|kind| KINDS.contains(&kind));
    let annotations = object.pointer("/metadata/annotations");
    let annotations = annotations.and_then(Value::as_object);
    let annotations = annotations.filter(|_| has_kind).into_iter().flatten();
    annotations.filter_map(|(name, template)| {
        let key = PREFIXES
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix))?;
        Some(Annotation {
            name,
            key,
            template: template.as_str()?,
            is_base64: name.starts_with(PREFIXES[1]),
        })
    })
}

/// Whether the field of an item has the value, as text.
pub(crate) fn is_match(item: &Value, field: &[String], value: &str) -> bool {
    let found = field.iter().try_fold(item, |item, key| item.get(key));
    found.is_some_and(|found| text_of(found) == value)
}

/// Reads one annotation.
struct Reader<'a> {
    object: &'a Value,
    resource: &'a str,
    annotation: &'a str,
}

impl Reader<'_> {
    fn value(&self, template: &str) -> Result<String, ExposeError> {
        let found = pieces(template).map_err(|error| ExposeError::Path {
            annotation: self.annotation.to_owned(),
            error,
        })?;
        let mut value = String::new();
        for piece in found {
            match piece {
                Piece::Text(text) => value.push_str(&text),
                Piece::Path(steps) => value.push_str(&self.reference(&steps)?),
            }
        }
        Ok(value)
    }

    /// A reference to the value at the path. A filter without a match has no value, as in OpenShift.
    fn reference(&self, steps: &[Step]) -> Result<String, ExposeError> {
        let mut path = String::new();
        let mut stated = Some(self.object);
        for step in steps {
            let index = match step {
                Step::Key(key) => {
                    path.push_str(&self.key(key)?);
                    stated = stated.and_then(|value| value.get(key));
                    continue;
                }
                Step::Index(index) => *index,
                Step::Where { field, value } => match self.matching(stated, field, value)? {
                    Some(index) => index,
                    None => return Ok(String::new()),
                },
            };
            path.push_str(&format!("[{index}]"));
            stated = stated.and_then(|value| value.get(index));
        }
        Ok(format!("$(ref.{}{path})", self.resource))
    }

    fn key(&self, key: &str) -> Result<String, ExposeError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        match (
            key.chars().all(is_plain),
            key.contains('\''),
            key.contains('"'),
        ) {
            (true, ..) => Ok(format!(".{key}")),
            (false, false, _) => Ok(format!("['{key}']")),
            (false, true, false) => Ok(format!("[\"{key}\"]")),
            (false, true, true) => Err(ExposeError::Quotes {
                annotation: self.annotation.to_owned(),
            }),
        }
    }

    /// The only item of a list whose field has the value.
    fn matching(
        &self,
        list: Option<&Value>,
        field: &[String],
        value: &str,
    ) -> Result<Option<usize>, ExposeError> {
        let annotation = || self.annotation.to_owned();
        let items = list.and_then(Value::as_array);
        let items = items.ok_or_else(|| ExposeError::LiveList {
            annotation: annotation(),
        })?;
        let matches: Vec<usize> = (items.iter().enumerate())
            .filter_map(|(index, item)| is_match(item, field, value).then_some(index))
            .collect();
        match matches[..] {
            [] => Ok(None),
            [index] => Ok(Some(index)),
            _ => Err(ExposeError::Several {
                annotation: annotation(),
                count: matches.len(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn service(expose: &str) -> Value {
        json!({
            "kind": "Service", "metadata": {"annotations": {"template.openshift.io/expose-uri": expose, "other": "{.x}"}},
            "spec": {"ports": [{"name": "http", "port": 80}, {"name": "admin", "port": 81}, {"name": "admin", "port": 82}]},
        })
    }

    fn value(expose: &str) -> Result<String, String> {
        let found = exposed(&service(expose), "web.shop").map_err(|error| error.to_string())?;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].key, "uri");
        Ok(found[0].value.clone())
    }

    #[test]
    fn a_path_becomes_a_reference_to_the_object() {
        for (expose, expected) in [
            ("{.spec.clusterIP}", "$(ref.web.shop.spec.clusterIP)"),
            ("{.data['a-b']}", "$(ref.web.shop.data.a-b)"),
            ("{.data['a.b']}", "$(ref.web.shop.data['a.b'])"),
            ("{.data[\"a'b\"]}", "$(ref.web.shop.data[\"a'b\"])"),
            (
                "http://{.spec.clusterIP}:{.spec.ports[?(.name==\"http\")].port}/x",
                "http://$(ref.web.shop.spec.clusterIP):$(ref.web.shop.spec.ports[0].port)/x",
            ),
            (
                "{.spec.ports[?(.port==81)].port}",
                "$(ref.web.shop.spec.ports[1].port)",
            ),
            ("{.spec.ports[?(.name==\"none\")].port}", ""),
            ("plain", "plain"),
        ] {
            assert_eq!(value(expose).as_deref(), Ok(expected), "{expose}");
        }
    }

    #[test]
    fn what_no_reference_can_have_is_refused() {
        for (expose, expected) in [
            (
                "{.spec.ports[?(.name==\"admin\")].port}",
                "2 JSONPath results found on annotation",
            ),
            ("{.status.l[?(.a==1)]}", "only the live object has"),
            ("{.spec.ports[*].port}", "is not a step of a path"),
        ] {
            let error = value(expose).unwrap_err();
            assert!(error.contains(expected), "{expose}: {error}");
            assert!(
                error.contains("template.openshift.io/expose-uri"),
                "{error}"
            );
        }
    }

    #[test]
    fn only_some_kinds_expose_values() {
        let object = |kind: &str| json!({"kind": kind, "metadata": {"annotations": {"template.openshift.io/base64-expose-a": "{.data.a}"}}});
        for (kind, count) in [
            ("Secret", 1),
            ("ConfigMap", 1),
            ("Route", 1),
            ("Deployment", 0),
        ] {
            assert_eq!(exposed(&object(kind), "x").unwrap().len(), count, "{kind}");
        }
        assert_eq!(exposed(&json!({"kind": "Secret"}), "x"), Ok(Vec::new()));
    }
}
