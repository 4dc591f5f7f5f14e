//! Somebody who uses Deployment Manager: a service account of the test's namespace, with what rights the test gives it.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::{Cluster, Dm, until};

/// The API server's authorizer hears of roles by a watch.
const SOON: Duration = Duration::from_secs(30);

/// An API group, one of its resources, and what is done to it.
pub type Rule<'a> = (&'a str, &'a str, &'a [&'a str]);

pub struct User {
    /// `dm` with their token.
    pub dm: Dm,
    pub token: String,
    name: String,
    namespace: String,
    cluster: &'static Cluster,
}

impl User {
    pub(crate) fn new(
        cluster: &'static Cluster,
        namespace: &str,
        name: &str,
        dm: &Dm,
    ) -> Result<Self> {
        let within = ["--namespace", namespace];
        let account = ["create", "serviceaccount", name];
        cluster.kubectl(&[&account[..], &within].concat())?;
        let token = cluster.kubectl(&[&["create", "token", name][..], &within].concat())?;
        let token = token.trim().to_owned();
        Ok(Self {
            dm: dm.with_token(token.clone()),
            token,
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            cluster,
        })
    }

    /// As the cluster calls them.
    pub fn full_name(&self) -> String {
        format!("system:serviceaccount:{}:{}", self.namespace, self.name)
    }

    /// A token of theirs for somebody else than the API server.
    pub fn token_for(&self, audience: &str) -> Result<String> {
        let audience = format!("--audience={audience}");
        let token = self.within(&["create", "token", &self.name, &audience])?;
        Ok(token.trim().to_owned())
    }

    /// Gives them one of the cluster's own roles in the namespace, and waits until they may do something that it allows.
    pub async fn bind(&self, role: &str, allowed: Rule<'_>) -> Result<()> {
        let (role_flag, account) = (
            format!("--clusterrole={role}"),
            format!("--serviceaccount={}:{}", self.namespace, self.name),
        );
        let binding = self.binding(role);
        self.within(&["create", "rolebinding", &binding, &role_flag, &account])?;
        self.until_may(allowed, true).await
    }

    /// Gives them a role of their own in the namespace, and waits until they may do the last of it.
    pub async fn grant(&self, role: &str, rules: &[Rule<'_>]) -> Result<()> {
        let api = "rbac.authorization.k8s.io";
        let name = self.binding(role);
        let metadata = json!({"name": name, "namespace": self.namespace});
        let rule = |(group, resource, verbs): &Rule<'_>| json!({"apiGroups": [group], "resources": [resource], "verbs": verbs});
        let rules_of_role: Vec<_> = rules.iter().map(rule).collect();
        let objects = json!({"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": format!("{api}/v1"), "kind": "Role", "metadata": metadata, "rules": rules_of_role},
            {
                "apiVersion": format!("{api}/v1"), "kind": "RoleBinding", "metadata": metadata,
                "roleRef": {"apiGroup": api, "kind": "Role", "name": name},
                "subjects": [{"kind": "ServiceAccount", "name": self.name, "namespace": self.namespace}],
            },
        ]});
        self.cluster.apply(&objects.to_string())?;
        let last = rules.last().context("a role of nothing")?;
        self.until_may(*last, true).await
    }

    /// Takes a role back, and waits until they may no longer do what it allowed.
    pub async fn withdraw(&self, role: &str, allowed: Rule<'_>) -> Result<()> {
        self.within(&["delete", "rolebinding", &self.binding(role)])?;
        self.until_may(allowed, false).await
    }

    fn within(&self, args: &[&str]) -> Result<String> {
        let namespace = ["--namespace", &self.namespace];
        self.cluster.kubectl(&[args, &namespace].concat())
    }

    async fn until_may(&self, rule: Rule<'_>, expected: bool) -> Result<()> {
        let what = format!("{} to have their rights, and no others", self.full_name());
        until(&what, SOON, || async {
            for verb in rule.2 {
                let may = self.may(verb, rule)?;
                ensure!(may == expected, "may {verb} {}: {may}", rule.1);
            }
            Ok(())
        })
        .await
    }

    /// The cluster's own answer; `kubectl auth can-i` knows none about resources that are not served.
    fn may(&self, verb: &str, (group, resource, _): Rule<'_>) -> Result<bool> {
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": self.full_name(), "resourceAttributes": {
                "namespace": self.namespace, "verb": verb, "group": group, "resource": resource,
            }},
        });
        let ask = ["create", "-o", "jsonpath={.status.allowed}"];
        let verdict = self.cluster.kubectl_with(&review.to_string(), &ask)?;
        Ok(verdict == "true")
    }

    fn binding(&self, role: &str) -> String {
        format!("{}-{role}", self.name)
    }
}
