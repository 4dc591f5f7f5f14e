//! Deploys and updates by forms.

use anyhow::{Result, ensure};
use e2e::{Stack, until};

use crate::browser::{Browser, PATIENCE};

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
    until("the YAML beside the form", PATIENCE, || async {
        ensure!(browser.run(yaml).await? == true);
        Ok(())
    })
    .await?;
    browser.examine("form").await?;
    // The text is read as the form is, and a fault of it stands at its field and at its line.
    browser.rewrite(&configuration("4")).await?;
    until("the form to follow the text", PATIENCE, || async {
        let value = "return document.getElementById('field-replicas').value";
        ensure!(browser.run(value).await? == "4");
        Ok(())
    })
    .await?;
    browser.rewrite(&configuration("many")).await?;
    browser.shows("is not of type").await?;
    let marked = "return document.querySelector('.editor').shadowRoot.querySelectorAll('.cm-lint-marker-error').length";
    assert_eq!(browser.run(marked).await?, 1);
    browser.examine("text-fault").await?;
    browser.fill("[id='field-replicas']", "2").await?;
    browser.shows("The configuration is valid.").await?;
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

/// A configuration on one line, as somebody types it.
fn configuration(replicas: &str) -> String {
    format!(
        "resources: [{{name: web, type: 'replicatedservice:v1', properties: {{replicas: {replicas}}}}}]"
    )
}

const SECRET: &str = "firstPa55phrase";
const TEMPLATE: &str = "resources:
- name: {{ env.deployment }}-key
  type: Secret
  properties: {stringData: {password: {{ properties.password }}, size: '{{ properties.size }}'}}
";
const SCHEMA: &str = "properties:
  password: {type: string, writeOnly: true, pattern: '^[a-zA-Z0-9]+$'}
  size: {type: integer, default: 1}
required: [password]
";

/// The data of the only Secret.
fn data(stack: &Stack) -> Result<(String, String)> {
    let secrets = stack.cluster.objects(&stack.namespace, "secrets")?;
    let of = |key: &str| {
        secrets[0]["data"][key]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    Ok((of("password"), of("size")))
}

#[tokio::test]
async fn a_secret_that_is_not_touched_keeps_its_value_and_another_replaces_it() -> Result<()> {
    let stack = Stack::telling_all().await?;
    stack.write("shop/app/v1.0.0/app.jinja", TEMPLATE)?;
    stack.write("shop/app/v1.0.0/app.jinja.schema", SCHEMA)?;
    let shop = stack.folder().join("shop").display().to_string();
    let create = ["createregistry", "shop", &shop, "--type", "directory"];
    stack.dm.ok(&create).await?;
    let properties = format!("password={SECRET}");
    let app = ["shop/app:v1.0.0", "--name", "app", "--set", &properties];
    stack.deploy(&app).await?;
    let (password, _) = data(&stack)?;
    let browser = Browser::open(&stack.manager.url()).await?;
    let commit = async || -> Result<()> {
        browser.shows("The configuration is valid.").await?;
        browser.click("button", "Preview").await?;
        browser.click("button", "Commit…").await?;
        browser.click("form button", "Commit").await?;
        browser.shows("update app").await?;
        browser.shows("● done").await
    };

    browser.visit("deployments/app/update?yaml=1").await?;
    let mask = "return document.querySelector('.editor')?.shadowRoot?.textContent.includes('password: (redacted)') ?? false";
    until("the mask in the YAML", PATIENCE, || async {
        ensure!(browser.run(mask).await? == true);
        Ok(())
    })
    .await?;
    browser.fill("[id='field-size']", "2").await?;
    browser.examine("update").await?;
    commit().await?;
    // 2, in Base64.
    assert_eq!(data(&stack)?, (password.clone(), "Mg==".to_owned()));

    browser.visit("deployments/app/update").await?;
    browser.fill("[id='field-password']", "wr#ng").await?;
    browser.shows("does not match").await?;
    browser.fill("[id='field-password']", "second").await?;
    commit().await?;
    let (second, size) = data(&stack)?;
    ensure!(second != password && size == "Mg==", "{second} {size}");
    browser.close().await
}
