//! Template objects processed by a manager over HTTP, beside OpenShift's own processor behind a pipe: the same documents
//! in, the same objects out, in turn in one run.
//!
//! `make bench` builds in release mode and runs this. Times are medians over the runs, with the fastest and slowest.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use e2e::program::{Service, checkout};
use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};

#[path = "../../expandybird/gotemplate/tests/support/go.rs"]
#[expect(clippy::panic, reason = "tests share it")]
mod go;
#[path = "registries/times.rs"]
mod times;

use times::{Times, row};

const PATIENCE: Duration = Duration::from_secs(60);

/// A Template to process.
struct Case {
    objects: usize,
    parameters: usize,
    runs: usize,
    /// The median of ours that issue and specification ask for, in milliseconds.
    goal: f64,
}

const CASES: [Case; 2] = [
    Case {
        objects: 10,
        parameters: 12,
        runs: 2_000,
        goal: 1.0,
    },
    Case {
        objects: 1_000,
        parameters: 50,
        runs: 200,
        goal: 20.0,
    },
];

#[tokio::main]
async fn main() -> Result<()> {
    // `cargo test --benches` asks for a list or a dry run; there is nothing to test here.
    if !std::env::args().any(|arg| arg == "--bench") {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let arguments = ["--store", "memory"].map(str::to_owned).to_vec();
    let mut manager = Service::start("manager", folder.path(), arguments).await?;
    println!("| what | ours | instead | ours / instead |\n|---|---|---|---|");
    for case in &CASES {
        measure(&manager.url(), case).await?;
    }
    manager.stop().await?;
    Ok(())
}

async fn measure(url: &str, case: &Case) -> Result<()> {
    let template = template(case);
    let client = Client::new(url, &template)?;
    let mut original = Original::start()?;
    let line = format!("{template}\n");
    let [mut ours, mut instead] = [Times::default(), Times::default()];
    // The first ones warm both sides up, and show that both do the work.
    for _ in 0..case.runs.div_ceil(10) {
        ensure!(client.process(case).await? == original.process(&line, case)?);
    }
    for _ in 0..case.runs {
        ours.of(async { client.send().await.map(drop) }).await?;
        instead
            .of(async { original.answer(&line).map(drop) })
            .await?;
    }
    let Case {
        objects,
        parameters,
        goal,
        ..
    } = case;
    let what = format!(
        "process {objects} objects and {parameters} parameters (goal {goal} ms), OpenShift's processor"
    );
    row(&what, &ours, &instead);
    Ok(())
}

/// Every object refers to some parameters; the last parameter is generated.
fn template(case: &Case) -> Value {
    let name = |number: usize| format!("PARAMETER_{}", number % (case.parameters - 1));
    let parameter = |number: usize| json!({"name": name(number), "displayName": "A setting", "value": format!("value-{number}"), "required": true});
    let mut parameters: Vec<_> = (0..case.parameters - 1).map(parameter).collect();
    parameters
        .push(json!({"name": "PASSWORD", "generate": "expression", "from": "[a-zA-Z0-9]{16}"}));
    let reference = |number: usize| format!("${{{}}}", name(number));
    let object = |number: usize| {
        let environment = |nth: usize| json!({"name": format!("SETTING_{nth}"), "value": format!("{}-{nth}", reference(number + nth))});
        json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": format!("web-{number}"), "annotations": {"note": format!("{} and {}", reference(number), reference(number + 1))}},
            "spec": {"replicas": 1, "selector": {"matchLabels": {"name": format!("web-{number}")}},
                "template": {"metadata": {"labels": {"name": format!("web-{number}")}}, "spec": {"containers": [
                    {"name": "web", "image": format!("registry.example.test/{}", reference(number)),
                        "env": (0..5).map(environment).collect::<Vec<_>>()}]}}}})
    };
    json!({"kind": "Template", "apiVersion": "template.openshift.io/v1", "metadata": {"name": "bench"},
        "labels": {"app": reference(0)}, "message": "The password is ${PASSWORD}.",
        "parameters": parameters, "objects": (0..case.objects).map(object).collect::<Vec<_>>()})
}

/// One connection to the manager.
struct Client {
    http: reqwest::Client,
    url: String,
    body: String,
}

impl Client {
    fn new(url: &str, template: &Value) -> Result<Self> {
        Ok(Self {
            http: common::client::http::builder().timeout(PATIENCE).build()?,
            url: format!("{url}/processedtemplates"),
            body: template.to_string(),
        })
    }

    async fn send(&self) -> Result<Vec<u8>> {
        let request = self.http.post(&self.url).body(self.body.clone());
        let request = request.header(CONTENT_TYPE, "application/json");
        let answer = request.send().await?;
        let status = answer.status();
        let body = answer.bytes().await?;
        let text = String::from_utf8_lossy(&body);
        ensure!(status == StatusCode::CREATED, "{status}: {text}");
        Ok(body.to_vec())
    }

    /// The objects.
    async fn process(&self, case: &Case) -> Result<Value> {
        objects(serde_json::from_slice(&self.send().await?)?, case)
    }
}

/// The original, which answers each line with a line.
struct Original {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Original {
    fn start() -> Result<Self> {
        let folder = checkout().join("expandybird/templateobject/tests/oracle");
        let program = go::build(&folder.display().to_string(), "templateobject-oracle");
        let mut command = Command::new(program);
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        Ok(Self {
            input: process.stdin.take().context("no standard input")?,
            output: BufReader::new(process.stdout.take().context("no standard output")?),
            process,
        })
    }

    fn answer(&mut self, line: &str) -> Result<String> {
        self.input.write_all(line.as_bytes())?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        ensure!(!answer.is_empty(), "the original has ended");
        Ok(answer)
    }

    fn process(&mut self, line: &str, case: &Case) -> Result<Value> {
        objects(serde_json::from_str(&self.answer(line)?)?, case)
    }
}

impl Drop for Original {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn objects(mut answer: Value, case: &Case) -> Result<Value> {
    let objects = answer["objects"].take();
    let count = objects.as_array().map_or(0, Vec::len);
    ensure!(count == case.objects, "{count} objects: {answer}");
    Ok(objects)
}
