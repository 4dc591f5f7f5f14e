//! Which values of a configuration belong to Kubernetes Secrets. Callers decide what to do about them.

use serde_json::Value;

/// The places of these values: JSON pointers into the object. kubectl copies the whole object into an annotation.
pub const FIELDS: [&str; 3] = [
    "/data",
    "/stringData",
    "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration",
];

/// Whether a resource is a Secret: by its type, or by the kind that its properties state.
pub fn is_one(type_name: &str, properties: Option<&Value>) -> bool {
    let kind = properties.and_then(|properties| properties["kind"].as_str());
    is_type(type_name) || kind == Some("Secret")
}

/// `Secret`, `v1/Secret` or `v1:Secret`.
pub fn is_type(name: &str) -> bool {
    name.rsplit(['/', ':']).next() == Some("Secret")
}

/// The values of a resource, if it is a Secret.
pub fn values<'a>(
    type_name: &str,
    properties: Option<&'a Value>,
) -> impl Iterator<Item = &'a Value> {
    let secret = properties.filter(|_| is_one(type_name, properties));
    let fields = FIELDS.into_iter();
    fields.filter_map(move |field| secret?.pointer(field))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_is_known_by_its_type_or_its_kind() {
        let object = json!({"data": {"a": "eA=="}, "stringData": {"b": "x"}});
        let stated = json!({"kind": "Secret", "data": {"a": "eA=="}});
        for (type_name, properties, count) in [
            ("Secret", &object, 2),
            ("v1/Secret", &object, 2),
            ("v1:Secret", &object, 2),
            ("object", &stated, 1),
            ("ConfigMap", &object, 0),
        ] {
            let found = values(type_name, Some(properties)).count();
            assert_eq!(found, count, "{type_name}");
        }
    }
}
