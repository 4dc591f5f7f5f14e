//! Admission policies that refuse creates, updates or deletes in a namespace, with words of their own.
//!
//! There is one policy a verb for the whole cluster. A label of a namespace switches it on there, and an annotation holds
//! the words: so a sequence needs no policy of its own, and waits only until the API server has seen the label.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::{World, cluster_wide};
use crate::moves::Verb;

/// The API server sees policies and labels by watches.
const SOON: Duration = Duration::from_secs(30);
const GROUP: &str = "apis/admissionregistration.k8s.io/v1";
/// The object that requests are tried on.
const PROBE: &str = "probe";

fn label(verb: Verb) -> String {
    format!("sequences.dev/refuse-{}", verb.operation().to_lowercase())
}

pub async fn install(api: &e2e::ApiClient) -> Result<()> {
    for verb in Verb::ALL {
        let name = format!("refuse-{}", verb.operation().to_lowercase());
        let version = "admissionregistration.k8s.io/v1";
        let words = "namespaceObject.metadata.annotations['sequences.dev/words']";
        let policy = json!({
            "apiVersion": version, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {"resourceRules": [{
                    "apiGroups": [""], "apiVersions": ["v1"],
                    "resources": ["configmaps", "secrets", "services"], "operations": [verb.operation()],
                }]},
                "validations": [{"expression": "false", "messageExpression": words, "reason": "Invalid"}],
            },
        });
        let selector = json!({"matchLabels": {label(verb): "true"}});
        let binding = json!({
            "apiVersion": version, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": ["Deny"], "matchResources": {"namespaceSelector": selector}},
        });
        api.create(&cluster_wide(GROUP, "validatingadmissionpolicies"), &policy)
            .await?;
        api.create(
            &cluster_wide(GROUP, "validatingadmissionpolicybindings"),
            &binding,
        )
        .await?;
    }
    Ok(())
}

impl World {
    /// Makes what refusals are tried on.
    pub async fn make_probe(&self, namespace: &str) -> Result<()> {
        let path = format!("api/v1/namespaces/{namespace}/configmaps");
        let (status, answer) = self.probe(Method::POST, &path, Some(&probe(PROBE))).await?;
        ensure!(
            status.is_success() || status == StatusCode::CONFLICT,
            "{answer}"
        );
        Ok(())
    }

    /// Refuses all requests of this kind in the namespace, and returns once they are refused.
    pub async fn refuse(&self, namespace: &str, verb: Verb, words: &str) -> Result<()> {
        let patch = json!({"metadata": {
            "labels": {label(verb): "true"}, "annotations": {"sequences.dev/words": words},
        }});
        self.label(namespace, &patch).await?;
        self.until(namespace, verb, false).await
    }

    /// Refuses nothing there any more, and returns once nothing is refused.
    pub async fn admit_all(&self, namespace: &str) -> Result<()> {
        let labels: serde_json::Map<_, _> = Verb::ALL
            .into_iter()
            .map(|verb| (label(verb), Value::Null))
            .collect();
        self.label(namespace, &json!({"metadata": {"labels": labels}}))
            .await?;
        for verb in Verb::ALL {
            self.until(namespace, verb, true).await?;
        }
        Ok(())
    }

    async fn label(&self, namespace: &str, patch: &Value) -> Result<()> {
        let namespaces = cluster_wide("api/v1", "namespaces");
        self.api.merge(&namespaces, namespace, patch).await?;
        Ok(())
    }

    async fn until(&self, namespace: &str, verb: Verb, admitted: bool) -> Result<()> {
        let maps = format!("api/v1/namespaces/{namespace}/configmaps");
        let what = format!(
            "{} in {namespace} to be admitted: {admitted}",
            verb.operation()
        );
        e2e::until(&what, SOON, || async {
            let one = format!("{maps}/{PROBE}?dryRun=All");
            let (status, answer) = match verb {
                Verb::Create => {
                    let new = probe("probe-of-creates");
                    self.probe(Method::POST, &format!("{maps}?dryRun=All"), Some(&new))
                        .await?
                }
                Verb::Update => {
                    let patch = json!({"metadata": {"annotations": {"probe": "true"}}});
                    self.probe(Method::PATCH, &one, Some(&patch)).await?
                }
                Verb::Delete => self.probe(Method::DELETE, &one, None).await?,
            };
            ensure!(status.is_success() == admitted, "{status} {answer}");
            Ok(())
        })
        .await
    }

    async fn probe(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Value)> {
        let content_type = match method {
            Method::PATCH => "application/merge-patch+json",
            _ => "application/json",
        };
        self.api.send(method, path, content_type, body).await
    }
}

fn probe(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
}
