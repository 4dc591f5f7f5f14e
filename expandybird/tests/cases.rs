//! Runs every folder of `tests/cases/`: `config.yaml` with the files beside it must expand to
//! `expected.yaml` (only the keys that stand in it are compared; `origins` has those of the layout), or fail as `error.txt` says:
//! its first line is the code, the second the place `file:line:column resource path`, every
//! further one is found in the message or in a cause.
//!
//! Facts that need no folder of their own are in `facts.yaml`.
//!
//! `cluster.yaml` says what charts see of a cluster, `env.yaml` gives the environment, `imports.yaml` maps names to paths where they differ, `scopes.yaml` says where the
//! short references in a template lead,
//! `values.yaml` has the values of earlier expansions and the seed of others.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends where it fails"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::api::error::ErrorBody;
use common::api::expander::ExpandRequest;
use common::api::plan::PlanRequest;
use common::model::{Import, Origin};
use common::yaml::{self, Duplicates, Limits};
use expandybird::engine::jinja;
use expandybird::input::Bounds;
use expandybird::process;
use expandybird::sandbox::{self, Sandbox, SandboxOptions};
use expandybird::service::{Expander, Options};
use serde_json::{Map, Value};

const OWN: [&str; 9] = [
    "config.yaml",
    "plans.yaml",
    "expected.yaml",
    "error.txt",
    "cluster.yaml",
    "env.yaml",
    "imports.yaml",
    "scopes.yaml",
    "values.yaml",
];

/// Beside the program: `cargo build -p expandybird-worker` puts it there.
fn worker() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_expandybird")).with_file_name("expandybird-worker")
}

fn expander() -> Expander {
    let sandbox = Sandbox::new(SandboxOptions {
        worker: Some(worker()),
        python_path: None,
        allow_weak_lockdown: false,
        max_sessions: 2,
    });
    let limits = process::Limits {
        bounds: Bounds::default(),
        jinja: jinja::Limits::default(),
        python: sandbox::Limits {
            memory_bytes: 256 << 20,
            cpu_seconds: 20,
            output_bytes: 1 << 20,
        },
        memory_bytes: 256 << 20,
    };
    let options = Options {
        timeout: Duration::from_secs(20),
        at_once: 2,
        limits,
        program: Some(env!("CARGO_BIN_EXE_expandybird").into()),
    };
    Expander::new(options, sandbox.unwrap()).unwrap()
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    yaml::read(&text, &Limits::DEFAULT, Duplicates::Error)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .value
}

