//! What the document allows is not refused: requests made from its own schemas get no `INVALID_REQUEST`.

use common::api::error::ErrorCode;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use reqwest::Method;
use serde_json::{Value, json};

use super::driver::{Ask, Driver};
use super::making::{Made, Making};

/// Requests of each operation.
const CASES: u32 = 24;

/// What no schema can say: a part of the message, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "the page token is not one that this list gave",
        "tokens are opaque: only those that a page gave are tokens",
    ),
    (
        "is nothing that the commit of a preview",
        "the same request with content instead of manifest has these parameters",
    ),
    (
        "is no template reference",
        "a reference has several forms; the schema has only its length and its characters",
    ),
    (
        "is no path within a registry",
        "which paths a registry has is not in the schema",
    ),
    (
        "is not valid: use 1 to 253 lower-case letters",
        "a pattern of a subdomain cannot bound all of it",
    ),
    (
        "rollbackOnFailure is nothing that",
        "OpenAPI has no way to say that preview and rollbackOnFailure exclude each other",
    ),
];

fn exception(message: &str) -> bool {
    EXCEPTIONS.iter().any(|(part, _)| message.contains(part))
}

/// What it answers; none, if it is no request that a client can send.
async fn answer(
    http: &reqwest::Client,
    url: &str,
    method: &str,
    made: &Made,
) -> Option<(u16, String)> {
    let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
    let mut request = http.request(method, format!("{url}{}", made.path));
    for (name, value) in &made.headers {
        // Clients refuse to send what is no header.
        let value = reqwest::header::HeaderValue::from_str(value.trim()).ok()?;
        request = request.header(name.as_str(), value);
    }
    if let Some(body) = &made.body {
        request = request.json(body);
    }
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    // The events of an operation that goes on have no end.
    match response.headers()["content-type"] == "text/event-stream" {
        true => Some((status, String::new())),
        false => Some((status, response.text().await.unwrap())),
    }
}

fn judge(made: &Made, operation: &Value, status: u16, text: &str) -> Result<(), TestCaseError> {
    let refused = |reason: &str| {
        let name = operation["operationId"].as_str().unwrap_or_default();
        Err(TestCaseError::fail(format!(
            "{name} {reason}: {status} {text}\n{made:?}"
        )))
    };
    if !operation["responses"][status.to_string()].is_object() && status != 414 {
        return refused("gives an answer that is not documented");
    }
    if status >= 500 && status != 503 {
        return refused("fails");
    }
    if status != 400 {
        return Ok(());
    }
    let body: Value = serde_json::from_str(text).unwrap();
    let message = body["message"].as_str().unwrap_or_default();
    let is_of_request = body["code"] == ErrorCode::InvalidRequest.as_str();
    match is_of_request && !exception(message) {
        true => refused("refuses what the document allows"),
        false => Ok(()),
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "its requests are new with each run; run it by hand until its table of exceptions is complete"]
async fn what_the_document_allows_is_not_refused() {
    let mut driver = Driver::new().await;
    let content = json!({"resources": [{"name": "a", "type": "Service"}]}).to_string();
    let create = Ask {
        body: json!({"name": "web", "content": content}),
        ..Ask::default()
    };
    driver.json("POST", "/deployments", create).await;
    let making = Making {
        document: &driver.document,
        known: &[("deployment", "web"), ("type", "pair:v1")],
    };
    let http = common::client::http::builder().no_proxy().build().unwrap();
    let runtime = tokio::runtime::Handle::current();
    let mut faults = Vec::new();
    for (path, methods) in driver.document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let config = Config {
                cases: CASES,
                failure_persistence: None,
                max_shrink_iters: 200,
                ..Config::default()
            };
            let outcome = TestRunner::new(config).run(&making.requests(path, method), |made| {
                let asked = answer(&http, &driver.served.url, method, &made);
                match tokio::task::block_in_place(|| runtime.block_on(asked)) {
                    Some((status, text)) => judge(&made, operation, status, &text),
                    None => Ok(()),
                }
            });
            faults.extend(
                outcome
                    .err()
                    .map(|fault| format!("{method} {path}: {fault}")),
            );
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}
