//! The views that no journey passes: each holds what every view must hold.

use anyhow::Result;
use e2e::Stack;

use crate::browser::Browser;

/// An address, what it shows, and the name of its picture.
const VIEWS: [(&str, &str, &str); 8] = [
    ("deployments/web/events", "starts (simulated)", "events"),
    ("deployments/web/changes", "2 kept", "history"),
    ("deploy", "Write a configuration", "deploy"),
    ("instances", "types are in use now", "types"),
    (
        "instances?type=all&at=2020-01-01T00:00:00Z",
        "was deployed then",
        "past",
    ),
    ("registries/default", "replicatedservice", "registry"),
    ("nowhere", "There is no such view", "unknown"),
    ("deployments/none", "Try again", "missing"),
];

#[tokio::test]
async fn every_other_view_is_readable_in_all_sizes_and_themes() -> Result<()> {
    let stack = Stack::start().await?;
    let set = "replicas=2,config.greeting=hello";
    stack
        .deploy(&["replicatedservice:v1", "--name", "web", "--set", set])
        .await?;
    stack
        .dm
        .ok(&["update", "web", "--set", "replicas=1"])
        .await?;
    let browser = Browser::open(&stack.manager.url()).await?;
    for (address, text, view) in VIEWS {
        browser.visit(address).await?;
        browser.shows(text).await?;
        browser.examine(view).await?;
    }
    browser.visit("templates/replicatedservice%3Av1").await?;
    browser
        .click("button", "What would this version change?")
        .await?;
    browser.shows("deployments use the template").await?;
    browser.examine("what-if").await?;
    browser.press("body", "?").await?;
    browser.shows("goes to the search field").await?;
    browser.examine("keys").await?;
    browser.close().await
}
