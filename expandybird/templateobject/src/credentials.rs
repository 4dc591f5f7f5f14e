//! The values that a live object exposes, as OpenShift's template service broker gives them to bindings.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use crate::exposed::{Annotation, ExposeError, Exposed, annotations, is_match};
use crate::json_path::{Piece, Step, pieces};
use crate::parameters::text_of;

/// What a live object exposes: each key with its value. What the object does not have is an empty text.
///
/// # Errors
/// An annotation cannot be read, or leads to something else than one text.
pub fn credentials(object: &Value) -> Result<Vec<Exposed>, ExposeError> {
    let exposed = annotations(object).map(|found| {
        let value = value(object, &found)?;
        Ok(Exposed {
            key: found.key.to_owned(),
            value: match found.is_base64 {
                true => BASE64_STANDARD.encode(value),
                false => String::from_utf8_lossy(&value).into_owned(),
            },
        })
    });
    exposed.collect()
}

fn value(object: &Value, annotation: &Annotation<'_>) -> Result<Vec<u8>, ExposeError> {
    let name = || annotation.name.to_owned();
    let found = pieces(annotation.template).map_err(|error| ExposeError::Path {
        annotation: name(),
        error,
    })?;
    let mut value = Vec::new();
    for piece in found {
        let steps = match piece {
            Piece::Text(text) => {
                value.extend(text.into_bytes());
                continue;
            }
            Piece::Path(steps) => steps,
        };
        match at(object, &steps)[..] {
            [] => {}
            [found] => value.extend(bytes(object, &steps, found, annotation)?),
            ref several => {
                return Err(ExposeError::Several {
                    annotation: name(),
                    count: several.len(),
                });
            }
        }
    }
    Ok(value)
}

/// The values at a path.
fn at<'o>(object: &'o Value, steps: &[Step]) -> Vec<&'o Value> {
    let mut found = vec![object];
    for step in steps {
        found = match step {
            Step::Key(key) => found.iter().filter_map(|one| one.get(key)).collect(),
            Step::Index(index) => found.iter().filter_map(|one| one.get(index)).collect(),
            Step::Where { field, value } => {
                let items = found.iter().filter_map(|one| one.as_array()).flatten();
                items.filter(|item| is_match(item, field, value)).collect()
            }
        };
    }
    found
}

/// A scalar as text. What the API has in Base64 is decoded.
fn bytes(
    object: &Value,
    steps: &[Step],
    found: &Value,
    annotation: &Annotation<'_>,
) -> Result<Vec<u8>, ExposeError> {
    let of_kind = |kind| ExposeError::Kind {
        annotation: annotation.name.to_owned(),
        kind,
    };
    match found {
        Value::Null => Err(of_kind("nil")),
        Value::Object(_) => Err(of_kind("map")),
        Value::Array(_) => Err(of_kind("slice")),
        Value::String(text) if is_encoded(object, steps) => {
            BASE64_STANDARD
                .decode(text)
                .map_err(|_| ExposeError::Base64 {
                    annotation: annotation.name.to_owned(),
                })
        }
        scalar => Ok(text_of(scalar).into_bytes()),
    }
}

fn is_encoded(object: &Value, steps: &[Step]) -> bool {
    let field = match object["kind"].as_str() {
        Some("Secret") => "data",
        Some("ConfigMap") => "binaryData",
        _ => return false,
    };
    matches!(steps.first(), Some(Step::Key(key)) if key == field)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secret(annotation: &str, path: &str) -> Value {
        json!({
            "kind": "Secret",
            "metadata": {"name": "db", "annotations": {(annotation): path}},
            "data": {"user": "cm9vdA==", "bad": "%", "data-key": "eA=="},
            "list": [{"name": "a", "port": 1}, {"name": "b", "port": 2}, {"name": "b", "port": 3}],
            "none": null,
        })
    }

    fn one(annotation: &str, path: &str) -> Result<String, String> {
        let annotation = format!("template.openshift.io/{annotation}");
        let found = credentials(&secret(&annotation, path)).map_err(|error| error.to_string())?;
        assert_eq!(found[0].key, "uri");
        Ok(found[0].value.clone())
    }

    #[test]
    fn the_values_of_the_live_object_are_text() {
        for (annotation, path, expected) in [
            ("expose-uri", "{.data.user}", "root"),
            ("expose-uri", "{.data['data-key']}", "x"),
            (
                "expose-uri",
                "a://{.data.user}@{.metadata.name}",
                "a://root@db",
            ),
            ("expose-uri", "{.list[?(.name==\"a\")].port}", "1"),
            ("expose-uri", "{.list[1].port}", "2"),
            ("expose-uri", "{.data.missing}", ""),
            ("base64-expose-uri", "{.data.user}", "cm9vdA=="),
            ("base64-expose-uri", "{.metadata.name}", "ZGI="),
        ] {
            assert_eq!(one(annotation, path).as_deref(), Ok(expected), "{path}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for (path, expected) in [
            ("{.list[?(.name==\"b\")].port}", "2 JSONPath results found"),
            ("{.data}", "unrepresentable kind map"),
            ("{.list}", "unrepresentable kind slice"),
            ("{.none}", "unrepresentable kind nil"),
            ("{.data.bad}", "not in Base64"),
            ("{.data[*]}", "is not a step of a path"),
        ] {
            let error = one("expose-uri", path).unwrap_err();
            assert!(error.contains(expected), "{path}: {error}");
            assert!(
                error.contains("template.openshift.io/expose-uri"),
                "{error}"
            );
        }
        let pod = json!({"kind": "Pod", "metadata": {"annotations": {"template.openshift.io/expose-a": "{.x}"}}});
        assert_eq!(credentials(&pod), Ok(Vec::new()));
    }
}
