//! Checks that the result is the same as without kills.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, ensure};
use common::model::{DeploymentName, ManifestName};
use e2e::{Stack, until};
use serde_json::Value;

use super::load::Wish;

/// The garbage collector takes pods away after their owner.
const COLLECTED: Duration = Duration::from_secs(60);

pub async fn faults(
    stack: &Stack,
    expected: &BTreeMap<DeploymentName, (ManifestName, Wish)>,
) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    faults.extend(different(
        "config maps",
        &maps(stack)?,
        &wished_maps(expected),
    ));
    faults.extend(different(
        "deployments",
        &stack.names("deployments")?,
        &wished_pods(expected),
    ));
    faults.extend(
        pods(stack, wished_pods(expected).len())
            .await
            .err()
            .map(|error| format!("{error:#}")),
    );
    faults.extend(records(stack, expected).await?);
    let verified = stack.dm.run(&["admin", "verify"]).await?;
    if verified.code != 0 {
        faults.push(format!("verify: {}{}", verified.stdout, verified.stderr));
    }
    Ok(faults)
}

fn different(what: &str, found: &[String], wished: &[String]) -> Vec<String> {
    let left = found.iter().filter(|name| !wished.contains(name));
    let missing = wished.iter().filter(|name| !found.contains(name));
    left.map(|name| format!("{what}: {name} is left over or old"))
        .chain(missing.map(|name| format!("{what}: {name} is missing")))
        .collect()
}

/// Name and version of each, sorted.
fn maps(stack: &Stack) -> Result<Vec<String>> {
    let maps = stack.cluster.objects(&stack.namespace, "configmaps")?;
    let reported = |map: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        format!(
            "{}={}",
            text(&map["metadata"]["name"]),
            text(&map["data"]["version"])
        )
    };
    let own = |map: &&Value| map["metadata"]["name"] != "kube-root-ca.crt";
    let mut reported: Vec<_> = maps.iter().filter(own).map(reported).collect();
    reported.sort();
    Ok(reported)
}

fn wished_maps(expected: &BTreeMap<DeploymentName, (ManifestName, Wish)>) -> Vec<String> {
    let of = |(name, (_, wish)): (&DeploymentName, &(ManifestName, Wish))| {
        let (name, wish) = (name.clone(), *wish);
        (0..wish.count).map(move |n| format!("{name}-{n}={}", wish.version))
    };
    expected.iter().flat_map(of).collect()
}

fn wished_pods(expected: &BTreeMap<DeploymentName, (ManifestName, Wish)>) -> Vec<String> {
    let with_pods = expected.iter().filter(|(_, (_, wish))| wish.pods);
    with_pods.map(|(name, _)| name.to_string()).collect()
}

async fn pods(stack: &Stack, wished: usize) -> Result<()> {
    until(
        "the pods to be those of the deployments",
        COLLECTED,
        || async {
            let (ready, all) = (stack.ready_pods()?, stack.names("pods")?);
            ensure!(
                ready == wished && all.len() == wished,
                "{ready} ready of {all:?}, not {wished}"
            );
            Ok(())
        },
    )
    .await
}

/// What the manager says: the deployments that must be there, each deployed, with its last manifest, and nothing running.
async fn records(
    stack: &Stack,
    expected: &BTreeMap<DeploymentName, (ManifestName, Wish)>,
) -> Result<Vec<String>> {
    let list = stack.dm.json(&["list"]).await?;
    let items = list["items"].as_array().cloned().unwrap_or_default();
    let reported = |item: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        format!(
            "{} {} {}",
            text(&item["name"]),
            text(&item["state"]["status"]),
            text(&item["latestManifest"])
        )
    };
    let found: Vec<_> = items.iter().map(reported).collect();
    let wished: Vec<_> = expected
        .iter()
        .map(|(name, (manifest, _))| format!("{name} Deployed {manifest}"))
        .collect();
    let operations = stack.dm.json(&["operations"]).await?;
    let operations = operations["items"].as_array().cloned().unwrap_or_default();
    let unfinished = operations
        .iter()
        .filter(|operation| operation["status"] != "DONE");
    Ok(different("the manager's list", &found, &wished)
        .into_iter()
        .chain(unfinished.map(|operation| format!("unfinished: {operation}")))
        .collect())
}
