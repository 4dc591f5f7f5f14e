//! Texts of others in every field: the page shows them, and nothing in them runs.

use anyhow::{Result, ensure};
use e2e::Stack;
use reqwest::Method;
use serde_json::json;

use crate::browser::Browser;

const MARKUP: &str = "<img src=x onerror=alert(1)><script>alert(2)</script>";
/// Turns the direction of the text after it, so that it reads as another text.
const REVERSED: &str = "a\u{202e}b";

#[tokio::test]
async fn hostile_texts_are_shown_and_never_run() -> Result<()> {
    let stack = Stack::start().await?;
    let content = json!({"resources": [
        {"name": MARKUP, "type": "ConfigMap", "properties": {"metadata": {"name": "own"}, "data": {"text": MARKUP}}},
    ], "outputs": [{"name": MARKUP, "value": REVERSED}]});
    let body = json!({
        "name": "hostile", "namespace": stack.namespace, "content": content.to_string(),
        "description": MARKUP, "labels": {"note": MARKUP},
    });
    let (status, answer) = stack
        .request(Method::POST, "/deployments", Some(&body))
        .await?;
    ensure!(status == 201, "{answer}");
    let browser = Browser::open(&stack.manager.url()).await?;

    browser.shows(MARKUP).await?;
    browser.click("th a", "hostile").await?;
    browser.shows("a‹U+202E›b").await?;
    browser.click("[role=treeitem]", "ConfigMap").await?;
    browser.shows("Properties as applied").await?;
    browser.examine("hostile").await?;
    for (view, text) in [
        ("graph", MARKUP),
        ("changes", "Manifests"),
        ("update", MARKUP),
    ] {
        browser
            .visit(&format!("deployments/hostile/{view}"))
            .await?;
        browser.shows(text).await?;
    }
    browser.visit("instances?type=ConfigMap").await?;
    browser.shows(MARKUP).await?;
    browser
        .visit("deployments/%3Cimg%20src=x%20onerror=alert(1)%3E")
        .await?;
    browser.shows("Try again").await?;
    browser.visit("?labelSelector=%3Cscript%3E").await?;
    browser.shows("No deployment fits the filters").await?;
    let made = browser
        .run("return document.querySelectorAll('main img, main script').length")
        .await?;
    assert_eq!(made, 0);
    browser.close().await
}
