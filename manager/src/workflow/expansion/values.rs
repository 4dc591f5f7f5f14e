//! The values that templates made up for a deployment, and that its next expansion uses again.

use common::api::error::{ErrorBody, ErrorCode};
use common::model::{
    DeploymentName, GeneratedValue, INHERITED, ManifestName, Regenerate, ResourceName,
};
use manager_broker::{BINDING_RESOURCE, INSTANCE_RESOURCE};

use crate::store::{Store, StoreError, manifests};

/// The values of a deployment's latest manifest. None if it has no manifest.
pub async fn kept(
    store: &Store,
    deployment: &DeploymentName,
    latest: Option<&ManifestName>,
) -> Result<Vec<GeneratedValue>, StoreError> {
    match latest {
        Some(manifest) => manifests::values(store, deployment, manifest).await,
        None => Ok(Vec::new()),
    }
}

/// The values of an instance as those that a new binding of it begins with.
pub fn inherited(values: Vec<GeneratedValue>) -> Vec<GeneratedValue> {
    let is_own = |value: &GeneratedValue| {
        let names = value.instance.iter().map(|name| name.as_str());
        names.eq([INSTANCE_RESOURCE]) && !value.name.contains([':', '/'])
    };
    let values = values.into_iter().filter(is_own);
    let values = values.filter_map(|value| {
        Some(GeneratedValue {
            instance: vec![ResourceName::parse(BINDING_RESOURCE).ok()?],
            name: format!("{INHERITED}{}", value.name),
            ..value
        })
    });
    values.collect()
}

/// The values that stay when some are made again.
///
/// # Errors
/// A request names no value: a slip must not leave an old password in use.
pub fn without(
    mut values: Vec<GeneratedValue>,
    regenerate: &[Regenerate],
) -> Result<Vec<GeneratedValue>, Box<ErrorBody>> {
    let named = |one: &&Regenerate| values.iter().any(|value| one.names(value));
    if let Some(nothing) = regenerate.iter().find(|one| !named(one)) {
        let message = format!(
            "regenerate={nothing} names no generated value of the latest manifest; write a path as the layout shows it, and a parameter's name"
        );
        return Err(Box::new(ErrorBody::new(ErrorCode::InvalidRequest, message)));
    }
    values.retain(|value| !regenerate.iter().any(|one| one.names(value)));
    Ok(values)
}

#[cfg(test)]
mod tests {
    use common::model::LayoutPath;
    use serde_json::json;

    use super::*;

    fn value(path: &str, name: &str) -> GeneratedValue {
        GeneratedValue {
            instance: Vec::new(),
            path: LayoutPath::parse(path).unwrap(),
            name: name.to_owned(),
            value: json!("x"),
            secret: true,
        }
    }

    #[test]
    fn values_that_are_made_again_are_not_kept() {
        let all = vec![
            value("$.resources[0]", "A"),
            value("$.resources[0]", "B"),
            value("$.resources[1]", "A"),
        ];
        for (regenerate, kept) in [
            (vec![], vec![0, 1, 2]),
            (vec!["$.resources[0].A"], vec![1, 2]),
            (vec!["$.resources[0]"], vec![2]),
            (vec!["$.resources[0].B", "$.resources[1]"], vec![0]),
            (vec!["$"], vec![]),
            (vec!["$.A"], vec![1]),
        ] {
            let parsed: Vec<Regenerate> = regenerate
                .iter()
                .map(|text| text.parse().unwrap())
                .collect();
            let expected: Vec<_> = kept
                .into_iter()
                .map(|index: usize| all[index].clone())
                .collect();
            assert_eq!(
                without(all.clone(), &parsed),
                Ok(expected),
                "{regenerate:?}"
            );
        }
    }

    #[test]
    fn a_request_that_names_no_value_is_refused() {
        let nothing: Regenerate = "$.resources[0].B".parse().unwrap();
        let refused = without(vec![value("$.resources[0]", "A")], &[nothing]).unwrap_err();
        assert!(refused.message.contains("$.resources[0].B"), "{refused}");
    }
}
