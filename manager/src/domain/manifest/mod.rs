//! Names, contents and digests of manifests.

pub mod imports;
pub mod instances;
pub mod resolution;

use common::api::manager::Expansion;
use common::canonical;
use common::model::{
    Configuration, DeploymentName, InputConfig, Layout, Manifest, ManifestDigests, ManifestName,
    NameError,
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

const PREFIX: &str = "manifest-";

/// A name that sorts after `latest`, made from the time in milliseconds. It also works if the clock was set back.
pub fn name(latest: Option<&ManifestName>, now: Timestamp) -> Result<ManifestName, NameError> {
    let latest_ms = latest
        .and_then(|name| name.as_str().strip_prefix(PREFIX))
        .and_then(|ms| ms.parse::<i64>().ok());
    let ms = latest_ms.map_or(now.as_millisecond(), |latest| {
        now.as_millisecond().max(latest.saturating_add(1))
    });
    ManifestName::parse(format!("{PREFIX}{ms:013}"))
}

/// The empty expansion. A deployment is updated to it before it is removed.
pub fn empty() -> (InputConfig, Expansion) {
    let input = InputConfig {
        content: "resources: []\n".to_owned(),
        imports: Vec::new(),
    };
    let expansion = Expansion {
        expanded_config: Configuration::default(),
        layout: Layout::default(),
        resolved_types: Vec::new(),
        outputs: Vec::new(),
        warnings: Vec::new(),
        notes: None,
        instance_outputs: Vec::new(),
        plans: Vec::new(),
        secrets: Vec::new(),
        values: Vec::new(),
    };
    (input, expansion)
}

pub fn assemble(
    name: ManifestName,
    deployment: DeploymentName,
    input: InputConfig,
    expansion: Expansion,
    revision: u64,
    now: Timestamp,
) -> Manifest {
    let digests = digests(&input, &expansion);
    Manifest {
        name,
        deployment,
        created_at: now,
        revision: Some(revision),
        input_config: input,
        expanded_config: expansion.expanded_config,
        layout: expansion.layout,
        resolved_types: expansion.resolved_types,
        outputs: expansion.outputs,
        notes: expansion.notes,
        digests,
        preview: None,
    }
}

fn digests(input: &InputConfig, expansion: &Expansion) -> ManifestDigests {
    let result = json!({
        "expandedConfig": expansion.expanded_config,
        "layout": expansion.layout,
        "outputs": expansion.outputs,
    });
    ManifestDigests {
        input: digest(input),
        resolved_types: digest(&expansion.resolved_types),
        expansion: digest(&result),
    }
}

fn digest(part: &impl Serialize) -> String {
    // Only maps whose keys are not strings cannot become a value, and a manifest has none.
    canonical::digest(&serde_json::to_value(part).unwrap_or(Value::Null)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_manifest_has_a_later_name_even_if_the_clock_is_set_back() {
        let first = name(None, Timestamp::from_second(1_700_000_000).unwrap()).unwrap();
        assert_eq!(first.as_str(), "manifest-1700000000000");
        let second = name(Some(&first), Timestamp::from_second(1_600_000_000).unwrap()).unwrap();
        assert_eq!(second.as_str(), "manifest-1700000000001");
        let third = name(
            Some(&second),
            Timestamp::from_second(1_800_000_000).unwrap(),
        )
        .unwrap();
        assert!(third > second);
    }

    #[test]
    fn digests_tell_which_part_of_a_manifest_differs() {
        let (input, expansion) = empty();
        let other = InputConfig {
            content: "resources: [ ]\n".to_owned(),
            ..input.clone()
        };
        let (one, two) = (digests(&input, &expansion), digests(&other, &expansion));
        assert_ne!(one.input, two.input);
        assert_eq!(
            (one.resolved_types, one.expansion),
            (two.resolved_types, two.expansion)
        );
    }
}
