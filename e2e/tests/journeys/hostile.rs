//! Templates that mean ill, and callers who try other doors: others' deployments stay as they are, and nobody gets a
//! Deployment that they may not create.

use anyhow::{Context, Result, ensure};
use e2e::{Stack, User};
use reqwest::Method;
use serde_json::{Value, json};

use crate::configurations::{maps, pods};
use crate::rights::{ada, denied, deploy, jane, no_app};

/// What a template makes of nothing: an object of this type, with these properties.
fn makes(type_name: &str, properties: &Value) -> String {
    let resource = json!({"name": "it", "type": type_name, "properties": properties});
    let shown = json!(
        json!({"resources": [{"name": "beside", "type": "ConfigMap"}, resource]}).to_string()
    );
    format!("import json\ndef GenerateConfig(context):\n    return json.loads({shown})\n")
}

#[tokio::test]
async fn what_a_hostile_template_makes_touches_nothing_of_others() -> Result<()> {
    let stack = Stack::guarded().await?;
    let (ada, jane) = (ada(&stack).await?, jane(&stack).await?);
    stack.write("web.yaml", &pods("web", "well", 1))?;
    ada.dm.ok(&deploy(&stack, &["web.yaml"])).await?;
    stack.write("settings.yaml", &maps(&["settings"], "hers"))?;
    ada.dm.ok(&deploy(&stack, &["settings.yaml"])).await?;
    let within = ["--namespace", &stack.namespace];
    let uid = ["get", "deployment", "web", "-o", "jsonpath={.metadata.uid}"];
    let uid = stack.cluster.kubectl(&[&uid[..], &within].concat())?;
    let own = "deployment-manager.dev";
    let owner = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": uid, "controller": true, "blockOwnerDeletion": true});
    let rule = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
    let named = |name: &str| json!({"metadata": {"name": name}, "data": {"value": "mine"}});
    let elsewhere = json!({"metadata": {"namespace": "kube-system"}});
    let whole = json!({"metadata": {"name": stack.namespace}, "rules": rule});
    for (type_name, properties, reported) in [
        (
            "ConfigMap",
            named("settings"),
            "belongs to deployment settings",
        ),
        (
            "ConfigMap",
            json!({"metadata": {"labels": {format!("{own}/deployment"): "settings"}}}),
            "is reserved for Deployment Manager",
        ),
        (
            "ConfigMap",
            json!({"metadata": {"annotations": {format!("{own}/delete-policy"): "ABANDON"}}}),
            "is reserved for Deployment Manager",
        ),
        (
            "ConfigMap",
            json!({"metadata": {"ownerReferences": [owner]}}),
            "not a resource of the deployment",
        ),
        (
            "ConfigMap",
            json!({"metadata": {"managedFields": [{"manager": "dm-settings"}]}}),
            "written by the API server only",
        ),
        ("ConfigMap", elsewhere, "may not"),
        ("ClusterRole", whole, "may not"),
        ("Role", json!({"rules": rule}), "may not"),
        ("ServiceAccount", json!({}), "may not"),
        ("List", json!({"items": [named("it")]}), "List"),
    ] {
        stack.write("template.py", &makes(type_name, &properties))?;
        stack.write(
            "hostile.yaml",
            "imports: [{path: template.py}]\nresources: [{name: top, type: template.py}]\n",
        )?;
        let said = jane.dm.run(&deploy(&stack, &["hostile.yaml"])).await?;
        ensure!(
            said.code == 1 && said.stderr.contains(reported),
            "{type_name} {properties}: {said:?}"
        );
        // What cannot be planned is not a deployment; of what was refused later, nothing is in the cluster, and jane may delete it.
        let deleted = jane.dm.run(&["delete", "hostile"]).await?;
        ensure!([0, 3].contains(&deleted.code), "{properties}: {deleted:?}");
        let left = stack.names("configmaps")?;
        ensure!(
            left == ["kube-root-ca.crt", "settings"],
            "{properties}: {left:?}"
        );
    }
    unharmed(&stack, &ada).await
}

/// What is ada's is as she made it, listed as hers, and goes when she says so.
async fn unharmed(stack: &Stack, ada: &User) -> Result<()> {
    for name in ["web", "settings"] {
        let resources = ada.dm.json(&["status", name]).await?;
        let item = &resources["items"][0];
        ensure!(
            item["state"] == "READY" && item["drift"].is_null(),
            "{resources}"
        );
    }
    let instances = ada.dm.json(&["deployed-instances", "ConfigMap"]).await?;
    let instances = instances["items"].as_array().context("no items")?;
    let of: Vec<_> = instances.iter().map(|item| &item["deployment"]).collect();
    ensure!(of == ["settings"], "{instances:?}");
    ada.dm.ok(&["delete", "settings"]).await?;
    ada.dm.ok(&["delete", "web"]).await?;
    ensure!(stack.names("configmaps")? == ["kube-root-ca.crt"]);
    no_app(stack)
}

