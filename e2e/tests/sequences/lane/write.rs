//! Sends the writes of a sequence, follows their operations, and stops them.

use std::time::Duration;

use anyhow::Result;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::Lane;
use crate::known::Asked;
use crate::model::configuration::Template;
use crate::model::options::Fingerprint;
use crate::moves::{Drift, Then, What, Write};
use crate::script::Request;
use crate::seen::text;
use crate::world::Answer;

/// No operation takes so long: its own time is ten seconds, or a minute.
const END: Duration = Duration::from_secs(150);
/// Between two tries of a request that found another operation at work.
const BETWEEN: Duration = Duration::from_millis(200);
const TRIES: usize = 100;

impl Lane {
    pub(super) async fn write(&mut self, write: &Write) -> Result<()> {
        let Some(request) = self.request(write).await? else {
            self.script
                .note(format!("nothing to do for {:?}", write.what));
            return Ok(());
        };
        self.known.ask(write.configuration(), &write.options);
        self.script.run(&request);
        let mut answer = self.sent(&request, write.options.keyed).await;
        if write.must_succeed {
            for _ in 0..TRIES {
                let Some(busy) = &answer else { break };
                let is_busy = busy.code() == Some("OPERATION_RUNNING")
                    || busy.status == StatusCode::SERVICE_UNAVAILABLE;
                if !is_busy {
                    break;
                }
                tokio::time::sleep(BETWEEN).await;
                answer = self.sent(&request, write.options.keyed).await;
            }
        }
        let Some(answer) = answer else {
            return Ok(());
        };
        self.note(&answer);
        if write.options.keyed {
            self.keyed.push((request, answer.clone()));
        }
        let Some(operation) = operation_of(&answer) else {
            if write.must_succeed {
                self.fault(
                    "refused",
                    format!(
                        "{:?} must succeed: {} {}",
                        write.what, answer.status, answer.body
                    ),
                );
            }
            return Ok(());
        };
        self.known.asked.insert(
            operation.clone(),
            Asked {
                options: write.options,
                configuration: write.configuration().cloned(),
            },
        );
        self.then(write, &operation).await
    }

