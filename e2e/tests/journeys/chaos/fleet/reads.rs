//! Any manager gives the same answers, and reads of the store go on while no manager has it.

use std::time::Duration;

use anyhow::{Result, ensure};
use e2e::program::Service;
use e2e::{Stack, until};
use nix::sys::signal::Signal;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::members::shared;
use crate::configurations::maps;

const PATIENCE: Duration = Duration::from_secs(60);
/// By their tokens: may do everything, may look at the namespace, may do nothing.
const CALLERS: [&str; 3] = ["ada", "jane", "joe"];

/// A status and a body, without the id of the request.
type Answer = (StatusCode, Value);

#[tokio::test(flavor = "multi_thread")]
async fn every_manager_answers_alike_and_reads_wait_for_no_owner() -> Result<()> {
    let mut stack = Stack::start().await?;
    stack.manager.stop().await?;
    let store = format!("etcd:{}", shared().address());
    let access = access(&stack)?;
    let first = stack.manager_on_etcd("first", &store, &access).await?;
    let second = stack.manager_on_etcd("second", &store, &access).await?;
    stack.dm = stack.dm.at(first.url()).with_token("ada".to_owned());
    let namespace = stack.namespace.clone();
    for name in ["one.yaml", "two.yaml"] {
        let (map, _) = name.split_at(3);
        stack.write(name, &maps(&[map], "1"))?;
        stack
            .dm
            .ok(&["deploy", name, "--namespace", &namespace])
            .await?;
    }
    stack.write("one.yaml", &maps(&["one"], "2"))?;
    stack.dm.ok(&["update", "one.yaml"]).await?;
    let http = common::client::http::builder().no_proxy().build()?;
    let template = json!({"apiVersion": "template.openshift.io/v1", "kind": "Template", "metadata": {"name": "kept"},
        "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "made"}}]});
    let templates = format!("/api/v1/namespaces/{namespace}/templates");
    let created = http.post(format!("{}{templates}", second.url()));
    let created = created.bearer_auth("ada").json(&template).send().await?;
    ensure!(created.status() == StatusCode::CREATED, "{created:?}");

    let at_first = |path: String| answer(&http, &first, "ada", path);
    let (_, manifests) = at_first("/deployments/one/manifests".to_owned()).await?;
    let names = ["0", "1"].map(|n| manifests.pointer(&format!("/items/{n}/name")));
    let [Some(latest), Some(earlier)] = names.map(|name| name.and_then(Value::as_str)) else {
        anyhow::bail!("{manifests}");
    };
    let manifest = format!("/deployments/one/manifests/{latest}");
    let reads = [
        "/deployments".to_owned(),
        "/deployments?limit=1".to_owned(),
        "/deployments/one".to_owned(),
        "/deployments/one/manifests".to_owned(),
        manifest.clone(),
        format!("{manifest}/layout"),
        format!("{manifest}/layout?path=%24.resources%5B0%5D"),
        format!("{manifest}/diff?from={earlier}"),
        "/types".to_owned(),
        "/types/ConfigMap/instances".to_owned(),
        "/types/all/instances".to_owned(),
        "/templates".to_owned(),
        format!("{templates}/kept"),
    ];
    let others = [
        "/deployments?orderBy=modifiedAt".to_owned(),
        format!("/deployments?namespace={namespace}"),
        "/deployments?limit=0".to_owned(),
        "/deployments/none".to_owned(),
        "/deployments/one/nothing".to_owned(),
        "/operations".to_owned(),
    ];
    let mut before = Vec::new();
    for path in reads.iter().chain(&others) {
        for caller in CALLERS.iter().chain(&["nobody"]) {
            let at_first = answer(&http, &first, caller, path.clone()).await?;
            let at_second = answer(&http, &second, caller, path.clone()).await?;
            ensure!(
                at_first == at_second,
                "{caller} {path}: {at_first:?}, {at_second:?}"
            );
            before.push((path.clone(), *caller, at_first));
        }
    }

    first.signal(Signal::SIGSTOP)?;
    let log = || std::fs::read_to_string(second.log_path());
    for path in &reads {
        let now = answer(&http, &second, "ada", path.clone()).await?;
        let same = before
            .iter()
            .find(|(of, caller, _)| of == path && *caller == "ada");
        ensure!(
            same.is_some_and(|(_, _, then)| *then == now),
            "{path}: {now:?}"
        );
        ensure!(now.0 == StatusCode::OK, "{path}: {now:?}");
    }
    ensure!(
        !log()?.contains("operations go on"),
        "the second manager had the store before"
    );
    for (path, caller, then) in &before {
        let now = answer(&http, &second, caller, path.clone()).await?;
        ensure!(now == *then, "{caller} {path}: {then:?}, and {now:?} after");
    }
    until("the second manager to have the store", PATIENCE, || async {
        ensure!(log()?.contains("operations go on"), "it has not");
        Ok(())
    })
    .await?;
    first.signal(Signal::SIGCONT)?;
    Ok(())
}

/// The flags with which a manager knows the callers.
fn access(stack: &Stack) -> Result<Vec<(&'static str, String)>> {
    let token = |name: &&str| {
        let digest = Sha256::digest(name.as_bytes());
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("- {{sha256: {digest}, user: {name}}}\n")
    };
    let tokens: String = CALLERS.iter().map(token).collect();
    let tokens = stack.write("tokens.yaml", &format!("tokens:\n{tokens}"))?;
    let namespace = &stack.namespace;
    let policy = stack.write(
        "policy.yaml",
        &format!(
            "bindings:\n- {{role: admin, users: [ada], namespaces: ['*']}}\n- {{role: view, users: [jane], namespaces: [{namespace}]}}\n"
        ),
    )?;
    let binding = [
        "create",
        "rolebinding",
        "ada",
        "--clusterrole=edit",
        "--user=ada",
    ];
    stack
        .cluster
        .kubectl(&[&binding[..], &["--namespace", namespace]].concat())?;
    Ok(vec![
        ("--auth-tokens", tokens.display().to_string()),
        ("--auth-policy", policy.display().to_string()),
    ])
}

async fn answer(http: &Client, at: &Service, token: &str, path: String) -> Result<Answer> {
    let asked = http.get(format!("{}{path}", at.url())).bearer_auth(token);
    let answer = asked.timeout(PATIENCE).send().await?;
    let (status, mut body) = (answer.status(), answer.json::<Value>().await?);
    without_id(&mut body);
    Ok((status, body))
}

fn without_id(body: &mut Value) {
    if let Value::Object(fields) = body {
        fields.remove("requestId");
        fields.values_mut().for_each(without_id);
    }
}
