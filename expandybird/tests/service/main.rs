//! The use case as a whole: what holds for every request, whatever its templates do.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends where it fails"
)]

mod attacks;
mod lost;
#[path = "../support/requests.rs"]
mod requests;
mod routes;
mod secrets;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use common::api::error::ErrorCode;
use common::model::Import;
use common::yaml::{self, Duplicates};
use expandybird::engine::jinja;
use expandybird::input::Bounds;
use expandybird::process::Limits;
use expandybird::sandbox::{self, Sandbox, SandboxOptions};
use expandybird::service::{Expander, Options};
use requests::{HARMLESS, request, request_of};
use serde_json::Value;

/// Beside the program: `cargo build -p expandybird-worker` puts it there.
fn expander(timeout: Duration, jinja: jinja::Limits) -> Expander {
    let worker = Path::new(env!("CARGO_BIN_EXE_expandybird")).with_file_name("expandybird-worker");
    let sandbox = Sandbox::new(SandboxOptions {
        worker: Some(worker),
        python_path: None,
        allow_weak_lockdown: false,
        max_sessions: 2,
    });
    let limits = Limits {
        bounds: Bounds::default(),
        jinja,
        python: sandbox::Limits {
            memory_bytes: 256 << 20,
            cpu_seconds: 20,
            output_bytes: 1 << 20,
        },
        memory_bytes: 256 << 20,
    };
    let options = Options {
        timeout,
        at_once: 2,
        limits,
        program: Some(env!("CARGO_BIN_EXE_expandybird").into()),
    };
    Expander::new(options, sandbox.unwrap()).unwrap()
}

/// What `expandybird expand FILE` prints.
fn expanded_without_a_server(file: &Path) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_expandybird"))
        .args(["expand", "--env", "deployment=d"])
        .arg(file)
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    let text = String::from_utf8(output.stdout).unwrap();
    yaml::read(&text, &yaml::Limits::DEFAULT, Duplicates::Error)
        .unwrap()
        .value
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_expands_without_a_server_to_the_same_with_the_imports_beside_it() {
    let template = "resources: [{name: {{ env.deployment }}-{{ properties.n }}, type: T}]";
    let schema = "properties: {n: {default: 7}}";
    let config = "imports: [{path: t.jinja}]\nresources: [{name: a, type: t.jinja}]\n";
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("config.yaml", config),
        ("t.jinja", template),
        ("t.jinja.schema", schema),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let local = expanded_without_a_server(&folder.path().join("config.yaml"));

    let mut same = request("t.jinja", template);
    same.content = config.to_owned();
    same.imports.push(Import {
        name: "t.jinja.schema".to_owned(),
        path: None,
        content: schema.to_owned(),
    });
    same.env.insert("deployment".to_owned(), "d".into());
    let answer = expander(Duration::from_secs(60), jinja::Limits::default())
        .expand(same)
        .await
        .unwrap_or_else(|error| panic!("{}", error.0));
    assert_eq!(answer.config.resources[0].name.as_str(), "d-7");
    // Without a server, the origins have the paths as they were given.
    let folder = format!("{}/", folder.path().display());
    assert_eq!(
        local.to_string().replace(&folder, ""),
        serde_json::to_value(answer).unwrap().to_string()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn configurations_and_properties_of_megabytes_expand_in_every_language() {
    const BYTES: usize = 3 << 20;
    let text = "x".repeat(BYTES);
    let jinja = "resources: [{name: b, type: T, properties: {n: {{ properties.text|length }}}}]";
    let python = "def GenerateConfig(context):\n    return {'resources': [\n        \
                  {'name': 'b', 'type': 'T', 'properties': {'n': len(context.properties['text'])}}]}\n";
    let expander = expander(Duration::from_secs(60), jinja::Limits::default());
    for (name, template) in [("t.jinja", jinja), ("t.py", python)] {
        let configuration =
            format!("resources: [{{name: a, type: {name}, properties: {{text: {text}}}}}]");
        let answer = expander
            .expand(request_of(&configuration, &[(name, template)]))
            .await;
        let answer = answer.unwrap_or_else(|error| panic!("{name}: {}", error.0));
        let shown = serde_json::to_value(&answer.config.resources[0]).unwrap();
        assert_eq!(shown["properties"]["n"], BYTES, "{name}");
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
    let first = expander(Duration::from_secs(60), jinja::Limits::default());
    // Of another process, from another zygote.
    let second = expander(Duration::from_secs(60), jinja::Limits::default());
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
        .expand(request("t.jinja", HARMLESS))
        .await
        .unwrap_or_else(|error| panic!("{}", error.0));
    assert_eq!(next.config.resources[0].name.as_str(), "a-b");
}

const VARYING_JINJA: &str = "\
resources:
{% for k, v in {'b': 1, 'a': 2, 'c': [3, 1]}.items() %}
- {name: {{ k }}, type: T, properties: {v: {{ v }}}}
{% endfor %}
- {name: r, type: T, properties: {r: {{ range(1000)|list|random }}, l: '{{ lipsum(1, false) }}', u: {{ [3, 1, 3]|unique|list }}, p: {{ properties }}}}
";

#[tokio::test(flavor = "multi_thread")]
async fn the_same_jinja_template_gives_the_same_bytes() {
    let configuration =
        "resources: [{name: a, type: t.jinja, properties: {z: 1, a: {y: 2, b: [x]}}}]";
    let first = expander(Duration::from_secs(60), jinja::Limits::default());
    let second = expander(Duration::from_secs(60), jinja::Limits::default());
    let mut answers = Vec::new();
    for expander in [&first, &first, &second] {
        let request = request_of(configuration, &[("t.jinja", VARYING_JINJA)]);
        let answer = expander.expand(request).await;
        let answer = answer.unwrap_or_else(|error| panic!("{}", error.0));
        answers.push(serde_json::to_string(&answer).unwrap());
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
}
