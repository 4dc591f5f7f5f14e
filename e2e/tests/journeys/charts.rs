//! Every version of every bundled template deploys by its own `example.yaml`, becomes ready, and goes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use e2e::Stack;
use e2e::program::checkout;

/// The version folders of the bundled registry.
fn versions() -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for template in folders(&checkout().join("charts"))? {
        found.extend(folders(&template)?);
    }
    found.sort();
    Ok(found)
}

fn folders(parent: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(parent).with_context(|| parent.display().to_string())?;
    let paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    Ok(paths.into_iter().filter(|path| path.is_dir()).collect())
}

#[tokio::test]
async fn every_example_of_the_bundled_registry_becomes_ready_and_goes_without_trace() -> Result<()>
{
    let stack = Stack::start().await?;
    let versions = versions()?;
    assert!(versions.len() >= 6, "{versions:?}");
    for (index, version) in versions.iter().enumerate() {
        let (example, name) = (version.join("example.yaml"), format!("example-{index}"));
        let example = example.to_str().context("a path that is not text")?;
        stack
            .deploy(&[example, "--name", &name])
            .await
            .with_context(|| example.to_owned())?;
        assert_eq!(
            stack.dm.json(&["get", &name]).await?["state"]["status"],
            "Deployed",
            "{example}"
        );
        stack
            .dm
            .ok(&["delete", &name])
            .await
            .with_context(|| example.to_owned())?;
        for kind in ["deployments", "statefulsets", "services", "pods", "secrets"] {
            assert_eq!(
                stack.names(kind)?,
                Vec::<String>::new(),
                "{example} left {kind}"
            );
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_guestbook_is_three_levels_deep_and_its_tree_says_so() -> Result<()> {
    let stack = Stack::start().await?;
    stack.deploy(&["guestbook:v1", "--name", "board"]).await?;
    let layout = stack.dm.json(&["layout", "board"]).await?;
    assert_eq!(
        depth(&layout["resources"]),
        4,
        "template, template, template, primitive: {layout}"
    );
    let manifest = stack.dm.json(&["manifest", "board"]).await?;
    let resolved = manifest["resolvedTypes"].as_array().map_or(0, Vec::len);
    assert!(resolved >= 3, "{}", manifest["resolvedTypes"]);
    Ok(())
}

fn depth(resources: &serde_json::Value) -> usize {
    let nodes = resources.as_array().cloned().unwrap_or_default();
    nodes
        .iter()
        .map(|node| 1 + depth(&node["resources"]))
        .max()
        .unwrap_or_default()
}
