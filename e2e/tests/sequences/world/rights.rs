//! What the service account of a sequence may do in the cluster.
//!
//! A role for each of [`Rights`] is there for all sequences. A sequence binds one of them, for objects in namespaces and of
//! the whole cluster alike.

use std::time::Duration;

use anyhow::{Result, ensure};
use e2e::ApiClient;
use reqwest::{Method, StatusCode};
use serde_json::json;

use super::{World, cluster_wide};
use crate::model::Names;
use crate::moves::Rights;

/// The API server's authorizer sees bindings by a watch.
const SOON: Duration = Duration::from_secs(30);
const GROUP: &str = "apis/rbac.authorization.k8s.io/v1";
const WRITES: [&str; 3] = ["create", "update", "patch"];
const READS: [&str; 3] = ["get", "list", "watch"];
const DELETES: [&str; 2] = ["delete", "deletecollection"];

impl Rights {
    const BOUND: [Rights; 3] = [Rights::All, Rights::NoDeletes, Rights::ReadOnly];

    /// The role that allows it; none where nothing is allowed.
    fn role(self) -> Option<&'static str> {
        match self {
            Rights::All => Some("sequences-all"),
            Rights::NoDeletes => Some("sequences-no-deletes"),
            Rights::ReadOnly => Some("sequences-read-only"),
            Rights::Nothing => None,
        }
    }

    fn verbs(self) -> Vec<&'static str> {
        match self {
            Rights::All => [&READS[..], &WRITES, &DELETES].concat(),
            Rights::NoDeletes => [&READS[..], &WRITES].concat(),
            Rights::ReadOnly => READS.to_vec(),
            Rights::Nothing => Vec::new(),
        }
    }
}

pub async fn install(api: &ApiClient) -> Result<()> {
    for rights in Rights::BOUND {
        let Some(name) = rights.role() else { continue };
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name},
            "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": rights.verbs()}],
        });
        api.create(&cluster_wide(GROUP, "clusterroles"), &role)
            .await?;
    }
    Ok(())
}

impl World {
    /// Gives the account of a sequence these rights and no others, and returns once the API server knows.
    pub async fn grant(&self, names: &Names, rights: Rights) -> Result<()> {
        if let Some(role) = rights.role() {
            let binding = binding(names, role);
            self.api.create(&bindings(), &binding).await?;
        }
        self.withdraw_all_but(names, rights).await?;
        let what = format!("{} to have {rights:?}", user(names));
        e2e::until(&what, SOON, || async {
            for verb in Rights::All.verbs() {
                let may = self.may(names, verb).await?;
                let should = rights.verbs().contains(&verb);
                ensure!(may == should, "may {verb}: {may}");
            }
            Ok(())
        })
        .await
    }

    /// Takes all rights but these; nobody waits for it.
    pub async fn withdraw_all_but(&self, names: &Names, rights: Rights) -> Result<()> {
        let roles = Rights::BOUND.into_iter().filter(|other| *other != rights);
        for role in roles.filter_map(Rights::role) {
            let name = format!("{}-{role}", names.prefix);
            self.api.delete(&bindings(), &name).await?;
        }
        Ok(())
    }

    async fn may(&self, names: &Names, verb: &str) -> Result<bool> {
        let [namespace, _] = names.namespaces();
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": user(names), "resourceAttributes": {
                "namespace": namespace, "verb": verb, "resource": "configmaps",
            }},
        });
        let path = "apis/authorization.k8s.io/v1/subjectaccessreviews";
        let sent = self
            .api
            .send(Method::POST, path, "application/json", Some(&review));
        let (status, answer) = sent.await?;
        ensure!(status == StatusCode::CREATED, "{status} {answer}");
        Ok(answer["status"]["allowed"] == true)
    }
}

fn user(names: &Names) -> String {
    let [namespace, _] = names.namespaces();
    format!("system:serviceaccount:{namespace}:{}", names.account())
}

fn binding(names: &Names, role: &str) -> serde_json::Value {
    let [namespace, _] = names.namespaces();
    let name = format!("{}-{role}", names.prefix);
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": names.account()}],
    })
}

fn bindings() -> e2e::api_client::Collection {
    cluster_wide(GROUP, "clusterrolebindings")
}
