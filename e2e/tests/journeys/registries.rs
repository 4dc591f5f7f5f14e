//! Templates of registries: found, described, deployed. New versions: reported, compared, rolled out.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use e2e::{Repository, Stack};
use serde_json::{Value, json};

const SCHEMA: &str = "\
info: {title: A note, description: Keeps a colour.}
required: [colour]
properties:
  colour: {type: string, description: What to keep.}
  size: {type: integer, default: 1}
";
const EXAMPLE: &str = "\
# A note of our own.
resources:
- name: mine
  type: note:v1
  properties:
    colour: green
";

/// A config map that keeps what the version says, and the colour.
fn note(says: &str) -> String {
    format!(
        "resources:
- name: {{{{ env['deployment'] }}}}
  type: ConfigMap
  properties:
    data: {{says: {says}, colour: \"{{{{ properties.colour }}}}\"}}
"
    )
}

/// The same with the colour as a label, which not every colour can be.
fn labelled(says: &str) -> String {
    note(says) + "    metadata: {labels: {colour: \"{{ properties.colour }}\"}}\n"
}

/// A stack whose manager takes registries in the folder `registries`, and asks each of them anew each time.
async fn stack() -> Result<Stack> {
    let mut stack = Stack::start().await?;
    let folder = stack.folder().join("registries");
    std::fs::create_dir(&folder)?;
    let folder = folder.display().to_string();
    let more = ["--registry-folder", &folder, "--registry-refresh", "0s"];
    stack.manager.again_with(&more).await?;
    stack.ready().await?;
    Ok(stack)
}

/// The folder of a registry, which may be there already.
fn registry(stack: &Stack, name: &str) -> Result<PathBuf> {
    let folder = stack.folder().join("registries").join(name);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Adds a version of the template `note` to a registry's folder.
fn add(stack: &Stack, name: &str, version: &str, template: &str) -> Result<PathBuf> {
    let folder = registry(stack, name)?.join("note").join(version);
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("note.jinja"), template)?;
    std::fs::write(folder.join("note.jinja.schema"), SCHEMA)?;
    std::fs::write(folder.join("example.yaml"), EXAMPLE)?;
    Ok(folder)
}

/// Registers a folder of registries by its own name.
async fn register(stack: &Stack, name: &str, more: &[&str]) -> Result<()> {
    let folder = registry(stack, name)?.display().to_string();
    let args = [&["createregistry", name, &folder], more].concat();
    stack.dm.ok(&args).await?;
    Ok(())
}

/// A registry `shop` with `note:v1`.
async fn shop() -> Result<Stack> {
    let stack = stack().await?;
    add(&stack, "shop", "v1", &note("first"))?;
    register(&stack, "shop", &[]).await?;
    Ok(stack)
}

async fn deploy(stack: &Stack, reference: &str, name: &str, colour: &str) -> Result<()> {
    let colour = format!("colour={colour}");
    let args = [reference, "--name", name, "--properties", &colour];
    stack.deploy(&args).await?;
    Ok(())
}

/// What a deployment's config map says.
fn says(stack: &Stack, name: &str) -> Result<String> {
    let args = ["get", "configmap", name, "-o", "jsonpath={.data.says}"];
    let namespace = ["--namespace", &stack.namespace];
    stack.cluster.kubectl(&[&args[..], &namespace].concat())
}

/// Each object that tests could have made, with its resource version, which each write changes.
fn resource_versions(stack: &Stack) -> Result<BTreeMap<String, String>> {
    let objects = stack.cluster.objects(&stack.namespace, "configmaps")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let version = |object: &Value| {
        let metadata = &object["metadata"];
        (text(&metadata["name"]), text(&metadata["resourceVersion"]))
    };
    Ok(objects.iter().map(version).collect())
}

/// What is in the manager's store: the names of all entries – their values are sealed anew in each backup –, and the records
/// whose names stay when they are written.
async fn stored(stack: &Stack) -> Result<(Vec<String>, Value, Value)> {
    let file = stack.folder().join("backup");
    let path = file.display().to_string();
    stack.dm.ok(&["admin", "backup", &path]).await?;
    let mut entries = Vec::new();
    for line in std::fs::read_to_string(&file)?.lines() {
        if let Ok((entry, _)) = serde_json::from_str::<(String, String)>(line) {
            entries.push(entry);
        }
    }
    std::fs::remove_file(&file)?;
    ensure!(!entries.is_empty(), "an empty store");
    let (_, deployments) = stack.get("/deployments").await?;
    let (_, operations) = stack.get("/operations").await?;
    Ok((entries, deployments, operations))
}

/// `name outcome` of each item.
fn printed(document: &Value) -> Vec<String> {
    let items = document["items"].as_array().cloned().unwrap_or_default();
    let line = |item: &Value| {
        let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
        format!("{} {}", text("deployment"), text("outcome"))
    };
    items.iter().map(line).collect()
}

#[tokio::test]
async fn templates_of_a_folder_and_of_a_git_repository_are_found_described_and_deployed()
-> Result<()> {
    let stack = shop().await?;
    let code = stack.folder().join("code");
    std::fs::create_dir_all(code.join("db/note/v2"))?;
    std::fs::write(code.join("db/note/v2/note.jinja"), note("from git"))?;
    let repository = Repository::serve(&code).await?;
    let url = repository.url();
    stack.dm.ok(&["createregistry", "code", url]).await?;

    let registries = stack.dm.ok(&["registries"]).await?;
    for printed in ["default", "shop", "directory", "code", url] {
        assert!(
            registries.contains(printed),
            "{printed} is not in\n{registries}"
        );
    }
    let templates = stack.dm.json(&["templates"]).await?;
    for expected in [
        json!({"registry": "shop", "name": "note", "versions": ["v1"]}),
        json!({"registry": "code", "name": "db/note", "versions": ["v2"]}),
    ] {
        let items = templates["items"].as_array().context("no items")?;
        assert!(items.contains(&expected), "{templates}");
    }

    deploy(&stack, "shop/note:v1", "by-name", "red").await?;
    assert_eq!(says(&stack, "by-name")?, "first");
    let flag = ["note:v1", "--registry", "shop", "--name", "by-flag"];
    stack
        .deploy(&[&flag[..], &["--properties", "colour=red"]].concat())
        .await?;
    assert_eq!(says(&stack, "by-flag")?, "first");
    deploy(&stack, "code/db/note:v2", "from-git", "red").await?;
    assert_eq!(says(&stack, "from-git")?, "from git");
    Ok(())
}

#[tokio::test]
async fn the_example_of_a_description_can_be_copied_and_deployed() -> Result<()> {
    let stack = shop().await?;
    let shown = stack.dm.ok(&["describe", "shop/note:v1"]).await?;
    for printed in ["A note", "Keeps a colour.", "colour", "string", "required"] {
        assert!(shown.contains(printed), "{printed} is not in\n{shown}");
    }
    let (_, example) = shown.split_once("Example:\n\n").context("no example")?;
    stack.write("copied.yaml", example)?;
    stack.deploy(&["copied.yaml"]).await?;
    assert_eq!(says(&stack, "copied")?, "first");
    Ok(())
}

#[tokio::test]
async fn a_new_patch_is_told_of_by_an_update_and_not_taken_by_a_locked_one() -> Result<()> {
    let stack = stack().await?;
    let code = stack.folder().join("registries/code");
    add(&stack, "code", "v1", &note("first"))?;
    let repository = Repository::serve(&code).await?;
    let url = repository.url();
    stack.dm.ok(&["createregistry", "code", url]).await?;
    deploy(&stack, "code/note:v1", "a", "red").await?;

    add(&stack, "code", "v1.0.1", &note("patched"))?;
    add(&stack, "code", "v1.1", &note("another minor"))?;
    repository.commit()?;
    let update = [
        "update",
        "code/note:v1",
        "--name",
        "a",
        "--properties",
        "colour=blue",
    ];
    let locked = stack.dm.run(&[&update[..], &["--locked"]].concat()).await?;
    assert_eq!(locked.code, 0, "{}", locked.stderr);
    assert!(!locked.stderr.contains("is now"), "{}", locked.stderr);
    assert_eq!(says(&stack, "a")?, "first");

    let taken = stack.dm.run(&update).await?;
    assert_eq!(taken.code, 0, "{}", taken.stderr);
    let warning = "code/note:v1 is now v1.0.1 (was v1)";
    assert!(taken.stderr.contains(warning), "{}", taken.stderr);
    assert_eq!(says(&stack, "a")?, "patched");
    let manifest = stack.dm.json(&["manifest", "a"]).await?;
    let resolved = &manifest["resolvedTypes"][0];
    assert_eq!(resolved["version"], "v1.0.1", "{manifest}");
    let files = resolved["files"].as_array().context("no files")?;
    assert_eq!(files.len(), 2, "template and schema: {resolved}");
    for file in files {
        let sum = file["sha256"].as_str().unwrap_or_default();
        assert!(sum.starts_with("sha256:"), "{file}");
        let place = file["url"].as_str().unwrap_or_default();
        assert!(place.contains("note/v1.0.1/note.jinja"), "{file}");
    }
    Ok(())
}

#[tokio::test]
async fn a_what_if_shows_what_each_deployment_would_be_and_changes_nothing() -> Result<()> {
    let stack = shop().await?;
    for name in ["a", "b"] {
        deploy(&stack, "shop/note:v1", name, "red").await?;
    }
    add(&stack, "shop", "v1.1", &note("second"))?;
    deploy(&stack, "shop/note:v1.1", "new", "red").await?;
    let before = (resource_versions(&stack)?, stored(&stack).await?);

    let table = stack.dm.ok(&["whatif", "shop/note:v1.1"]).await?;
    let expected = "\
DEPLOYMENT  HAS   WHAT WOULD CHANGE
a           v1    1 changed
b           v1    1 changed
new         v1.1  nothing: it has this version
";
    assert_eq!(table, expected);
    let full = stack
        .dm
        .ok(&["whatif", "shop/note:v1.1", "--full", "--deployment", "a"])
        .await?;
    assert!(full.contains("\"first\" → \"second\""), "{full}");
    let document = stack.dm.json(&["whatif", "shop/note:v1.1"]).await?;
    assert_eq!(
        printed(&document),
        ["a CHANGED", "b CHANGED", "new CURRENT"]
    );
    add(&stack, "shop", "v1.2", "resources: [{{ 1 / 0 }}]")?;
    let whatif = ["whatif", "shop/note:v1.2", "-o", "json"];
    let fault = stack.dm.run(&whatif).await?.stdout;
    assert!(fault.contains("shop/note:v1.2"), "{fault}");
    let names_old = |item: &Value| item["error"].to_string().contains("shop/note:v1\\\"");
    let items: Value = serde_json::from_str(&fault)?;
    let items = items["items"].as_array().context("no items")?;
    assert!(!items.iter().any(names_old), "{fault}");

    assert_eq!(resource_versions(&stack)?, before.0);
    assert_eq!(stored(&stack).await?, before.1);
    Ok(())
}

#[tokio::test]
async fn an_upgrade_stops_on_a_failure_says_what_is_done_and_is_continued() -> Result<()> {
    let stack = shop().await?;
    for (name, colour) in [("a", "red"), ("b", "no label!"), ("c", "red"), ("d", "red")] {
        deploy(&stack, "shop/note:v1", name, colour).await?;
    }
    add(&stack, "shop", "v1.1", &labelled("second"))?;
    let upgrade = ["upgrade", "--template", "shop/note:v1.1", "--at-once", "1"];
    let document = [&upgrade[..], &["-o", "json"]].concat();
    let stopped = stack.dm.run(&document).await?;
    assert_eq!(stopped.code, 1, "{}", stopped.stderr);
    let rollout: Value = serde_json::from_str(&stopped.stdout)?;
    assert_eq!(
        printed(&rollout),
        ["a UPGRADED", "b FAILED", "c NOT_BEGUN", "d NOT_BEGUN"]
    );
    let reason = rollout["items"][1]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("no label!"), "{rollout}");
    for (name, expected) in [
        ("a", "second"),
        ("b", "first"),
        ("c", "first"),
        ("d", "first"),
    ] {
        assert_eq!(says(&stack, name)?, expected, "{name}");
    }

    // What failed is tried again, not taken for done because its manifest names the version.
    let again = stack.dm.run(&upgrade).await?;
    assert_eq!(again.code, 1, "{}", again.stdout);
    let lines: Vec<_> = again.stdout.lines().collect();
    let begins = |line: usize, with: &str| {
        let shown = lines.get(line).copied().unwrap_or_default();
        ensure!(shown.starts_with(with), "{with:?}: {}", again.stdout);
        Ok(())
    };
    begins(1, "a           has it already")?;
    begins(2, "b           FAILED")?;
    begins(3, "c           not begun")?;

    let correction = ["update", "shop/note:v1.1", "--name", "b"];
    stack
        .dm
        .ok(&[&correction[..], &["--properties", "colour=blue"]].concat())
        .await?;
    let rollout = stack
        .dm
        .json(&["upgrade", "--template", "shop/note:v1.1"])
        .await?;
    assert_eq!(
        printed(&rollout),
        ["a CURRENT", "b CURRENT", "c UPGRADED", "d UPGRADED"]
    );
    for name in ["a", "b", "c", "d"] {
        assert_eq!(says(&stack, name)?, "second", "{name}");
    }
    Ok(())
}

#[tokio::test]
async fn a_package_of_the_originals_form_is_deployed_as_it_is() -> Result<()> {
    let stack = stack().await?;
    let package = registry(&stack, "packages")?.join("pair");
    std::fs::create_dir_all(package.join("manifests"))?;
    std::fs::write(
        package.join("Chart.yaml"),
        "name: pair\nversion: 0.1.0\ndescription: Two maps.\n",
    )?;
    let map = |name: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{says: '{{{{ raw }}}}'}}\n"
        )
    };
    let both = format!("{}---\n{}", map("left"), map("right"));
    std::fs::write(package.join("manifests/maps.yaml"), both)?;
    register(&stack, "packages", &[]).await?;

    let templates = stack.dm.ok(&["templates", "packages"]).await?;
    assert!(templates.contains("v0.1.0"), "{templates}");
    stack
        .deploy(&["packages/pair:v0.1.0", "--name", "pair"])
        .await?;
    let there = ["kube-root-ca.crt", "left", "right"];
    assert_eq!(stack.names("configmaps")?, there);
    assert_eq!(says(&stack, "left")?, "{{ raw }}");
    stack.dm.ok(&["delete", "pair"]).await?;
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt"]);
    Ok(())
}

