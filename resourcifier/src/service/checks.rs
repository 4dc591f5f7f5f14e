//! The dependencies of the service, and their state.

use std::time::Duration;

use common::server::observe::health::Check;

use super::Deployer;

/// How long a result is reused, because probes ask every few seconds.
const PROBE: Duration = Duration::from_secs(5);

impl Deployer {
    /// The checks of `/readyz`.
    pub async fn checks(&self) -> Vec<Check> {
        match self.cluster.versions(PROBE).await {
            Err(error) => vec![
                Check::down("kubectl", error.to_string()),
                Check::down("cluster", "it can be asked only through kubectl"),
            ],
            Ok(versions) => {
                let skew = versions
                    .skew
                    .map(|skew| format!("; {skew}"))
                    .unwrap_or_default();
                let kubectl = Check::ready("kubectl", format!("kubectl {}{skew}", versions.client));
                vec![
                    kubectl,
                    Check::of(
                        "cluster",
                        versions.server.map(|server| format!("Kubernetes {server}")),
                    ),
                ]
            }
        }
    }
}
