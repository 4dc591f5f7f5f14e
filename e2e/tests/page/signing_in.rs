//! A manager that wants to know its callers.

use anyhow::Result;
use e2e::Stack;

use crate::browser::Browser;

#[tokio::test]
async fn a_token_signs_in_and_shows_what_its_owner_may_see() -> Result<()> {
    let stack = Stack::guarded().await?;
    let user = stack.user("ana")?;
    let browser = Browser::open(&stack.manager.url()).await?;

    browser.shows("Paste a token").await?;
    browser.examine("sign-in").await?;
    browser.fill("input[name=token]", "wrong").await?;
    browser.click("button", "Sign in").await?;
    browser.shows("UNAUTHENTICATED").await?;
    browser.fill("input[name=token]", &user.token).await?;
    browser.click("button", "Sign in").await?;
    browser
        .shows("There are no deployments that you may see")
        .await?;
    let kept = browser
        .run("return localStorage.length + document.cookie.length")
        .await?;
    assert_eq!(kept, 0, "the token is in the memory of the tab only");
    browser.close().await
}
