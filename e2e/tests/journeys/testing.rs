//! Templates are tested before they are published, and after.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use e2e::{Stack, until};
use serde_json::Value;

use crate::configurations::pods;

const TEMPLATE: &str = "\
resources:
- name: settings
  type: ConfigMap
  properties:
    data:
      size: \"{{ properties.size }}\"
";
const SCHEMA: &str = "properties: {size: {type: integer, default: 1}}\n";
const EXAMPLE: &str = "resources: [{name: example, type: \"sized:v1\"}]\n";

/// Writes a version of the template `sized`, and gives its folder.
fn version(stack: &Stack, version: &str, template: &str, schema: &str) -> Result<String> {
    let folder = stack.folder().join("sized").join(version);
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("sized.jinja"), template)?;
    std::fs::write(folder.join("sized.jinja.schema"), schema)?;
    std::fs::write(folder.join("example.yaml"), EXAMPLE)?;
    let folder = folder.to_str().context("a path that is not text")?;
    Ok(folder.to_owned())
}

/// Tests it, expects this exit code, and gives the check of this name.
async fn check(stack: &Stack, args: &[&str], code: i32, name: &str) -> Result<Value> {
    let said = stack
        .dm
        .run(
            &[
                &["test", "-o", "json", "--namespace", &stack.namespace],
                args,
            ]
            .concat(),
        )
        .await?;
    assert_eq!(said.code, code, "{args:?}: {}{}", said.stdout, said.stderr);
    let report: Value = serde_json::from_str(&said.stdout)?;
    assert_eq!(report["ok"], code == 0, "{report}");
    let checks = report["checks"].as_array().context("no checks")?;
    let found = checks.iter().find(|check| check["name"] == name);
    Ok(found.with_context(|| format!("{name}: {report}"))?.clone())
}

#[tokio::test]
async fn a_template_of_a_registry_is_tested_without_leaving_a_trace() -> Result<()> {
    let stack = Stack::start().await?;
    let objects = check(&stack, &["redis:v1"], 0, "objects").await?;
    assert_eq!(objects["ok"], true, "{objects}");
    let versions = check(&stack, &["replicatedservice:v1"], 0, "versions").await?;
    assert!(
        versions["told"][0]
            .as_str()
            .unwrap_or_default()
            .contains("v1.0.0"),
        "{versions}"
    );
    let live = check(&stack, &["redis:v1", "--live"], 0, "live").await?;
    assert_eq!(live["ok"], true, "{live}");
    for kind in ["deployments", "services"] {
        assert_eq!(stack.names(kind)?, Vec::<String>::new());
    }
    let deployments = stack.dm.json(&["list"]).await?;
    assert_eq!(deployments["items"], serde_json::json!([]));
    Ok(())
}

#[tokio::test]
async fn the_api_server_finds_a_fault_in_an_object_of_a_folder() -> Result<()> {
    let stack = Stack::start().await?;
    let sound = version(&stack, "v1", TEMPLATE, SCHEMA)?;
    check(&stack, &[&sound, "--live"], 0, "live").await?;
    let faulty = TEMPLATE.replace(
        "    data:\n",
        "    metadata: {name: Not_A_Name}\n    data:\n",
    );
    let faulty = version(&stack, "v1", &faulty, SCHEMA)?;
    let objects = check(&stack, &[&faulty], 1, "objects").await?;
    let reported = objects["told"][0].as_str().unwrap_or_default();
    assert!(reported.contains("Not_A_Name"), "{objects}");
    Ok(())
}

#[tokio::test]
async fn a_patch_that_adds_a_property_fails_its_test_and_a_minor_may() -> Result<()> {
    let stack = Stack::start().await?;
    let schema = "properties: {size: {type: integer, default: 1}, colour: {type: string}}\n";
    version(&stack, "v1", TEMPLATE, SCHEMA)?;
    let patch = version(&stack, "v1.0.1", TEMPLATE, schema)?;
    let versions = check(&stack, &[&patch], 1, "versions").await?;
    let reported = versions["told"][0].as_str().unwrap_or_default();
    assert!(reported.contains("property colour is new"), "{versions}");
    let minor = version(&stack, "v1.1", TEMPLATE, schema)?;
    std::fs::write(
        format!("{minor}/example.yaml"),
        EXAMPLE.replace("sized:v1", "sized:v1.1"),
    )?;
    std::fs::remove_dir_all(&patch)?;
    let versions = check(&stack, &[&minor], 0, "versions").await?;
    assert_eq!(versions["ok"], true, "{versions}");
    Ok(())
}

#[tokio::test]
async fn a_live_test_that_is_interrupted_removes_what_it_deployed() -> Result<()> {
    let stack = Stack::start().await?;
    let folder = version(&stack, "v1", &pods("slow", "slow:50s", 1), SCHEMA)?;
    let args = ["test", &folder, "--live", "--namespace", &stack.namespace];
    let test = stack.dm.start(&args)?;
    until(
        "its object to be there",
        Duration::from_secs(30),
        || async {
            ensure!(stack.names("deployments")? == ["slow"], "none yet");
            Ok(())
        },
    )
    .await?;
    test.interrupt()?;
    let said = test.ends().await?;
    assert_eq!(said.code, 130, "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("is removed"), "{}", said.stderr);
    assert_eq!(stack.names("deployments")?, Vec::<String>::new());
    let deployments = stack.dm.json(&["list"]).await?;
    assert_eq!(deployments["items"], serde_json::json!([]));
    Ok(())
}
