//! Why a workload is not ready: what its pods say. Asked only when time is over.

use std::time::Duration;

use serde_json::Value;

use super::readiness::pod_trouble;
use super::{Context, fetch};
use crate::kubectl::Query;
use crate::plan::Wanted;

/// The time for each workload: the answer is late already.
const WITHIN: Duration = Duration::from_secs(5);
/// Pods that are told of.
const TOLD: usize = 3;

/// What holds up the pods that the object selects, if it selects any and the cluster says.
pub async fn of(context: Context<'_>, live: &Value) -> Option<String> {
    let selector = &live["spec"]["selector"];
    let labels = selector["matchLabels"].as_object().or_else(|| {
        selector
            .as_object()
            .filter(|_| live["kind"] == "ReplicationController")
    })?;
    let selector: Vec<String> = labels
        .iter()
        .filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)))
        .collect();
    let kind = context
        .catalog
        .find(&Wanted {
            api_version: Some("v1".to_owned()),
            kind: "Pod".to_owned(),
        })
        .ok()?;
    let query = Query {
        kind,
        namespace: live["metadata"]["namespace"].as_str(),
        selector: Some(&selector.join(",")),
        metadata_only: false,
    };
    let pods = match fetch::all(context.kubectl, query, WITHIN).await {
        Ok(pods) => pods,
        Err(error) => return Some(format!("its pods cannot be read: {error}")),
    };
    let troubles = pods.iter().filter_map(|pod| {
        Some(format!(
            "pod {}: {}",
            pod["metadata"]["name"].as_str()?,
            pod_trouble(pod)?
        ))
    });
    let told: Vec<String> = troubles.take(TOLD).collect();
    (!told.is_empty()).then(|| told.join("; "))
}
