//! Permissions: a caller cannot do more through the system than without it, in any tested way.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use e2e::{Stack, User, until};
use reqwest::Method;
use serde_json::{Value, json};

use crate::configurations::{maps, pods};

const SOON: Duration = Duration::from_secs(30);
const DEPLOYMENTS: (&str, &str, &[&str]) = (
    "deploymentmanager",
    "deployments",
    &["get", "list", "create", "update", "delete"],
);
const MAPS: (&str, &str, &[&str]) = ("", "configmaps", &["get", "create", "patch", "delete"]);
const PODS: (&str, &str, &[&str]) = ("", "pods", &["get", "create", "patch", "delete"]);
const LOOK_AT_APPS: (&str, &str, &[&str]) = ("apps", "deployments", &["get"]);
const APPS: (&str, &str, &[&str]) = ("apps", "deployments", &["create", "patch", "delete"]);
/// Of what the cluster's role `edit` allows, what `dm install` adds to it.
const EDIT: (&str, &str, &[&str]) = ("deploymentmanager", "deployments", &["create"]);

/// May edit everything in the namespace, by the cluster's own role.
pub async fn ada(stack: &Stack) -> Result<User> {
    let ada = stack.user("ada")?;
    ada.bind("edit", EDIT).await?;
    Ok(ada)
}

/// May use Deployment Manager and config maps, and read Deployments, and no more.
pub async fn jane(stack: &Stack) -> Result<User> {
    let jane = stack.user("jane")?;
    jane.grant("own", &[MAPS, LOOK_AT_APPS, DEPLOYMENTS])
        .await?;
    Ok(jane)
}

/// There is no Deployment in the namespace.
pub fn no_app(stack: &Stack) -> Result<()> {
    let found = stack.names("deployments")?;
    ensure!(found.is_empty(), "there is {found:?}");
    Ok(())
}

