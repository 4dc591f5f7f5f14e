//! What an installation's resourcifier may do in the cluster: the account and the rights that `dm install` gives it, and
//! no more.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::{Cluster, Dm};

const NAME: &str = "guarded";
const KINDS: [&str; 3] = ["ServiceAccount", "ClusterRole", "ClusterRoleBinding"];

/// The kubeconfig of resourcifier's account, after its rights, and the roles for users, were applied.
pub async fn resourcifier(cluster: &Cluster, namespace: &str, folder: &Path) -> Result<PathBuf> {
    let all = printed(namespace, folder).await?;
    let is_right = |document: &&str| {
        let is = |kind: &&str| document.contains(&format!("\nkind: {kind}\n"));
        KINDS.iter().any(is)
    };
    let rights: Vec<_> = all.split("---\n").filter(is_right).collect();
    cluster.apply(&rights.join("---\n"))?;
    let account = format!("{NAME}-resourcifier");
    let token = cluster.kubectl(&["create", "token", &account, "--namespace", namespace])?;
    let path = folder.join("installed.kubeconfig");
    std::fs::write(&path, kubeconfig(cluster, token.trim())?)?;
    Ok(path)
}

/// Takes the rights back that belong to no namespace, and so do not go with it. Roles for users are every test's.
pub fn remove(cluster: &Cluster, namespace: &str) -> Result<()> {
    let name = format!("{namespace}-{NAME}-resourcifier");
    cluster.kubectl(&["delete", "clusterrole,clusterrolebinding", &name])?;
    Ok(())
}

/// All of an installation. It takes no manager.
async fn printed(namespace: &str, folder: &Path) -> Result<String> {
    let install = ["install", "--image", "none", "--name", NAME];
    let dm = Dm::new("http://127.0.0.1:1".to_owned(), folder);
    let further = ["--namespace", namespace, "--without-secrets"];
    dm.ok(&[&install[..], &further].concat()).await
}

/// The tests' own kubeconfig with another user in its place.
fn kubeconfig(cluster: &Cluster, token: &str) -> Result<String> {
    let view = ["config", "view", "--raw", "--minify", "-o", "json"];
    let mut config: Value = serde_json::from_str(&cluster.kubectl(&view)?)?;
    let users = config["users"].as_array_mut().context("no users")?;
    for user in users {
        user["user"] = json!({"token": token});
    }
    Ok(config.to_string())
}
