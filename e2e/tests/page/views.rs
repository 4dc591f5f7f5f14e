//! What people do with the page.

use anyhow::{Result, ensure};
use e2e::Stack;
use serde_json::Value;
use thirtyfour::prelude::*;

use crate::browser::Browser;

async fn deploy_web(stack: &Stack) -> Result<String> {
    let properties = "replicas=3,config.greeting=hello";
    let args = ["replicatedservice:v1", "--name", "web", "--set", properties];
    stack.deploy(&args).await
}

#[tokio::test]
async fn a_deployment_is_found_and_shown_down_to_its_objects() -> Result<()> {
    let stack = Stack::start().await?;
    deploy_web(&stack).await?;
    let browser = Browser::open(&stack.manager.url()).await?;

    browser.shows("Deployed").await?;
    browser.examine("deployments").await?;
    browser.fill("input[name=q]", "nothing").await?;
    browser.shows("No deployment fits the filters").await?;
    browser.fill("input[name=q]", "WE").await?;
    browser.click("th a", "web").await?;

    browser.shows("4 of 4 shown").await?;
    browser.shows("config").await?;
    browser.click("[role=treeitem]", "web-deployment").await?;
    browser.shows("Is applied after").await?;
    let namespace = &stack.namespace;
    browser
        .shows(&format!("apps/v1 Deployment {namespace}/web"))
        .await?;
    browser.shows("replicatedservice.py").await?;
    browser.shows("\"replicas\": 3").await?;
    browser.examine("deployment").await?;
    browser.click("button.close", "").await?;

    browser.click("tbody a", "create").await?;
    browser.shows("By anonymous").await?;
    browser.examine("operation").await?;
    browser.close().await
}

#[tokio::test]
async fn the_tree_is_used_without_a_mouse() -> Result<()> {
    let stack = Stack::start().await?;
    deploy_web(&stack).await?;
    let browser = Browser::open(&stack.manager.url()).await?;
    browser.visit("deployments/web").await?;
    browser.shows("4 of 4 shown").await?;
    let tree = "[role=tree]";
    let selected = async || -> Result<Value> {
        browser
            .run("return document.querySelector('[aria-selected=true] .name')?.textContent")
            .await
    };

    browser.press(tree, Key::Down).await?;
    browser.shows("Why it is here").await?;
    assert_eq!(selected().await?, "web-service");
    browser.press(tree, Key::End).await?;
    browser.shows("\"greeting\": \"hello\"").await?;
    browser.press(tree, Key::Left).await?;
    browser.shows("Inputs").await?;
    assert_eq!(selected().await?, "web");
    browser.press(tree, Key::Left).await?;
    browser.shows("1 of 4 shown").await?;
    browser.press(tree, Key::Right).await?;
    browser.shows("4 of 4 shown").await?;
    browser.close().await
}

/// A resource that waits for a field that nobody writes.
const WAITING: &str = "
resources:
- {name: source, type: ConfigMap, properties: {data: {a: b}}}
- {name: copy, type: ConfigMap, properties: {data: {late: $(ref.source.data.late)}}}
";

#[tokio::test]
async fn an_operation_is_shown_while_it_runs_and_can_be_stopped() -> Result<()> {
    let stack = Stack::start().await?;
    stack.write("waiting.yaml", WAITING)?;
    let browser = Browser::open(&stack.manager.url()).await?;
    browser.shows("There are no deployments").await?;
    stack
        .deploy(&["waiting.yaml", "--name", "late", "--async"])
        .await?;

    browser.click("th a", "late").await?;
    browser.click("dd a", "open").await?;
    browser.shows("● live").await?;
    browser.shows("source.data.late").await?;
    browser.examine("operation-live").await?;
    browser.click("button", "Stop…").await?;
    browser.click("button", "Stop it").await?;
    browser.shows("✖ failed").await?;
    let (status, deployment) = stack.get("/deployments/late").await?;
    ensure!(status == 200, "{deployment}");
    assert_eq!(deployment["state"]["status"], "Failed");
    browser.close().await
}
