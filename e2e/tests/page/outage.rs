//! Services that go away and return.

use anyhow::Result;
use e2e::Stack;

use crate::browser::Browser;

#[tokio::test]
async fn a_lost_manager_is_named_and_its_return_is_noticed() -> Result<()> {
    let mut stack = Stack::start().await?;
    stack
        .deploy(&["replicatedservice:v1", "--name", "web"])
        .await?;
    let browser = Browser::open(&stack.manager.url()).await?;
    browser.shows("Deployed").await?;

    stack.manager.stop().await?;
    browser.shows("The manager does not answer").await?;
    browser.shows("Below is what was loaded before").await?;
    browser.examine("without-manager").await?;
    stack.manager.again().await?;
    browser.hides("The manager does not answer").await?;
    browser.shows("web").await?;
    browser.close().await
}
