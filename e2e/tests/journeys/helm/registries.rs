//! Charts of chart repositories and OCI registries: deployed, nested, updated, rolled back, deleted.

use anyhow::{Context as _, Result};
use common::registry::oci::{Client, Direct, Manifest};
use e2e::Stack;
use e2e::chart_repository::{ChartRepository, packed};
use e2e::hub::Hub;
use serde_json::{Value, json};

use super::{chart, data};

const NESTED: &str = "\
resources:
- name: settings
  type: ConfigMap
  properties:
    data: {greeting: \"{{ properties.greeting }}\"}
- name: {{ env['deployment'] }}-site
  type: helm:shop/web:~1.0
  properties:
    greeting: $(ref.settings.data.greeting)
    cache: {size: large}
";

/// A stack whose manager asks registries anew each time, and loopback addresses too.
pub async fn stack() -> Result<Stack> {
    let mut stack = Stack::start().await?;
    let more = ["--allow-private-registries", "--registry-refresh", "0s"];
    stack.manager.again_with(&more).await?;
    stack.ready().await?;
    Ok(stack)
}

/// A chart repository, registered as `shop`.
pub async fn shop(stack: &Stack) -> Result<ChartRepository> {
    let repository = ChartRepository::serve().await?;
    let register = [
        "createregistry",
        "shop",
        &repository.url(),
        "--type",
        "helm",
    ];
    stack.dm.ok(&register).await?;
    Ok(repository)
}

fn gone(stack: &Stack) -> Result<()> {
    let configs = stack.names("configmaps")?.into_iter();
    // Each namespace has this one.
    let left: Vec<_> = configs.filter(|name| name != "kube-root-ca.crt").collect();
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(stack.names("deployments")?, Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn a_chart_of_a_chart_repository_is_deployed_updated_rolled_back_and_deleted() -> Result<()> {
    let stack = stack().await?;
    let mut shop = shop(&stack).await?;
    let digest = shop.add("web", "1.0.0", &chart("1.0.0"))?;
    let first = [
        "helm:shop/web:1.0.0",
        "--name",
        "site",
        "--set",
        "greeting=Hi",
    ];
    stack.deploy(&first).await?;
    assert_eq!(data(&stack, "site-web", "greeting")?, "Hi");
    assert_eq!(data(&stack, "site-cache", "size")?, "small");
    let manifest = stack.dm.json(&["manifest", "site"]).await?;
    let resolved = &manifest["resolvedTypes"][0];
    assert_eq!(resolved["version"], "1.0.0", "{resolved}");
    let file = &resolved["files"][0];
    assert_eq!(file["sha256"], format!("sha256:{digest}"), "{resolved}");
    assert_eq!(file["url"], format!("{}/web-1.0.0.tgz", shop.url()));
    shop.add("web", "1.1.0", &chart("1.1.0"))?;
    let more = ["--repo", &shop.url(), "--version", "^1.1", "--name", "site"];
    let update = [
        &["update", "web"],
        &more[..],
        &["--set-string", "greeting=1.10"],
    ]
    .concat();
    stack.dm.ok(&update).await?;
    assert_eq!(data(&stack, "site-web", "greeting")?, "1.10");
    assert_eq!(data(&stack, "site-web", "chart")?, "1.1.0");
    stack.dm.ok(&["rollback", "site", "1"]).await?;
    assert_eq!(data(&stack, "site-web", "greeting")?, "Hi");
    assert_eq!(data(&stack, "site-web", "chart")?, "1.0.0");
    stack.dm.ok(&["delete", "site"]).await?;
    gone(&stack)
}

#[tokio::test]
async fn a_chart_in_a_template_takes_a_value_of_another_resource() -> Result<()> {
    let stack = stack().await?;
    let mut shop = shop(&stack).await?;
    shop.add("web", "1.0.0", &chart("1.0.0"))?;
    shop.add("web", "1.0.1", &chart("1.0.1"))?;
    let template = stack.write("nested.jinja", NESTED)?;
    let template = template.to_str().context("a path that is not text")?;
    stack
        .deploy(&[template, "--name", "all", "--set", "greeting=Moin"])
        .await?;
    assert_eq!(data(&stack, "all-site-web", "greeting")?, "Moin");
    assert_eq!(data(&stack, "all-site-web", "chart")?, "1.0.1");
    assert_eq!(data(&stack, "all-site-cache", "size")?, "large");
    stack
        .dm
        .ok(&["update", "all", "--set", "greeting=Servus"])
        .await?;
    assert_eq!(data(&stack, "all-site-web", "greeting")?, "Servus");
    let layout = stack.dm.json(&["layout", "all"]).await?.to_string();
    assert!(
        layout.contains("web/charts/cache/templates/config.yaml"),
        "{layout}"
    );
    stack.dm.ok(&["delete", "all"]).await?;
    gone(&stack)
}

/// As `helm push` does. Returns the reference of the pushed version.
pub async fn push(
    hub: &Hub,
    (name, version): (&str, &str),
    files: &[(String, String)],
) -> Result<String> {
    let place = hub.url("");
    let host = place
        .trim_start_matches("oci+http://")
        .trim_end_matches('/');
    let client = Client::new(Direct::new(None)?, format!("http://{host}/").parse()?);
    let (metadata, archive) = (json!({"name": name}).to_string(), packed(name, files)?);
    let repository = format!("org/{name}");
    for content in [metadata.as_bytes(), &archive] {
        client.push_blob(&repository, content).await?;
    }
    let manifest = Manifest::of_chart(metadata.as_bytes(), &archive);
    client
        .push_manifest(&repository, version, &manifest)
        .await?;
    Ok(format!("oci://{host}/{repository}:{version}"))
}

#[tokio::test]
async fn a_chart_of_an_oci_registry_is_deployed_as_it_stands() -> Result<()> {
    let stack = stack().await?;
    let hub = Hub::start()?;
    let chart = push(&hub, ("web", "1.2.3"), &chart("1.2.3")).await?;
    stack.write("values.yaml", "greeting: Hi\nreplicas: 2\n")?;
    stack.write("more.yaml", "cache: {size: large}\n")?;
    let files = ["--properties-file", "values.yaml", "--values", "more.yaml"];
    let deploy = [&[chart.as_str(), "--name", "x"], &files[..]].concat();
    stack.deploy(&deploy).await?;
    assert_eq!(data(&stack, "x-web", "greeting")?, "Hi");
    assert_eq!(data(&stack, "x-cache", "size")?, "large");
    assert_eq!(stack.ready_pods()?, 2);
    let described: Value = stack.dm.json(&["describe", &chart]).await?;
    let replicas = &described["schema"]["properties"]["replicas"];
    assert_eq!(replicas["default"], 1, "{described}");
    assert_eq!(replicas["minimum"], 1, "{described}");
    let refused = stack
        .dm
        .fails(1, &["update", &chart, "--name", "x", "--set", "replicas=0"])
        .await?;
    assert!(refused.contains("minimum"), "{refused}");
    stack.dm.ok(&["delete", "x"]).await?;
    gone(&stack)
}

#[tokio::test]
async fn a_version_that_is_not_there_is_answered_with_those_that_are() -> Result<()> {
    let stack = stack().await?;
    let mut shop = shop(&stack).await?;
    shop.add("web", "1.0.0", &chart("1.0.0"))?;
    for (chart, says) in [
        ("helm:shop/web:2.0.0", "its versions are 1.0.0"),
        ("helm:shop/other:1.0.0", "its templates are web"),
    ] {
        let said = stack
            .dm
            .fails(3, &["deploy", chart, "--name", "site"])
            .await?;
        assert!(said.contains(says), "{said}");
    }
    stack
        .deploy(&["helm:shop/web:1.0.0", "--name", "site"])
        .await?;
    stack.dm.ok(&["delete", "site"]).await?;
    Ok(())
}