#[tokio::test]
async fn nobody_is_somebody_else_by_what_a_request_says_beside_its_token() -> Result<()> {
    let stack = Stack::guarded().await?;
    let (ada, jane) = (ada(&stack).await?, jane(&stack).await?);
    let http = common::client::http::builder().no_proxy().build()?;
    let ada = json!({"user": ada.full_name(), "groups": ["system:masters"]});
    let body =
        json!({"name": "own", "namespace": stack.namespace, "content": pods("app", "well", 1)});
    let mut forged = body.clone();
    for field in ["onBehalfOf", "identity", "user"] {
        forged[field] = ada.clone();
    }
    for (body, expected) in [(&body, 403), (&forged, 400)] {
        let request = http
            .request(Method::POST, format!("{}/deployments", stack.manager.url()))
            .bearer_auth(&jane.token)
            .header("Impersonate-User", "admin")
            .header("Impersonate-Group", "system:masters")
            .header("X-Remote-User", "admin")
            .header("X-Remote-Group", "system:masters")
            .header("X-Forwarded-User", "admin")
            .json(body);
        let response = request.send().await?;
        let status = response.status();
        let reported = response.text().await?;
        ensure!(
            [expected, 403].contains(&status.as_u16()),
            "{status}: {reported}"
        );
        no_app(&stack)?;
    }
    Ok(())
}

#[tokio::test]
async fn going_back_by_itself_brings_back_nothing_that_the_caller_may_not_create() -> Result<()> {
    let stack = Stack::guarded().await?;
    let (ada, jane) = (ada(&stack).await?, jane(&stack).await?);
    stack.write("own.yaml", &pods("app", "well", 1))?;
    ada.dm.ok(&deploy(&stack, &["own.yaml"])).await?;
    let within = ["--namespace", &stack.namespace];
    let gone = ["delete", "deployment", "app"];
    stack.cluster.kubectl(&[&gone[..], &within].concat())?;
    // It fails as it is applied, and what was before had a Deployment.
    stack.write(
        "own.yaml",
        "resources: [{name: NOT-A-NAME, type: ConfigMap}]",
    )?;
    let update = ["update", "own.yaml", "--rollback-on-failure"];
    let said = jane.dm.run(&update).await?;
    ensure!(
        said.code == 1 && said.stderr.contains("deployments.apps"),
        "{said:?}"
    );
    no_app(&stack)?;
    denied(&stack, &jane, &["rollback", "own"]).await
}

#[tokio::test]
async fn a_preview_that_somebody_put_in_anothers_place_is_not_committed_by_that_ones_name()
-> Result<()> {
    let stack = Stack::guarded().await?;
    let (ada, jane) = (ada(&stack).await?, jane(&stack).await?);
    stack.write("own.yaml", &maps(&["own"], "first"))?;
    ada.dm.ok(&deploy(&stack, &["own.yaml"])).await?;
    stack.write("own.yaml", &maps(&["own"], "second"))?;
    ada.dm.ok(&["preview", "own.yaml"]).await?;
    let deployment = ada.dm.json(&["get", "own"]).await?;
    let hers = deployment["preview"].as_str().context("no preview")?;
    stack.write("own.yaml", &pods("app", "well", 1))?;
    jane.dm.run(&["preview", "own.yaml"]).await?;
    let commit = ["update", "own", "--commit", hers];
    let error = ada.dm.fails(3, &commit).await?;
    ensure!(error.contains("has no manifest"), "{error}");
    no_app(&stack)?;
    // Leaving objects behind is a write to them, too.
    ada.dm.ok(&["update", "own.yaml"]).await?;
    let abandon = ["delete", "own", "--delete-policy", "abandon"];
    let error = jane.dm.fails(1, &abandon).await?;
    ensure!(error.contains("deployments.apps"), "{error}");
    Ok(())
}

#[tokio::test]
async fn the_upgrade_of_anothers_deployment_is_made_with_the_rights_of_who_asks_for_it()
-> Result<()> {
    let stack = Stack::guarded().await?;
    let (ada, jane) = (ada(&stack).await?, jane(&stack).await?);
    let image = "image=simulated.invalid/well";
    let create = [
        "replicatedservice:v1",
        "--name",
        "web",
        "--properties",
        image,
    ];
    ada.dm.ok(&deploy(&stack, &create)).await?;
    let within = ["--namespace", &stack.namespace];
    let gone = ["delete", "deployments", "--all"];
    stack.cluster.kubectl(&[&gone[..], &within].concat())?;
    // What it would come to may be looked at.
    let newer = "replicatedservice:v1.1";
    let shown = jane.dm.run(&["whatif", newer]).await?;
    ensure!(shown.stdout.contains("web"), "{shown:?}");
    let said = jane.dm.run(&["upgrade", "--template", newer]).await?;
    let reported = said.stdout + &said.stderr;
    ensure!(said.code == 1 && reported.contains("may not"), "{reported}");
    no_app(&stack)
}