#[tokio::test]
async fn a_registry_that_requires_signatures_gives_no_unsigned_template() -> Result<()> {
    let stack = stack().await?;
    let version = add(&stack, "signed", "v1", &note("signed"))?;
    let key = minisign::KeyPair::generate_unencrypted_keypair()?;
    let public = stack.write("minisign.pub", &key.pk.to_box()?.to_string())?;
    let secret = stack.write("minisign.key", &key.sk.to_box(None)?.to_string())?;
    let public = public.display().to_string();
    register(&stack, "signed", &["--public-key", &public]).await?;

    let deploy_it = [
        "deploy",
        "signed/note:v1",
        "--properties",
        "colour=red",
        "--namespace",
        &stack.namespace,
    ];
    let error = stack.dm.fails(1, &deploy_it).await?;
    for printed in ["signed/note/v1", "not signed"] {
        assert!(error.contains(printed), "{printed} is not in\n{error}");
    }
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt"]);
    let (_, list) = stack.get("/deployments").await?;
    assert_eq!(list["items"], json!([]));

    let (version, secret) = (version.display().to_string(), secret.display().to_string());
    stack
        .dm
        .ok(&["package", &version, "--sign", &secret])
        .await?;
    stack.dm.ok(&deploy_it).await?;
    assert_eq!(says(&stack, "note")?, "signed");
    Ok(())
}

