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

/// Answers for the logs of containers, because simulated ones choose no text. It runs before the page's own scripts.
const LOGS: &str = r#"
    const ask = window.fetch;
    const line = JSON.stringify({resource: 'web', pod: '<b>pod</b>', container: 'main', text: '<img src=x onerror=alert(1)>\u001b[31mred\u202e'});
    const notice = JSON.stringify({message: '<script>alert(3)</script>'});
    const text = `event: line\ndata: ${line}\n\nevent: notice\ndata: ${notice}\n\n`;
    window.fetch = (address, options) =>
        String(address).includes('/logs') ? Promise.resolve(new Response(text)) : ask(address, options);"#;

/// An event that somebody wrote about the deployment's object.
fn event(namespace: &str) -> String {
    json!({
        "apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": MARKUP, "message": format!("{MARKUP}{REVERSED}"),
        "metadata": {"name": "hostile", "namespace": namespace}, "count": 2,
        "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z",
        "involvedObject": {"apiVersion": "v1", "kind": "ConfigMap", "name": "noted", "namespace": namespace},
    })
    .to_string()
}

#[tokio::test]
async fn hostile_errors_events_and_logs_are_shown_and_never_run() -> Result<()> {
    let stack = Stack::start().await?;
    // The API server refuses the second one, and quotes the label.
    for (name, label) in [("noted", "harmless"), ("refused", MARKUP)] {
        let properties = json!({"metadata": {"name": name, "labels": {"note": label}}});
        let map = json!({"name": "own", "type": "ConfigMap", "properties": properties});
        let content = json!({"resources": [map]}).to_string();
        let body = json!({"name": name, "namespace": stack.namespace, "content": content});
        let (status, answer) = stack
            .request(Method::POST, "/deployments", Some(&body))
            .await?;
        ensure!(
            status.is_success() == (name == "noted"),
            "{status} {answer}"
        );
    }
    stack.cluster.apply(&event(&stack.namespace))?;
    let browser = Browser::open(&stack.manager.url()).await?;

    browser.click("th a", "refused").await?;
    browser.shows(MARKUP).await?;
    browser.click("dd a", "open").await?;
    browser.shows("✖ failed").await?;
    browser.shows(MARKUP).await?;
    browser.examine("hostile-error").await?;
    browser.before_each_document(LOGS).await?;
    browser.visit("deployments/noted/events").await?;
    browser.shows(&format!("{MARKUP}a‹U+202E›b")).await?;
    browser
        .shows("<b>pod</b>/main <img src=x onerror=alert(1)>‹U+001B›[31mred‹U+202E›")
        .await?;
    browser.shows("<script>alert(3)</script>").await?;
    browser.examine("hostile-events").await?;
    let made = browser
        .run("return document.querySelectorAll('main img, main script, main b').length")
        .await?;
    assert_eq!(made, 0);
    browser.close().await
}
