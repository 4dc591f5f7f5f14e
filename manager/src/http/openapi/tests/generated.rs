//! What the document allows is not refused: requests made from its own schemas get no `INVALID_REQUEST`.

use common::api::error::ErrorCode;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use reqwest::Method;
use serde_json::{Value, json};

use super::driver::{Ask, Driver};
use super::making::{Made, Making};

/// Requests of each operation.
const CASES: u32 = 24;

/// The same requests with each run; `DM_OPENAPI_SEED` gives others.
const SEED: u64 = 1;

/// What no schema can say: a part of the message, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "say what to follow",
        "OpenAPI has no way to say that one of two parameters is needed",
    ),
    (
        "the page token is not one that this list gave",
        "tokens are opaque: only those that a page gave are tokens",
    ),
    (
        "the label selector has",
        "a selector has a grammar of its own",
    ),
    (
        "the stored configuration has",
        "whether properties can be changed is up to the stored configuration",
    ),
    (
        "has no stored configuration that could be changed",
        "a deployment that is only previewed has none",
    ),
    (
        "is nothing that the commit of a preview",
        "the same request with content instead of manifest has these parameters",
    ),
    (
        "locked goes with content",
        "the same request with content instead of manifest has this parameter",
    ),
    (
        "is not a template reference",
        "a reference has several forms; the schema has only its length and its characters",
    ),
    (
        "is not a path within a registry",
        "which paths a registry has is not in the schema",
    ),
    (
        "is not a template with its version",
        "a reference has several forms; the schema has only its length and its characters",
    ),
    (
        "type \"",
        "a template's name counts together with its registry's",
    ),
    (
        "a character that a header cannot carry",
        "only some kinds of secrets become headers",
    ),
    (
        "the service account's key file is not valid",
        "a key file is a JSON text of its own",
    ),
    (
        "cannot be registered",
        "which registries the operator allows, and how each type writes its address, is not in the schema",
    ),
    (
        "cannot be previewed; give them with the commit",
        "OpenAPI has no way to say that preview excludes description, labels and driftPolicy",
    ),
    (
        "rollbackOnFailure is nothing that",
        "OpenAPI has no way to say that preview and rollbackOnFailure exclude each other",
    ),
    (
        "has test hooks",
        "which charts a deployment has is not in the schema",
    ),
    (
        "a name needs exactly one kind",
        "OpenAPI has no way to say that a parameter needs another one",
    ),
    (
        "predecessor is nothing that",
        "OpenAPI has no way to say that preview and predecessor exclude each other",
    ),
    (
        "with \"name\"; otherwise",
        "OpenAPI has no way to say that a parameter needs another one",
    ),
    (
        "there is no credential '",
        "which credentials are stored is not in the schema",
    ),
    (
        "there is no cluster '",
        "which clusters are registered is not in the schema",
    ),
    (
        "is refused: its ",
        "which addresses and authorities a cluster can have is not in the schema",
    ),
    (
        "the path names cluster '",
        "OpenAPI has no way to say that a name in the body is that of the path",
    ),
    (
        "and an update cannot move it to",
        "which cluster a deployment is on is not in the schema",
    ),
    (
        "names no generated value",
        "which values a manifest has, only the manager knows",
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
        // Clients refuse to send what is not a header.
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
    if !operation["responses"][status.to_string()].is_object() {
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

#[expect(clippy::disallowed_methods, reason = "a test has no flags of its own")]
fn seed() -> u64 {
    let given = std::env::var("DM_OPENAPI_SEED");
    let seed = given.map_or(SEED, |text| text.parse().unwrap());
    println!("DM_OPENAPI_SEED={seed}");
    seed
}

fn runner(seed: u64) -> TestRunner {
    let config = Config {
        cases: CASES,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    let seed = [seed.to_be_bytes(); 4].concat();
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
}

#[tokio::test(flavor = "multi_thread")]
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
    let (seed, mut faults) = (seed(), Vec::new());
    for (path, methods) in driver.document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let outcome = runner(seed).run(&making.requests(path, method), |made| {
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