#[tokio::test]
async fn templates_that_contain_each_other_are_named_in_their_order() -> Result<()> {
    let stack = stack().await?;
    for (name, other) in [("ping", "pong"), ("pong", "ping")] {
        let folder = registry(&stack, "shop")?.join(name).join("v1");
        std::fs::create_dir_all(&folder)?;
        let template = format!("resources: [{{name: further, type: '{other}:v1'}}]\n");
        std::fs::write(folder.join(format!("{name}.jinja")), template)?;
    }
    register(&stack, "shop", &[]).await?;
    let error = stack.dm.fails(1, &["deploy", "shop/ping:v1"]).await?;
    let chain = "shop/ping:v1 > shop/pong:v1 > shop/ping:v1";
    assert!(error.contains(chain), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_registry_that_is_down_is_told_and_holds_up_no_other() -> Result<()> {
    let stack = shop().await?;
    let down = "git://127.0.0.1:1/gone";
    stack.dm.ok(&["createregistry", "down", down]).await?;
    let said = stack.dm.run(&["templates"]).await?;
    assert_eq!(said.code, 5, "{said:?}");
    for printed in ["shop", "note", "redis"] {
        assert!(
            said.stdout.contains(printed),
            "{printed} is not in\n{said:?}"
        );
    }
    assert!(said.stderr.contains("registry down"), "{said:?}");
    Ok(())
}

#[tokio::test]
async fn a_registry_is_asked_anew_on_request() -> Result<()> {
    let stack = stack().await?;
    add(&stack, "shop", "v1", &note("first"))?;
    let repository = Repository::serve(&registry(&stack, "shop")?).await?;
    let flags = ["--registry-refresh", "1h", "--allow-private-registries"].map(str::to_owned);
    let manager = stack.another_manager("patient", &flags).await?;
    let dm = stack.dm.at(manager.url());
    dm.ok(&["createregistry", "shop", repository.url()]).await?;
    let before = dm.ok(&["templates", "shop"]).await?;
    ensure!(!before.contains("v1.1"), "{before}");
    add(&stack, "shop", "v1.1", &note("second"))?;
    repository.commit()?;
    assert_eq!(dm.ok(&["templates", "shop"]).await?, before, "it is kept");
    let said = dm.ok(&["registries", "refresh", "shop"]).await?;
    ensure!(said.contains("shop"), "{said}");
    let after = dm.ok(&["templates", "shop"]).await?;
    ensure!(after.contains("v1.1"), "{after}");
    dm.ok(&["registries", "refresh"]).await?;
    let said = dm.fails(3, &["registries", "refresh", "shpo"]).await?;
    ensure!(said.contains("did you mean 'shop'?"), "{said}");
    Ok(())
}
