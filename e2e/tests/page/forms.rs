//! Deploys and updates by forms.

use anyhow::{Result, ensure};
use e2e::Stack;

use crate::browser::Browser;

#[tokio::test]
async fn a_template_is_found_deployed_and_updated_by_its_form() -> Result<()> {
    let stack = Stack::start().await?;
    let browser = Browser::open(&stack.manager.url()).await?;
    browser.click("header a", "Templates").await?;
    browser.shows("replicatedservice").await?;
    browser.examine("templates").await?;
    browser.click("th a", "replicatedservice").await?;
    browser.shows("How many pods.").await?;
    browser.examine("template").await?;
    browser.click("main a", "Deploy").await?;

    browser.fill("input[name=name]", "web").await?;
    browser
        .fill("input[name=namespace]", &stack.namespace)
        .await?;
    browser.fill("[id='field-replicas']", "many").await?;
    browser.shows("is not of type").await?;
    browser.examine("form-fault").await?;
    browser.fill("[id='field-replicas']", "2").await?;
    browser.shows("The configuration is valid.").await?;
    browser.click("button", "YAML").await?;
    let yaml = "return document.querySelector('.editor')?.shadowRoot?.textContent.includes('replicas: 2') ?? false";
    e2e::until(
        "the YAML beside the form",
        crate::browser::PATIENCE,
        || async {
            ensure!(browser.run(yaml).await? == true);
            Ok(())
        },
    )
    .await?;
    browser.examine("form").await?;
    browser.click("button", "Preview").await?;
    browser.shows("Changes of web").await?;
    browser.click("button", "Commit…").await?;
    browser.click("form button", "Commit").await?;
    browser.shows("● done").await?;
    assert_eq!(stack.ready_pods()?, 2);

    browser.visit("deployments/web/update").await?;
    browser.fill("[id='field-replicas']", "3").await?;
    browser.shows("The configuration is valid.").await?;
    browser.click("button", "Preview").await?;
    browser.shows("spec.replicas").await?;
    browser.click("button", "Commit…").await?;
    browser.click("form button", "Commit").await?;
    browser.shows("update web").await?;
    browser.shows("● done").await?;
    assert_eq!(stack.ready_pods()?, 3);
    browser.close().await
}