    async fn then(&mut self, write: &Write, operation: &str) -> Result<()> {
        match write.then {
            Then::GoOn => return Ok(()),
            Then::Wait => {}
            Then::StopAfter(ms) => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                self.cancel(operation).await?;
            }
            Then::StopAt(step) => {
                let step = format!("\"step\":\"{step}\"");
                let reached = self.world.events_until(operation, &step);
                // A manager that was killed ends its streams; the operation is stopped wherever it is.
                let _ = tokio::time::timeout(END, reached).await;
                self.cancel(operation).await?;
            }
        }
        let ended = self.ended(operation).await?;
        if write.must_succeed && !ended["error"].is_null() {
            self.fault(
                "refused",
                format!("{:?} must succeed: {}", write.what, ended["error"]),
            );
        }
        Ok(())
    }

    /// Waits for an operation's end, and returns it.
    pub(super) async fn ended(&mut self, operation: &str) -> Result<Value> {
        let world = self.world.clone();
        let path = format!("/operations/{operation}");
        let what = format!("{path} to end");
        let done = e2e::until(&what, END, || async {
            let seen = world.read(&path).await?.body;
            anyhow::ensure!(seen["status"] == "DONE", "{seen}");
            Ok(seen)
        });
        match done.await {
            Ok(seen) => {
                self.script
                    .note(format!("{operation} ended: {}", outcome(&seen)));
                Ok(seen)
            }
            Err(error) => {
                self.fault("unfinished", format!("{error:#}"));
                Ok(Value::Null)
            }
        }
    }

    async fn cancel(&mut self, operation: &str) -> Result<()> {
        let request = Request::new(Method::POST, format!("/operations/{operation}/cancel"));
        self.script.run(&request);
        if let Some(answer) = self.sent(&request, false).await {
            self.note(&answer);
        }
        Ok(())
    }

    pub(super) async fn stop(&mut self, deployment: usize) -> Result<()> {
        let name = self.names.deployment(deployment);
        let request = Request::new(Method::POST, format!("/deployments/{name}/stop"));
        self.script.run(&request);
        if let Some(answer) = self.sent(&request, false).await {
            self.note(&answer);
        }
        Ok(())
    }

    /// The same key with the same request is the same operation. Its answer says that it is a repeat, or refuses.
    pub(super) async fn repeat(&mut self, index: usize) -> Result<()> {
        if self.keyed.is_empty() {
            return Ok(());
        }
        let (request, first) = self.keyed[index % self.keyed.len()].clone();
        self.script.run(format!("{request} # again"));
        let Some(again) = self.sent(&request, true).await else {
            return Ok(());
        };
        self.note(&again);
        if let (Some(before), Some(now)) = (operation_of(&first), operation_of(&again)) {
            if before != now {
                self.fault(
                    "repeat",
                    format!("the same key started {before} and then {now}"),
                );
            }
            let is_marked = again
                .headers
                .keys()
                .any(|name| name.as_str().contains("replay"));
            if !is_marked {
                self.fault(
                    "repeat",
                    format!(
                        "the answer to a repeat is not marked as one: {:?}",
                        again.headers
                    ),
                );
            }
        }
        Ok(())
    }

    /// The answer; nothing if none came. With a key it is sent until one comes.
    async fn sent(&mut self, request: &Request, keyed: bool) -> Option<Answer> {
        for _ in 0..TRIES {
            match self.world.send(request).await {
                Ok(answer) => {
                    self.judge(request, &answer);
                    return Some(answer);
                }
                Err(error) if keyed => {
                    self.script.note(format!("no answer ({error:#}); again"));
                    tokio::time::sleep(BETWEEN).await;
                }
                Err(error) => {
                    self.script.note(format!("no answer ({error:#})"));
                    return None;
                }
            }
        }
        None
    }

    /// 500 is never an answer; 503 is one only where something was taken away.
    fn judge(&mut self, request: &Request, answer: &Answer) {
        let is_explained = match answer.status.as_u16() {
            500 => false,
            503 => !self.world.is_calm(),
            _ => true,
        };
        if !is_explained {
            self.fault(
                "internal",
                format!("{request}: {} {}", answer.status, answer.body),
            );
        }
    }

    fn note(&mut self, answer: &Answer) {
        let (status, body) = (answer.status, &answer.body);
        let said = match (answer.code(), body["status"].as_str()) {
            (Some(code), _) => format!("{code}: {}{}", text(&body["message"]), causes(body)),
            (None, Some(_)) => format!("operation {}", text(&body["id"])),
            (None, None) => format!("state {}", text(&body["state"]["status"])),
        };
        self.script.note(format!("{status} {said}"));
    }

    /// Nothing where what it needs does not exist, such as a manifest to go back to.
    async fn request(&mut self, write: &Write) -> Result<Option<Request>> {
        let name = self.names.deployment(write.deployment);
        let path = format!("/deployments/{name}");
        let query = query(write);
        let request = match &write.what {
            What::Create(asked, drift) => {
                let mut body = asked.request(&self.names);
                body["name"] = json!(name);
                body["namespace"] = json!(self.names.namespaces()[0]);
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

/// The operation that an answer is about: the answer itself, or the deployment's last.
fn operation_of(answer: &Answer) -> Option<String> {
    if !answer.status.is_success() {
        return None;
    }
    let body = &answer.body;
    let own = body["id"].as_str().filter(|_| body["status"].is_string());
    own.or_else(|| body["operation"].as_str())
        .map(str::to_owned)
}

fn outcome(operation: &Value) -> String {
    let error = &operation["error"];
    let mut said = match error["code"].as_str() {
        None => "well".to_owned(),
        Some(code) => format!("{code}: {}{}", text(&error["message"]), causes(error)),
    };
    if operation["rollback"].is_object() {
        said.push_str(&format!("; rollback {}", operation["rollback"]));
    }
    for warning in operation["warnings"].as_array().into_iter().flatten() {
        said.push_str(&format!("; warning: {}", text(warning)));
    }
    said
}

fn causes(error: &Value) -> String {
    let causes = error["causes"].as_array().into_iter().flatten();
    causes
        .take(5)
        .map(|cause| format!(" | {}", text(&cause["message"])))
        .collect()
}
