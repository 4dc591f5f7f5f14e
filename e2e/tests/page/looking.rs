//! What runs where, and which resource waits for which.

use anyhow::{Result, ensure};
use e2e::Stack;
use serde_json::Value;

use crate::browser::Browser;

#[tokio::test]
async fn instances_are_shown_now_and_at_a_past_moment() -> Result<()> {
    let stack = Stack::start().await?;
    let before = jiff::Timestamp::now();
    stack
        .deploy(&["replicatedservice:v1", "--name", "web"])
        .await?;
    let browser = Browser::open(&stack.manager.url()).await?;
    browser.click("header a", "Instances").await?;
    browser.click("th a", "replicatedservice:v1").await?;
    browser.shows("1 shown").await?;
    browser.examine("instances").await?;
    browser.click("button", "Save as CSV").await?;
    browser.shows("1 are in the file.").await?;
    browser
        .visit(&format!("instances?type=Service&at={before}"))
        .await?;
    browser
        .shows("No instance of this type was deployed then")
        .await?;
    browser.close().await
}

#[tokio::test]
async fn the_graph_shows_each_resource_with_its_state_and_its_list() -> Result<()> {
    let stack = Stack::start().await?;
    let set = "replicas=2,config.greeting=hello";
    stack
        .deploy(&["replicatedservice:v1", "--name", "web", "--set", set])
        .await?;
    let browser = Browser::open(&stack.manager.url()).await?;
    browser.visit("deployments/web/graph").await?;
    browser.shows("As a list").await?;
    browser.shows("● ready").await?;
    browser.examine("graph").await?;
    let drawn = browser
        .run("return document.querySelectorAll('svg .node.good').length")
        .await?;
    assert_eq!(drawn, Value::from(3));
    browser.close().await
}

/// A configuration with a template beside it, which makes the object on its third line.
const SHOP: &str = "
resources:
- name: shop
  type: map.jinja
  properties: {size: 3}
";
const MAP: &str = "{% set name = env.name %}
resources:
- name: {{ name }}-map
  type: ConfigMap
  properties: {data: {size: '{{ properties.size }}'}}
";

#[tokio::test]
async fn an_object_leads_back_to_its_line_its_inputs_and_its_writer() -> Result<()> {
    let stack = Stack::start().await?;
    stack.write("map.jinja", MAP)?;
    stack.write(
        "shop.yaml",
        &format!("imports: [{{path: map.jinja}}]{SHOP}"),
    )?;
    stack.deploy(&["shop.yaml", "--name", "shop"]).await?;
    let why = ["layout", "shop", "--why", "ConfigMap/shop-map"];
    let said = stack.dm.ok(&why).await?;
    for expected in [
        "create by anonymous",
        "configuration:3",
        "map.jinja:3",
        "size: 3",
    ] {
        ensure!(said.contains(expected), "{expected} is not in\n{said}");
    }
    let browser = Browser::open(&stack.manager.url()).await?;
    browser
        .visit("deployments/shop?at=$.resources[0].resources[0]")
        .await?;
    browser.shows("Why it is here").await?;
    for expected in ["create by anonymous", "configuration:3", "map.jinja:3"] {
        browser.shows(expected).await?;
    }
    browser.click("summary", "inputs").await?;
    browser.shows("\"size\": 3").await?;
    browser.examine("why").await?;
    browser.close().await
}
