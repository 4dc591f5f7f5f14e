//! Sends the writes of a sequence, follows their operations, and stops them.

use std::time::Duration;

use anyhow::Result;
use reqwest::{Method, StatusCode};
use serde_json::Value;

use super::Lane;
use crate::known::Asked;
use crate::moves::{Then, Write};
use crate::script::Request;
use crate::seen::text;
use crate::world::Answer;

/// No operation takes so long: its own time is ten seconds, or a minute.
const END: Duration = Duration::from_secs(150);
/// Between two tries of a request that found another operation at work.
const BETWEEN: Duration = Duration::from_millis(200);
const TRIES: usize = 100;
/// A busy machine may be too slow for one operation, and not for one after the other.
const SLOW_TRIES: usize = 2;
/// How operations end that found a service or the cluster gone for too long.
const UNAVAILABLE: [&str; 3] = [
    "DEPLOYER_UNAVAILABLE",
    "EXPANDER_UNAVAILABLE",
    "CLUSTER_UNAVAILABLE",
];

/// Why a write did not do what it was asked to.
struct Refusal {
    why: String,
    /// How often the same write may be sent again, since it may succeed a moment later.
    tries: usize,
}

impl Lane {
    /// A write that must succeed is repeated while another operation runs, or while a service that was struck starts again.
    pub(super) async fn write(&mut self, write: &Write) -> Result<()> {
        let mut refused = self.attempt(write).await?;
        if !write.must_succeed {
            return Ok(());
        }
        for tried in 0.. {
            if refused
                .as_ref()
                .is_none_or(|refusal| refusal.tries <= tried)
            {
                break;
            }
            tokio::time::sleep(BETWEEN).await;
            refused = self.attempt(write).await?;
        }
        if let Some(refusal) = refused {
            let what = format!("{:?} must succeed: {}", write.what, refusal.why);
            self.fault("refused", what);
        }
        Ok(())
    }

    async fn attempt(&mut self, write: &Write) -> Result<Option<Refusal>> {
        let Some(request) = self.request(write).await? else {
            self.script
                .note(format!("nothing to do for {:?}", write.what));
            return Ok(None);
        };
        self.known.ask(write.configuration(), &write.options);
        self.script.run(&request);
        let Some(answer) = self.sent(&request, write.options.keyed).await else {
            return Ok(None);
        };
        self.note(&answer);
        if write.options.keyed {
            self.keyed.push((request, answer.clone()));
        }
        let Some(operation) = operation_of(&answer) else {
            return Ok(Some(Refusal {
                why: format!("{} {}", answer.status, answer.body),
                tries: match answer.code() {
                    Some("OPERATION_RUNNING") => TRIES,
                    _ if answer.status == StatusCode::SERVICE_UNAVAILABLE => TRIES,
                    _ => 0,
                },
            }));
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

    async fn then(&mut self, write: &Write, operation: &str) -> Result<Option<Refusal>> {
        match write.then {
            Then::GoOn => return Ok(None),
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
        let error = &ended["error"];
        Ok((!error.is_null()).then(|| Refusal {
            why: error.to_string(),
            tries: self.tries(error),
        }))
    }

    /// How often an operation that ended like this is begun again.
    fn tries(&self, error: &Value) -> usize {
        match error["code"].as_str() {
            Some("TIMEOUT") => SLOW_TRIES,
            Some(code) if UNAVAILABLE.contains(&code) && !self.world.is_calm() => TRIES,
            _ => 0,
        }
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
