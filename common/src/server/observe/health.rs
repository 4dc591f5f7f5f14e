//! `GET /healthz` (the process answers) and the shape of `GET /readyz` (it can do its work).

use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use serde::{Deserialize, Serialize};

use crate::server::callers::access::Stranger;

/// One thing that a service depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Check {
    /// What it is: `store`, `expandybird`, `kubectl`.
    pub name: String,
    pub ready: bool,
    /// Why it is not ready and what to do, or what was found.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl Check {
    pub fn ready(name: &str, message: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            ready: true,
            message: message.into(),
        }
    }

    pub fn down(name: &str, message: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            ready: false,
            message: message.into(),
        }
    }

    /// Ready with a finding, or down with a reason.
    pub fn of<E: ToString>(name: &str, outcome: Result<String, E>) -> Self {
        match outcome {
            Ok(found) => Self::ready(name, found),
            Err(error) => Self::down(name, error.to_string()),
        }
    }
}

/// The body of `/readyz`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Readiness {
    pub ready: bool,
    pub checks: Vec<Check>,
}

impl Readiness {
    /// What the service misses, if it is not ready.
    pub fn fault(&self) -> Option<String> {
        if self.ready {
            return None;
        }
        let down = self.checks.iter().filter(|check| !check.ready);
        let missing: Vec<_> = down
            .map(|check| format!("{}: {}", check.name, check.message))
            .collect();
        Some(format!("it is not ready: {}", missing.join("; ")))
    }
}

/// 200 if all checks are ready, otherwise 503. The body lists all checks. Callers without authentication, like probes, receive
/// no messages, because these describe the inside of the service.
pub fn readiness(request: &HttpRequest, mut checks: Vec<Check>) -> HttpResponse {
    if request.extensions().contains::<Stranger>() {
        for check in &mut checks {
            check.message.clear();
        }
    }
    let ready = checks.iter().all(|check| check.ready);
    let mut answer = if ready {
        HttpResponse::Ok()
    } else {
        HttpResponse::ServiceUnavailable()
    };
    answer.json(Readiness { ready, checks })
}

/// 200 as long as the process answers.
pub async fn healthz() -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/plain; charset=utf-8")
        .body("ok\n")
}