/// `dm deploy` in the test's namespace.
pub fn deploy<'a>(stack: &'a Stack, args: &[&'a str]) -> Vec<&'a str> {
    [&["deploy"], args, &["--namespace", &stack.namespace]].concat()
}

#[tokio::test]
async fn who_may_edit_does_all_that_users_do_with_an_installations_rights() -> Result<()> {
    let stack = Stack::guarded().await?;
    let ada = ada(&stack).await?;
    let known = ada.dm.ok(&["whoami"]).await?;
    assert!(known.starts_with(&ada.full_name()), "{known}");

    stack.write("web.yaml", &pods("web", "well", 1))?;
    ada.dm.ok(&deploy(&stack, &["web.yaml"])).await?;
    stack.write("web.yaml", &pods("web", "well", 2))?;
    ada.dm.ok(&["update", "web.yaml"]).await?;
    assert_eq!(stack.ready_pods()?, 2);
    stack.write("web.yaml", &pods("web", "well", 3))?;
    let shown = ada.dm.ok(&["preview", "web.yaml"]).await?;
    assert!(shown.contains("2 → 3"), "{shown}");
    ada.dm.ok(&["update", "web", "--commit"]).await?;
    assert_eq!(stack.ready_pods()?, 3);
    let status = ada.dm.ok(&["status", "web"]).await?;
    assert!(status.contains("ready"), "{status}");
    let operations = ada.dm.json(&["operations", "web"]).await?;
    assert_eq!(operations["items"][0]["user"], ada.full_name());
    ada.dm.ok(&["rollback", "web"]).await?;
    ada.dm.ok(&["delete", "web"]).await?;
    no_app(&stack)
}

#[tokio::test]
async fn nobody_is_let_in_whom_the_cluster_does_not_know() -> Result<()> {
    let stack = Stack::guarded().await?;
    let ada = ada(&stack).await?;
    stack.write("own.yaml", &maps(&["own"], "first"))?;
    let create = deploy(&stack, &["own.yaml"]);
    let error = stack.dm.fails(1, &create).await?;
    for part in ["this request needs a token", "DM_TOKEN"] {
        assert!(error.contains(part), "{part} is not in\n{error}");
    }
    let elsewhere = ada.token_for("https://elsewhere.example.com")?;
    for token in [elsewhere, "made-up".to_owned(), ada.token[1..].to_owned()] {
        let stranger = stack.dm.with_token(token.clone());
        let error = stranger.fails(1, &create).await?;
        assert!(
            error.contains("the bearer token is not valid here"),
            "{error}"
        );
        assert!(!error.contains(&token), "a token is in\n{error}");
        stranger.fails(1, &["whoami"]).await?;
        stranger.fails(1, &["list"]).await?;
    }
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt"]);
    Ok(())
}

/// Fails without a Deployment, and with jane's missing permissions, before anything was made.
pub async fn denied(stack: &Stack, jane: &User, args: &[&str]) -> Result<()> {
    let error = jane.dm.fails(1, args).await?;
    let reported = error.contains("deployments.apps") && error.contains("may not");
    ensure!(reported, "dm {}: {error}", args.join(" "));
    no_app(stack)
}

#[tokio::test]
async fn who_may_not_create_deployments_gets_none_by_what_they_write() -> Result<()> {
    let stack = Stack::guarded().await?;
    let jane = jane(&stack).await?;
    stack.write("own.yaml", &maps(&["own"], "first"))?;
    jane.dm.ok(&deploy(&stack, &["own.yaml"])).await?;

    let app = pods("app", "well", 1);
    stack.write(
        "plain.yaml",
        &format!("{app}{}", &maps(&["beside"], "first")[11..]),
    )?;
    let elsewhere = "    metadata: {namespace: default}\n    spec:\n";
    stack.write("elsewhere.yaml", &app.replacen("    spec:\n", elsewhere, 1))?;
    stack.write(
        "versioned.yaml",
        &app.replace("type: Deployment", "type: apps/v1:Deployment"),
    )?;
    let shown = json!(app);
    let template =
        format!("import yaml\ndef GenerateConfig(context):\n    return yaml.safe_load({shown})\n");
    stack.write("template.py", &template)?;
    for file in [
        "plain.yaml",
        "elsewhere.yaml",
        "versioned.yaml",
        "template.py",
    ] {
        denied(&stack, &jane, &deploy(&stack, &[file])).await?;
    }
    assert_eq!(
        stack.names("configmaps")?,
        ["kube-root-ca.crt", "own"],
        "nothing came beside them"
    );
    assert!(
        !stack
            .cluster
            .names("default", "deployments")?
            .contains(&"app".to_owned())
    );

    for (file, content) in [
        ("kind.yaml", app.replace("type: Deployment", "type: ConfigMap").replacen("    spec:\n", "    apiVersion: apps/v1\n    kind: Deployment\n    spec:\n", 1)),
        ("list.yaml", "resources: [{name: app, type: List, properties: {apiVersion: v1, items: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: app}}]}}]".to_owned()),
    ] {
        stack.write(file, &content)?;
        let said = jane.dm.run(&deploy(&stack, &[file])).await?;
        ensure!(said.code != 0, "{file}: {said:?}");
        no_app(&stack)?;
    }

    // A preview reports it too, and is no way around it.
    stack.write("own.yaml", &app)?;
    let shown = jane.dm.run(&["preview", "own.yaml"]).await?;
    let reported = shown.stdout.contains("create deployments.apps");
    assert!(reported && shown.code == 1, "{shown:?}");
    denied(&stack, &jane, &["update", "own", "--commit"]).await?;
    denied(&stack, &jane, &["update", "own.yaml"]).await
}

#[tokio::test]
async fn who_may_not_create_deployments_gets_none_by_what_others_may() -> Result<()> {
    let stack = Stack::guarded().await?;
    let (ada, jane) = (ada(&stack).await?, jane(&stack).await?);
    let of_maps = maps(&["own"], "first");
    stack.write("own.yaml", &pods("app", "well", 1))?;
    ada.dm.ok(&deploy(&stack, &["own.yaml"])).await?;
    let deployed = ada.dm.json(&["get", "own"]).await?;
    let with_app = deployed["latestManifest"].as_str().context("no manifest")?;

    // Somebody else's, as long as it is there: neither changed nor deleted.
    stack.write("own.yaml", &pods("app", "well", 3))?;
    for args in [&["update", "own.yaml"][..], &["delete", "own"]] {
        let error = jane.dm.fails(1, args).await?;
        assert!(error.contains("deployments.apps"), "{error}");
    }
    assert_eq!(stack.ready_pods()?, 1);
    stack.write("own.yaml", &of_maps)?;
    ada.dm.ok(&["update", "own.yaml"]).await?;
    no_app(&stack)?;

    denied(&stack, &jane, &["rollback", "own"]).await?;
    denied(&stack, &jane, &["rollback", "own", with_app]).await?;
    ada.dm.ok(&["update", "own.yaml"]).await?;
    stack.write("own.yaml", &pods("app", "well", 1))?;
    ada.dm.ok(&["preview", "own.yaml"]).await?;
    denied(&stack, &jane, &["update", "own", "--commit"]).await?;

    // In the name of an account that may, which jane may not use.
    let robot = stack.user("robot")?;
    robot.bind("edit", EDIT).await?;
    stack.write("robots.yaml", &pods("app", "well", 1))?;
    let error = jane
        .dm
        .fails(
            1,
            &deploy(&stack, &["robots.yaml", "--service-account", "robot"]),
        )
        .await?;
    assert!(error.contains("impersonate"), "{error}");
    no_app(&stack)?;
    stack.write("robots.yaml", &of_maps.replace("own", "robots"))?;
    let robots = ["robots.yaml", "--service-account", "robot"];
    ada.dm.ok(&deploy(&stack, &robots)).await?;
    stack.write("robots.yaml", &pods("app", "well", 1))?;
    let error = jane.dm.fails(1, &["update", "robots.yaml"]).await?;
    assert!(error.contains("impersonate"), "{error}");
    no_app(&stack)
}

#[tokio::test]
async fn the_key_of_somebody_elses_request_repeats_nothing_for_others() -> Result<()> {
    let stack = Stack::guarded().await?;
    let (ada, jane) = (ada(&stack).await?, jane(&stack).await?);
    let content = pods("app", "well", 1);
    let body = json!({"name": "own", "namespace": stack.namespace, "content": content});
    let (status, made) = keyed(&stack, &ada, &body).await?;
    assert_eq!(status, 201, "{made}");
    let (status, again) = keyed(&stack, &ada, &body).await?;
    assert_eq!((status, &again["operation"]), (201, &made["operation"]));
    ada.dm.ok(&["delete", "own"]).await?;
    let (status, refused) = keyed(&stack, &jane, &body).await?;
    assert_eq!(
        (status, refused["code"].as_str()),
        (403, Some("PERMISSIONS_MISSING")),
        "{refused}"
    );
    no_app(&stack)
}

/// `POST /deployments`, always with the same key.
async fn keyed(stack: &Stack, user: &User, body: &Value) -> Result<(u16, Value)> {
    let http = common::client::http::builder().no_proxy().build()?;
    let request = http
        .request(Method::POST, format!("{}/deployments", stack.manager.url()))
        .bearer_auth(&user.token)
        .header("Idempotency-Key", "one-and-the-same")
        .json(body);
    let response = request.send().await?;
    Ok((response.status().as_u16(), response.json().await?))
}

#[tokio::test]
async fn drift_is_corrected_in_the_name_of_the_last_writer_and_with_what_they_may_now() -> Result<()>
{
    let mut stack = Stack::guarded().await?;
    let jane = jane(&stack).await?;
    jane.grant("apps", &[APPS]).await?;
    stack.write("own.yaml", &pods("app", "well", 1))?;
    let create = deploy(&stack, &["own.yaml", "--drift-policy", "correct"]);
    jane.dm.ok(&create).await?;
    jane.withdraw("apps", APPS).await?;
    let within = ["--namespace", &stack.namespace];
    let delete = ["delete", "deployment", "app"];
    stack.cluster.kubectl(&[&delete[..], &within].concat())?;
    no_app(&stack)?;

    let every_second = ["--drift-interval", "1s"];
    stack.manager.again_with(&every_second).await?;
    stack.ready().await?;
    until(
        "the drift to be seen, and not to be corrected",
        SOON,
        || async {
            let operations = jane.dm.json(&["operations", "own"]).await?;
            let last = &operations["items"][0];
            ensure!(
                last["type"] == "CORRECT" && last["status"] == "DONE",
                "{operations}"
            );
            ensure!(last["error"]["code"] == "PERMISSIONS_MISSING", "{last}");
            Ok(())
        },
    )
    .await?;
    no_app(&stack)
}

/// A pod that is never ready, and then a Deployment.
fn waiting() -> String {
    let pod = "- name: first\n  type: Pod\n  properties:\n    spec: {containers: [{name: main, image: 'simulated.invalid/unready'}]}\n";
    let app = pods("app", "well", 1);
    format!("{app}  metadata: {{dependsOn: [first]}}\n{pod}")
}

/// Begins an operation that waits before it comes to the Deployment, and takes a role from its caller while the manager
/// is away; gives how it ends.
async fn resumed_without(role: &str, allowed: (&str, &str, &[&str])) -> Result<(Stack, Value)> {
    let mut stack = Stack::guarded().await?;
    let jane = stack.user("jane")?;
    jane.grant("pods", &[PODS]).await?;
    jane.grant("use", &[DEPLOYMENTS]).await?;
    jane.grant("apps", &[LOOK_AT_APPS, APPS]).await?;
    stack.write("own.yaml", &waiting())?;
    let begun = jane
        .dm
        .json(&deploy(&stack, &["own.yaml", "--async"]))
        .await?;
    let id = begun["id"].as_str().context("no id")?.to_owned();
    until("the first pod to be there", SOON, || async {
        ensure!(stack.names("pods")? == ["first"]);
        Ok(())
    })
    .await?;
    stack.manager.crash()?;
    jane.withdraw(role, allowed).await?;
    stack.manager.again().await?;
    stack.ready().await?;

    let ada = ada(&stack).await?;
    let path = ["operations", "own"];
    let operation = until("the operation to end", SOON, || async {
        let operations = ada.dm.json(&path).await?;
        let all = operations["items"].as_array().context("no items")?;
        let own = all.iter().find(|operation| operation["id"] == *id);
        let own = own.context("it is not there")?;
        ensure!(own["status"] == "DONE", "{own}");
        Ok(own.clone())
    })
    .await?;
    // What it waited for comes about: nothing goes on by itself.
    let within = ["--namespace", &stack.namespace];
    let ready = [
        "annotate",
        "pod",
        "first",
        "simulated.invalid/behaviour=well",
    ];
    stack.cluster.kubectl(&[&ready[..], &within].concat())?;
    until("the pod to be ready", SOON, || async {
        ensure!(stack.ready_pods()? == 1);
        Ok(())
    })
    .await?;
    no_app(&stack)?;
    Ok((stack, operation))
}

#[tokio::test]
async fn an_operation_that_is_gone_on_with_may_only_what_its_caller_may_by_then() -> Result<()> {
    let (_stack, operation) = resumed_without("apps", APPS).await?;
    assert_eq!(
        operation["error"]["code"], "PERMISSIONS_MISSING",
        "{operation}"
    );
    let (_stack, operation) = resumed_without("use", DEPLOYMENTS).await?;
    assert_eq!(operation["error"]["code"], "FORBIDDEN", "{operation}");
    Ok(())
}
