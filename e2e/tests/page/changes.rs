//! Changes by the page: commit, compare, roll back, delete.

use anyhow::{Result, ensure};
use e2e::Stack;
use reqwest::StatusCode;

use crate::browser::Browser;

const FIRST: &str = "replicatedservice:v1";

#[tokio::test]
async fn a_preview_is_committed_compared_rolled_back_and_deleted() -> Result<()> {
    let stack = Stack::start().await?;
    stack
        .deploy(&[FIRST, "--name", "web", "--set", "replicas=2"])
        .await?;
    let preview = [
        "preview",
        FIRST,
        "--name",
        "web",
        "--properties",
        "replicas=3",
    ];
    stack.dm.ok(&preview).await?;
    let browser = Browser::open(&stack.manager.url()).await?;

    browser.visit("deployments/web").await?;
    browser.click("main nav a", "Changes").await?;
    browser.shows("spec.replicas").await?;
    browser.examine("changes").await?;
    browser.click("button", "Discard…").await?;
    browser.click("form button", "Discard").await?;
    browser.hides("spec.replicas").await?;
    stack.dm.ok(&preview).await?;
    browser.shows("spec.replicas").await?;
    browser.click("button", "Commit…").await?;
    browser.click("form button", "Commit").await?;
    browser.shows("update web").await?;
    browser.shows("● done").await?;
    assert_eq!(stack.ready_pods()?, 3);

    browser.visit("deployments/web/changes").await?;
    browser.click("button", "Compare with the latest").await?;
    browser.shows("spec.replicas").await?;
    browser.examine("comparison").await?;
    browser.click("button", "Roll back to 1…").await?;
    browser.click("form button", "Roll back to 1").await?;
    browser.shows("rollback web").await?;
    browser.shows("● done").await?;
    assert_eq!(stack.ready_pods()?, 2);

    browser.visit("deployments/web/changes").await?;
    browser.click("button", "Delete…").await?;
    browser.fill("input[name=typed]", "we").await?;
    let disabled = "return document.querySelector('form button.danger').disabled";
    assert_eq!(
        browser.run(disabled).await?,
        true,
        "only the whole name confirms"
    );
    browser.fill("input[name=typed]", "web").await?;
    browser.click("form button", "Delete").await?;
    browser.shows("delete web").await?;
    browser.shows("● done").await?;
    let (status, answer) = stack.get("/deployments/web").await?;
    ensure!(status == StatusCode::NOT_FOUND, "{answer}");
    browser.close().await
}

#[tokio::test]
async fn a_version_is_rolled_out_in_stages_with_its_progress() -> Result<()> {
    let stack = Stack::start().await?;
    for name in ["one", "two", "three"] {
        stack.deploy(&[FIRST, "--name", name]).await?;
    }
    let browser = Browser::open(&stack.manager.url()).await?;
    browser.visit("templates/replicatedservice%3Av1.1").await?;
    browser
        .click("button", "What would this version change?")
        .await?;
    browser.shows("3 deployments use the template").await?;
    browser.fill("input[type=number]", "2").await?;
    browser.click("button", "Upgrade 3 deployments").await?;
    browser.shows("All are upgraded.").await?;
    let done = "return [...document.querySelectorAll('tbody .state.good')].length";
    assert_eq!(browser.run(done).await?, 3);
    let shown = "const { value, max } = document.querySelector('progress'); return [value, max]";
    assert_eq!(browser.run(shown).await?, serde_json::json!([3, 3]));
    browser.examine("rolled-out").await?;
    for name in ["one", "two", "three"] {
        let (_, found) = stack.get(&format!("/deployments/{name}")).await?;
        ensure!(found["revision"] == 2, "{found}");
    }
    browser.close().await
}
