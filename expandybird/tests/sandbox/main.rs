//! Python templates in their processes: what they may do, what they may not, and what is left after them.
//!
//! Needs the worker program built beside the tests, as `cargo test --workspace` does.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

mod attacks;
mod failures;
mod hermetic;
mod isolation;
mod lifetime;
mod modules;
mod results;
mod support;
mod wild;

use expandybird::sandbox::{SandboxError, TemplateResult};
use serde_json::Value;
use support::{Request, sandbox};

async fn result(request: Request) -> Result<Value, SandboxError> {
    let sandbox = sandbox().await;
    let output = request.run(&sandbox).await?;
    match output.result {
        TemplateResult::Data(value) => Ok(value),
        TemplateResult::Text(text) => Ok(Value::String(text)),
    }
}

/// The body of a `GenerateConfig(context)`.
fn body(lines: &str) -> Request {
    let indented: Vec<String> = lines.lines().map(|line| format!("    {line}")).collect();
    Request::template(&format!(
        "def GenerateConfig(context):\n{}\n",
        indented.join("\n")
    ))
}

async fn error(request: Request) -> SandboxError {
    match result(request).await {
        Ok(value) => panic!("expected an error, the template returned {value}"),
        Err(error) => error,
    }
}

async fn result_of(sandbox: &expandybird::sandbox::Sandbox, code: &str) -> Value {
    match body(code).run(sandbox).await.unwrap().result {
        TemplateResult::Data(value) => value,
        TemplateResult::Text(text) => Value::String(text),
    }
}
