//! A cluster: the resourcifier that applies deployments to it, and what is known of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::name::{ClusterName, CredentialName};

/// The cluster of the manager's own resourcifier.
pub const DEFAULT_CLUSTER: &str = "default";

impl Default for ClusterName {
    fn default() -> Self {
        Self::own()
    }
}

impl ClusterName {
    /// Whether it is the cluster of the manager's own resourcifier.
    pub fn is_default(&self) -> bool {
        self.as_str() == DEFAULT_CLUSTER
    }
}

/// `POST /clusters`, and an item of `GET /clusters`. It names its credential and does not contain it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cluster {
    /// What deployments name. `default` is taken by the manager's own cluster.
    pub name: ClusterName,
    /// The URL of the cluster's resourcifier.
    #[schemars(extend("pattern" = "^https?://."))]
    pub url: String,
    /// What plans of service brokers choose clusters by.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Absent: it has room for everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Capacity>,
    /// The credential with the token for its resourcifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<CredentialName>,
    /// The authority that signed the certificate of its resourcifier, as PEM. Default: the machine's authorities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
}

/// What a cluster has, as Kubernetes writes quantities. Absent: as much as is needed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capacity {
    /// Such as `16` or `7500m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = QUANTITY))]
    pub cpu: Option<String>,
    /// Such as `64Gi`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = QUANTITY))]
    pub memory: Option<String>,
}

/// Kubernetes quantities without exponents, which nobody writes for processors and memory.
const QUANTITY: &str = r"^[0-9]{1,12}(\.[0-9]{1,6})?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$";

/// A Kubernetes quantity as a number, in thousandths.
///
/// # Errors
/// The text is not a quantity.
pub fn quantity(text: &str) -> Result<u128, QuantityError> {
    let error = || QuantityError(text.chars().take(80).collect());
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let fits = (1..=12).contains(&whole.len()) && part.len() <= 6 && !number.ends_with('.');
    if !fits || part.contains('.') {
        return Err(error());
    }
    let unit: u128 = match unit {
        "" => 1_000,
        "m" => 1,
        "k" => 1_000_000,
        "M" => 1_000_000_000,
        "G" => 1_000_000_000_000,
        "T" => 1_000_000_000_000_000,
        "P" => 1_000_000_000_000_000_000,
        "Ki" => 1_000 << 10,
        "Mi" => 1_000 << 20,
        "Gi" => 1_000 << 30,
        "Ti" => 1_000 << 40,
        "Pi" => 1_000 << 50,
        _ => return Err(error()),
    };
    let millionths: u128 = format!("{whole}{part:0<6}").parse().map_err(|_| error())?;
    // As in Kubernetes, what is left is rounded up.
    Ok((millionths * unit).div_ceil(1_000_000))
}

/// Why a text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a quantity: write it like 16, 500m or 64Gi")]
pub struct QuantityError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_those_of_kubernetes() {
        for (text, expected) in [
            ("16", Some(16_000)),
            ("500m", Some(500)),
            ("0.1", Some(100)),
            ("1.5Gi", Some(1_610_612_736_000)),
            ("2k", Some(2_000_000)),
            ("0.0001", Some(1)),
            ("", None),
            ("-1", None),
            ("1.", None),
            ("1.2.3", None),
            (".5", None),
            ("1e3", None),
            ("1GiB", None),
            ("9999999999999", None),
        ] {
            assert_eq!(quantity(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn a_cluster_needs_a_name_and_a_url_only() {
        let read: Cluster = serde_json::from_str(r#"{"name":"b","url":"http://b"}"#).unwrap();
        let written = serde_json::to_string(&read).unwrap();
        assert_eq!(written, r#"{"name":"b","url":"http://b","labels":{}}"#);
        let misspelt = r#"{"name":"b","url":"http://b","token":"t"}"#;
        assert!(serde_json::from_str::<Cluster>(misspelt).is_err());
        assert!(ClusterName::default().is_default());
    }
}
