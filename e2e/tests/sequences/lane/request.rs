//! The request of a write.

use anyhow::Result;
use reqwest::Method;
use serde_json::json;

use super::Lane;
use crate::model::configuration::Template;
use crate::model::options::Fingerprint;
use crate::moves::{Drift, Then, What, Write};
use crate::script::Request;

impl Lane {
    /// Nothing where what it needs does not exist, such as a manifest to go back to.
    pub(super) async fn request(&mut self, write: &Write) -> Result<Option<Request>> {
        let name = self.names.deployment(write.deployment);
        let path = format!("/deployments/{name}");
        let query = query(write);
        let request = match &write.what {
            What::Create(asked, drift) => {
                let mut body = asked.request(&self.names);
                body["name"] = json!(name);
                body["namespace"] = json!(self.names.namespaces()[0]);
                if write.options.in_account {
                    body["serviceAccount"] = json!(self.names.account());
                }
                if *drift == Drift::Correct {
                    body["driftPolicy"] = json!("CORRECT");
                }
                Request::new(Method::POST, format!("/deployments{query}")).body(body)
            }
            What::Update(asked) | What::Preview(asked) => {
                Request::new(Method::PUT, format!("{path}{query}")).body(asked.request(&self.names))
            }
            What::Upgrade(version) => Request::new(Method::POST, format!("{path}/upgrade{query}"))
                .body(json!({"template": Template::reference(*version)})),
            What::Commit => {
                let preview = self.field(&path, "preview").await?;
                let Some(preview) = preview else {
                    return Ok(None);
                };
                Request::new(Method::PUT, format!("{path}{query}"))
                    .body(json!({"manifest": preview}))
            }
            What::DropPreview => Request::new(Method::DELETE, format!("{path}/preview")),
            What::Rollback(back) => {
                let manifests = self
                    .world
                    .read(&format!("{path}/manifests?limit=100"))
                    .await?;
                let manifests = manifests.body["items"]
                    .as_array()
                    .cloned()
                    .unwrap_or_default();
                let Some(to) = manifests.iter().rev().nth(*back) else {
                    return Ok(None);
                };
                Request::new(Method::POST, format!("{path}/rollback{query}"))
                    .body(json!({"manifest": to["name"]}))
            }
            What::Delete => Request::new(Method::DELETE, format!("{path}{query}")),
            What::Expand(asked) => {
                let mut body = asked.request(&self.names);
                body["name"] = json!(name);
                return Ok(Some(
                    Request::new(Method::POST, "/expand".to_owned()).body(body),
                ));
            }
        };
        Ok(Some(self.with_headers(write, request, &path).await?))
    }

    async fn with_headers(&self, write: &Write, request: Request, path: &str) -> Result<Request> {
        let mut request = request;
        let options = &write.options;
        // Who does not wait for the end wants to know the operation at once.
        if !(options.synchronous && write.then == Then::Wait) {
            request = request.header("prefer", "respond-async");
        }
        if options.keyed {
            request = request.header("idempotency-key", common::request_id::fresh());
        }
        let fingerprint = match options.fingerprint {
            Fingerprint::None => None,
            Fingerprint::Stale => Some("stale".to_owned()),
            Fingerprint::Present => self.field(path, "fingerprint").await?,
        };
        if let Some(fingerprint) = fingerprint.filter(|_| !matches!(write.what, What::Create(..))) {
            request = request.header("if-match", format!("\"{fingerprint}\""));
        }
        Ok(request)
    }

    async fn field(&self, path: &str, field: &str) -> Result<Option<String>> {
        let answer = self.world.read(path).await?;
        Ok(answer.body[field].as_str().map(str::to_owned))
    }
}

/// Only what this kind of write takes: more is refused.
fn query(write: &Write) -> String {
    let (what, options) = (&write.what, &write.options);
    let changes = matches!(
        what,
        What::Create(..) | What::Update(_) | What::Upgrade(_) | What::Commit | What::Rollback(_)
    );
    let mut pairs: Vec<(&str, String)> = Vec::new();
    for (name, policy) in options.policies.set() {
        let taken = match what {
            What::Delete => name == "deletePolicy",
            What::Commit => false,
            _ => true,
        };
        if taken {
            pairs.push((name, policy.to_owned()));
        }
    }
    if let Some(timeout) = options.timeout_ms {
        pairs.push(("timeoutMs", timeout.to_string()));
    }
    if matches!(what, What::Preview(_)) {
        pairs.push(("preview", "true".to_owned()));
    }
    if options.allow_deletes && changes && !matches!(what, What::Create(..) | What::Commit) {
        pairs.push(("allowDeletes", "true".to_owned()));
    }
    if options.rollback_on_failure && matches!(what, What::Create(..) | What::Update(_)) {
        pairs.push(("rollbackOnFailure", "true".to_owned()));
    }
    let pairs: Vec<_> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    match pairs.is_empty() {
        true => String::new(),
        false => format!("?{}", pairs.join("&")),
    }
}
