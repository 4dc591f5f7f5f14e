//! A manager that wants to know its callers.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, Result};
use e2e::{Loopback, Stack};
use tokio::net::TcpStream;

use crate::browser::Browser;
use crate::issuer::{AUDIENCE, Issuer};

#[tokio::test]
async fn a_token_becomes_a_session_that_lasts_and_ends() -> Result<()> {
    let mut stack = Stack::guarded().await?;
    let user = stack.user("ana")?;
    let browser = Browser::open(&stack.manager.url()).await?;

    browser.shows("Paste a token").await?;
    browser.examine("sign-in").await?;
    browser.fill("input[name=token]", "wrong").await?;
    browser.click("button", "Sign in").await?;
    browser.shows("UNAUTHENTICATED").await?;
    browser.examine("sign-in-refused").await?;
    browser.fill("input[name=token]", &user.token).await?;
    browser.click("button", "Sign in").await?;
    browser
        .shows("There are no deployments that you may see")
        .await?;
    let kept = browser
        .run("return localStorage.length + document.cookie.length")
        .await?;
    assert_eq!(kept, 0, "no script can read what signs the browser in");
    browser.visit("deployments").await?;
    browser
        .shows("There are no deployments that you may see")
        .await?;
    browser.shows(&user.full_name()).await?;

    // A session that ends by itself takes nothing with it that was typed. A restart of the manager ends all of them.
    browser.visit("deploy").await?;
    browser.fill("input[name=name]", "half-typed").await?;
    stack.manager.stop().await?;
    stack.manager.again().await?;
    browser
        .fill("input[name=namespace]", &stack.namespace)
        .await?;
    browser.shows("Your session has ended").await?;
    browser.examine("session-ended").await?;
    browser.fill("input[name=token]", &user.token).await?;
    browser.click("button", "Sign in").await?;
    browser.hides("Your session has ended").await?;
    let typed = "return document.querySelector('input[name=name]').value";
    assert_eq!(browser.run(typed).await?, "half-typed");

    browser.click("button", "Sign out").await?;
    browser.shows("Paste a token").await?;
    let typed = "return document.querySelector('input[name=name]').value";
    assert_ne!(
        browser.run(typed).await?,
        "half-typed",
        "it is not for the next person"
    );
    browser.visit("deployments").await?;
    browser.shows("Paste a token").await?;
    browser.close().await
}

/// An address that is known before the manager listens, and leads to it.
async fn doorway(manager: Arc<OnceLock<SocketAddr>>) -> Result<Loopback> {
    Loopback::serve(move |mut client| {
        let manager = manager.clone();
        async move {
            let address = *manager.get().context("the manager does not listen yet")?;
            let mut server = TcpStream::connect(address).await?;
            tokio::io::copy_bidirectional(&mut client, &mut server).await?;
            Ok(())
        }
    })
    .await
}

#[tokio::test]
async fn an_issuer_signs_people_in_and_brings_them_back_to_their_view() -> Result<()> {
    let stack = Stack::guarded().await?;
    let issuer = Issuer::start().await?;
    let manager = Arc::new(OnceLock::new());
    let door = doorway(manager.clone()).await?;
    let public = format!("http://{}", door.address());
    let flags = [
        ("--auth-oidc-issuer", issuer.url()),
        ("--auth-oidc-audience", AUDIENCE.to_owned()),
        ("--public-url", public.clone()),
    ];
    let flags = flags
        .into_iter()
        .map(|(flag, value)| format!("{flag}={value}"));
    let flags: Vec<_> = flags.chain(["--auth-rbac".to_owned()]).collect();
    let service = stack.another_manager("oidc", &flags).await?;
    let own = service.url();
    let own = own.trim_start_matches("http://").trim_end_matches('/');
    manager.get_or_init(|| own.parse().unwrap_or_else(|_| ([127, 0, 0, 1], 1).into()));
    let browser = Browser::open(&public).await?;

    browser.visit("instances?type=Service").await?;
    browser.shows("Sign in with your organization").await?;
    browser.examine("sign-in-issuer").await?;
    browser.click("a", "Sign in with your organization").await?;
    browser.shows("Instances of Service").await?;
    browser.shows("Sign out").await?;
    browser.examine("signed-in-issuer").await?;
    // Another browser's answer signs nobody in.
    browser
        .visit("session/callback?code=code-of-the-test&state=foreign")
        .await?;
    browser.shows("Signing in did not succeed").await?;
    browser.examine("sign-in-failed").await?;
    browser.close().await
}