fn files(folder: &Path, within: &Path, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(within).unwrap() {
        let path = entry.unwrap().path();
        let name = path
            .strip_prefix(folder)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        match path.is_dir() {
            true => files(folder, &path, found),
            false if OWN.contains(&name.as_str()) => {}
            false => {
                found.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
}

fn request(folder: &Path) -> ExpandRequest {
    let mut found = BTreeMap::new();
    files(folder, folder, &mut found);
    let names = folder.join("imports.yaml");
    let names = if names.exists() {
        read(&names)
    } else {
        Value::Null
    };
    let name_of = |path: &str| {
        let named = names
            .as_object()
            .into_iter()
            .flatten()
            .find(|(_, value)| value.as_str() == Some(path));
        named.map_or_else(|| path.to_owned(), |(name, _)| name.clone())
    };
    let env = folder.join("env.yaml");
    let env = if env.exists() {
        read(&env)
    } else {
        Value::Null
    };
    let scopes = folder.join("scopes.yaml");
    let scopes = match scopes.exists() {
        true => serde_json::from_value(read(&scopes)).unwrap(),
        false => BTreeMap::new(),
    };
    let values = folder.join("values.yaml");
    let values = match values.exists() {
        true => read(&values),
        false => Value::Null,
    };
    let cluster = folder.join("cluster.yaml");
    let cluster = match cluster.exists() {
        true => read(&cluster),
        false => Value::Null,
    };
    let seen = |key: &str| cluster.get(key).cloned();
    ExpandRequest {
        capabilities: seen("capabilities").map(|seen| serde_json::from_value(seen).unwrap()),
        charts: seen("charts").map_or_else(Vec::new, |seen| serde_json::from_value(seen).unwrap()),
        lookups: seen("lookups").map(|seen| serde_json::from_value(seen).unwrap()),
        values: match values.get("values") {
            Some(values) => serde_json::from_value(values.clone()).unwrap(),
            None => Vec::new(),
        },
        seed: values
            .get("seed")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        name: "config.yaml".to_owned(),
        content: std::fs::read_to_string(folder.join("config.yaml")).unwrap(),
        imports: found
            .into_iter()
            .map(|(path, content)| Import {
                name: name_of(&path),
                path: Some(path),
                content,
            })
            .collect(),
        env: env.as_object().cloned().unwrap_or_else(Map::new),
        scopes,
        plans: match folder.join("plans.yaml") {
            plans if plans.exists() => serde_json::from_value(read(&plans)).unwrap(),
            _ => PlanRequest::default(),
        },
        texts: false,
    }
}

fn check_error(error: &ErrorBody, expected: &str) -> Result<(), String> {
    let location = error.location.clone().unwrap_or_default();
    let place = format!(
        "{location} {} {}",
        location.resource.clone().unwrap_or_default(),
        location.path.clone().unwrap_or_default()
    );
    let causes: Vec<_> = error
        .causes
        .iter()
        .map(|cause| {
            format!(
                "{} {}",
                cause
                    .location
                    .clone()
                    .unwrap_or_default()
                    .path
                    .unwrap_or_default(),
                cause.message
            )
        })
        .collect();
    let reported = format!(
        "{}\n{place}\n{}\n{}",
        error.code,
        error.message,
        causes.join("\n")
    );
    let mut lines = reported.lines();
    for (index, line) in expected.lines().enumerate() {
        let fits = match index {
            0 | 1 => lines.next() == Some(line),
            _ => reported.contains(line),
        };
        if !fits {
            return Err(format!("expected {line:?} in:\n{reported}"));
        }
    }
    Ok(())
}

/// Moves the origins of layout nodes to a map by their paths, because most cases are not about them.
fn take_origins(node: &mut Value, path: &str, found: &mut Map<String, Value>) {
    let children = node.get_mut("resources").and_then(Value::as_array_mut);
    for (index, child) in children.into_iter().flatten().enumerate() {
        let path = format!("{path}.resources[{index}]");
        let origin = child.as_object_mut().unwrap().remove("origin").unwrap();
        let origin: Origin = serde_json::from_value(origin).unwrap();
        found.insert(path.clone(), Value::from(origin.to_string()));
        take_origins(child, &path, found);
    }
}

fn check_answer(answer: &Value, expected: &Value) -> Result<(), String> {
    let (mut answer, mut origins) = (answer.clone(), Map::new());
    take_origins(&mut answer["layout"], "$", &mut origins);
    answer["origins"] = Value::from(origins);
    for (key, expected) in expected.as_object().into_iter().flatten() {
        let found = answer
            .get(key)
            .or_else(|| answer["config"].get(key))
            .unwrap_or(&Value::Null);
        let written = |value| yaml::write(value).unwrap();
        if written(found) != written(expected) {
            return Err(format!(
                "{key}: expected\n{}found\n{}",
                written(expected),
                written(found)
            ));
        }
    }
    Ok(())
}

async fn check(expander: &Expander, folder: &Path) -> Result<(), String> {
    let outcome = expander.expand(request(folder)).await;
    let error = folder.join("error.txt");
    match outcome {
        Err(found) if error.exists() => {
            check_error(&found.0, &std::fs::read_to_string(error).unwrap())
        }
        Err(found) => Err(format!("failed: {:#?}", found.0)),
        Ok(_) if error.exists() => Err("expanded, and should have failed".to_owned()),
        Ok(answer) => check_answer(
            &serde_json::to_value(answer).unwrap(),
            &read(&folder.join("expected.yaml")),
        ),
    }
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::disallowed_methods, reason = "a test has no flags of its own")]
async fn every_case_expands_or_fails_as_it_says() {
    let expander = expander();
    assert!(
        worker().exists(),
        "build it first: cargo build -p expandybird-worker"
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let only = std::env::var("CASE").unwrap_or_default();
    let mut failures = Vec::new();
    let mut folders: Vec<_> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    for folder in folders {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        if !name.contains(&only) {
            continue;
        }
        if let Err(failure) = check(&expander, &folder).await {
            failures.push(format!("── {name}: {failure}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A fact's request: its files are imports under their own names.
fn request_of(fact: &Value) -> ExpandRequest {
    let files = fact["files"].as_object().into_iter().flatten();
    ExpandRequest {
        name: "config.yaml".to_owned(),
        content: fact["config"].as_str().unwrap().to_owned(),
        imports: files
            .map(|(name, content)| Import {
                name: name.clone(),
                path: None,
                content: content.as_str().unwrap().to_owned(),
            })
            .collect(),
        env: fact["env"].as_object().cloned().unwrap_or_default(),
        ..ExpandRequest::default()
    }
}

fn check_sentences(error: &ErrorBody, sentences: &Value) -> Result<(), String> {
    let reported = serde_json::to_value(error).unwrap();
    let mut places = vec![error.location.clone().unwrap_or_default()];
    places.extend(
        error
            .causes
            .iter()
            .filter_map(|cause| cause.location.clone()),
    );
    let places: Vec<_> = places
        .iter()
        .map(|place| format!("{place} {}", place.path.clone().unwrap_or_default()))
        .collect();
    let causes: Vec<_> = error.causes.iter().map(|cause| &cause.message).collect();
    let text = format!("{}\n{causes:?}\n{}", error.message, places.join("\n"));
    let plain = text.replace("\\\"", "\"");
    let missing = sentences.as_array().into_iter().flatten().find(|sentence| {
        let sentence = sentence.as_str().unwrap();
        !text.contains(sentence) && !plain.contains(sentence)
    });
    match missing {
        Some(missing) => Err(format!("expected {missing} in {reported:#}")),
        None => Ok(()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fact_of_the_table_holds() {
    let expander = expander();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/facts.yaml");
    let mut failures = Vec::new();
    for fact in read(&path).as_array().unwrap() {
        let outcome = expander.expand(request_of(fact)).await;
        let checked = match (outcome, fact.get("fails")) {
            (Err(error), Some(sentences)) => check_sentences(&error.0, sentences),
            (Ok(_), Some(_)) => Err("expanded, and should have failed".to_owned()),
            (Ok(answer), None) => {
                check_answer(&serde_json::to_value(answer).unwrap(), &fact["expands"])
            }
            (Err(error), None) => Err(format!("failed: {:#?}", error.0)),
        };
        failures.extend(
            checked
                .err()
                .map(|why| format!("── {}: {why}", fact["fact"])),
        );
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
