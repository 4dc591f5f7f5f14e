//! The use case as a whole: what holds for every request, whatever its templates do.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends where it fails"
)]

use std::path::Path;
use std::time::Duration;

use common::api::error::ErrorCode;
use common::api::expander::ExpandRequest;
use common::model::Import;
use expandybird::engine::jinja;
use expandybird::expansion::Bounds;
use expandybird::sandbox::{self, Sandbox, SandboxOptions};
use expandybird::service::{Expander, Options};

/// Beside the program: `cargo build -p expandybird-worker` puts it there.
fn expander(timeout: Duration, jinja: jinja::Limits) -> Expander {
    let worker = Path::new(env!("CARGO_BIN_EXE_expandybird")).with_file_name("expandybird-worker");
    let sandbox = Sandbox::new(SandboxOptions {
        worker: Some(worker),
        python_path: None,
        allow_weak_lockdown: false,
        max_sessions: 2,
    });
    let options = Options {
        timeout,
        bounds: Bounds::default(),
        jinja,
        python: sandbox::Limits {
            memory_bytes: 256 << 20,
            cpu_seconds: 20,
            output_bytes: 1 << 20,
        },
    };
    Expander::new(options, sandbox.unwrap())
}

fn request(template: &str, content: &str) -> ExpandRequest {
    ExpandRequest {
        name: "config.yaml".to_owned(),
        content: format!("resources: [{{name: a, type: {template}}}]"),
        imports: vec![Import {
            name: template.to_owned(),
            path: None,
            content: content.to_owned(),
        }],
        ..ExpandRequest::default()
    }
}

const VARYING: &str = "\
import datetime, os, random, secrets, time, uuid

def GenerateConfig(context):
    return {'resources': [{'name': 'b', 'type': 'T', 'properties': {
        'random': [random.random(), secrets.token_hex(8), os.urandom(4).hex(), str(uuid.uuid4()), str(uuid.uuid1())],
        'time': [time.time(), time.monotonic(), str(datetime.datetime.now())],
        'set': list({'north', 'south', 'east', 'west'}),
        'hash': hash('text'),
        'z': 1, 'a': 2}}]}
";

#[tokio::test(flavor = "multi_thread")]
async fn the_same_request_gives_the_same_bytes() {
    let first = expander(Duration::from_secs(20), jinja::Limits::default());
    // Of another process, from another zygote.
    let second = expander(Duration::from_secs(20), jinja::Limits::default());
    let mut answers = Vec::new();
    for expander in [&first, &first, &second] {
        let answer = expander.expand(request("t.py", VARYING)).await;
        let answer = answer.unwrap_or_else(|error| panic!("{}", error.0));
        answers.push(serde_json::to_string(&answer).unwrap());
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rendering_past_the_deadline_is_told_and_the_next_request_is_served() {
    // Fuel would end the loop too, long after the deadline.
    let limits = jinja::Limits {
        fuel: 20_000_000,
        ..jinja::Limits::default()
    };
    let expander = expander(Duration::from_millis(200), limits);
    let inner = "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}";
    let late = expander.expand(request("t.jinja", inner)).await;
    match late {
        Err(error) => assert_eq!(error.0.code, ErrorCode::TemplateTimeout, "{}", error.0),
        Ok(answer) => panic!("{answer:?}"),
    }
    let next = expander
        .expand(request("t.jinja", "resources: []"))
        .await
        .unwrap_or_else(|error| panic!("{}", error.0));
    assert!(next.config.resources.is_empty());
}
