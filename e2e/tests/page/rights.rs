//! A caller who may look and not write: each button for a write is there, does nothing, and says why.

use anyhow::{Result, ensure};
use e2e::Stack;

use crate::browser::Browser;

const LOOK: (&str, &str, &[&str]) = ("deploymentmanager", "deployments", &["get", "list"]);
/// Of what the cluster's role `edit` allows, what an installation adds to it.
const EDIT: (&str, &str, &[&str]) = ("deploymentmanager", "deployments", &["create"]);

/// The buttons whose text begins so: whether each is disabled, and the reason beside it.
fn buttons(text: &str) -> String {
    format!(
        "return [...document.querySelectorAll('main button')].filter((button) => button.textContent.startsWith('{text}')).map((button) => \
            [button.disabled, document.getElementById(button.getAttribute('aria-describedby'))?.textContent ?? ''])"
    )
}

/// There are such buttons, and none of them does anything.
async fn refused(browser: &Browser, text: &str, permission: &str) -> Result<()> {
    let found = browser.run(&buttons(text)).await?;
    let found = found.as_array().map(Vec::as_slice).unwrap_or_default();
    ensure!(!found.is_empty(), "there is no button '{text}'");
    for button in found {
        let reason = button[1].as_str().unwrap_or_default();
        ensure!(
            button[0] == true && reason.contains(permission),
            "{text}: {button}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn what_a_caller_may_not_do_is_shown_disabled_with_the_reason() -> Result<()> {
    let stack = Stack::guarded().await?;
    let (ada, vera) = (stack.user("ada")?, stack.user("vera")?);
    ada.bind("edit", EDIT).await?;
    vera.grant("look", &[LOOK]).await?;
    let web = [
        "deploy",
        "replicatedservice:v1",
        "--name",
        "web",
        "--namespace",
    ];
    ada.dm
        .ok(&[&web[..], &[stack.namespace.as_str()]].concat())
        .await?;
    ada.dm.ok(&["update", "web", "--set", "replicas=2"]).await?;
    let browser = Browser::open(&stack.manager.url()).await?;
    browser.fill("input[name=token]", &vera.token).await?;
    browser.click("button", "Sign in").await?;
    browser.shows("Deployed").await?;
    browser.examine("signed-in").await?;

    browser.visit("deployments/web/changes").await?;
    browser.shows("2 kept").await?;
    refused(&browser, "Roll back", "may not update deployments 'web'").await?;
    refused(&browser, "Delete", "may not delete deployments 'web'").await?;
    browser.visit("deployments/web/update").await?;
    browser.shows("may not update deployments 'web'").await?;
    refused(&browser, "Preview", "may not update").await?;
    refused(&browser, "Update", "may not update").await?;
    browser.examine("update-refused").await?;
    browser
        .visit("deploy?template=replicatedservice%3Av1")
        .await?;
    browser
        .fill("input[name=namespace]", &stack.namespace)
        .await?;
    browser
        .shows(&format!(
            "may not create deployments in namespace '{}'",
            stack.namespace
        ))
        .await?;
    refused(&browser, "Preview", "may not create").await?;
    refused(&browser, "Deploy", "may not create").await?;
    browser.examine("deploy-refused").await?;
    browser.visit("templates/replicatedservice%3Av1.1").await?;
    browser
        .click("button", "What would this version change?")
        .await?;
    browser.shows("1 deployments use the template").await?;
    refused(&browser, "Upgrade", "may not update deployments 'web'").await?;
    browser.examine("what-if-refused").await?;
    browser.close().await
}
