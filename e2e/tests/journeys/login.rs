//! `dm login` at a small issuer on loopback.

use anyhow::Result;
use e2e::{Dm, Issuer, Stack};

use crate::oidc::AUDIENCE;

async fn signed_in_with_a_browser(dm: &Dm, issuer: &Issuer) -> Result<String> {
    let url = issuer.url();
    let client = ["--issuer", &url, "--client-id", AUDIENCE];
    let mut login = dm.start(&[&["login", "--no-browser"][..], &client].concat())?;
    let address = login.says_after("Sign in here: ").await?;
    let browser = common::client::http::builder().no_proxy().build()?;
    browser.get(address).send().await?.error_for_status()?;
    Ok(login.ends().await?.stdout)
}

#[tokio::test]
async fn a_user_signs_in_with_a_browser_or_a_code_and_stays_signed_in_until_logout() -> Result<()> {
    let stack = Stack::guarded().await?;
    let issuer = Issuer::start().await?;
    let flags = [
        format!("--auth-oidc-issuer={}", issuer.url()),
        format!("--auth-oidc-audience={AUDIENCE}"),
        "--auth-oidc-username-prefix=id:".to_owned(),
        "--auth-rbac".to_owned(),
    ];
    let manager = stack.another_manager("login", &flags).await?;
    let dm = stack.dm.at(manager.url());
    dm.fails(1, &["whoami"]).await?;

    let said = signed_in_with_a_browser(&dm, &issuer).await?;
    assert!(said.contains("as dora"), "{said}");
    let known = dm.ok(&["whoami"]).await?;
    assert!(known.starts_with("id:dora"), "{known}");
    dm.ok(&["whoami"]).await?;
    assert_eq!(
        issuer.renewals(),
        1,
        "the token that ends soon is renewed once"
    );
    dm.ok(&["logout"]).await?;
    dm.fails(1, &["whoami"]).await?;

    let url = issuer.url();
    let device = [
        "login",
        "--device",
        "--issuer",
        &url,
        "--client-id",
        AUDIENCE,
    ];
    let said = dm.run(&device).await?;
    assert!(
        said.code == 0 && said.stderr.contains("ABCD-EFGH"),
        "{said:?}"
    );
    let known = dm.ok(&["whoami"]).await?;
    assert!(known.starts_with("id:dora"), "{known}");
    Ok(())
}
