//! One request to a sandbox, built step by step.

use std::path::{Path, PathBuf};
use std::time::Duration;

use expandybird::sandbox::{
    Call, Import, Limits, Open, Output, Sandbox, SandboxError, SandboxOptions, Session,
};
use serde_json::{Map, Value};
use tokio::time::Instant;

/// Far more than any test takes.
const PATIENCE: Duration = Duration::from_secs(30);

pub async fn sandbox() -> Sandbox {
    sandbox_of(8).await
}

pub async fn sandbox_of(max_sessions: usize) -> Sandbox {
    Sandbox::start(options(&worker(), max_sessions))
        .await
        .expect("the sandbox starts")
}

pub async fn start_with(worker: &str) -> Result<Sandbox, SandboxError> {
    Sandbox::start(options(Path::new(worker), 1)).await
}

/// A sandbox whose yaml, six and jinja2 are in this folder.
pub async fn start_with_packages(folder: &Path) -> Result<Sandbox, SandboxError> {
    let options = options(&worker(), 1);
    let python_path = Some(folder.to_owned());
    Sandbox::start(SandboxOptions {
        python_path,
        ..options
    })
    .await
}

fn options(worker: &Path, max_sessions: usize) -> SandboxOptions {
    SandboxOptions {
        worker: Some(worker.to_owned()),
        python_path: None,
        allow_weak_lockdown: false,
        max_sessions,
    }
}

/// Beside the folder of the test programs.
fn worker() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let folder = test.parent().and_then(Path::parent);
    let worker = folder
        .expect("tests lie in deps/")
        .join("expandybird-worker");
    assert!(
        worker.exists(),
        "build it first: cargo build -p expandybird-worker"
    );
    worker
}

/// Waits until no process of a session is left.
pub async fn no_session_is_left(sandbox: &Sandbox) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let health = sandbox.health().await.expect("a healthy sandbox");
        if health.sessions == 0 {
            return;
        }
        assert!(Instant::now() < deadline, "still there: {health:?}");
        tokio::task::yield_now().await;
    }
}

/// Waits until no such process exists.
pub async fn process_is_gone(id: i32) {
    let deadline = Instant::now() + PATIENCE;
    while Path::new(&format!("/proc/{id}")).exists() {
        assert!(Instant::now() < deadline, "process {id} is still there");
        tokio::task::yield_now().await;
    }
}

pub struct Request {
    open: Open,
    properties: Option<Value>,
    env: Map<String, Value>,
    deadline: Duration,
}

impl Request {
    /// A request whose template `vm.py` has this source.
    pub fn template(source: &str) -> Self {
        let limits = Limits {
            memory_bytes: 256 << 20,
            cpu_seconds: 20,
            output_bytes: 1 << 20,
        };
        let open = Open {
            imports: Vec::new(),
            limits,
            current_time: 1_450_000_000,
            seed: 7,
        };
        let request = Self {
            open,
            properties: None,
            env: Map::from_iter(
                [("name", "vm"), ("type", "vm.py"), ("deployment", "test")]
                    .map(|(key, value)| (key.to_owned(), Value::from(value))),
            ),
            deadline: PATIENCE,
        };
        request.import("vm.py", source)
    }

    pub fn at(mut self, path: &str) -> Self {
        self.open.imports[0].path = path.to_owned();
        self
    }

    pub fn import(self, name: &str, content: &str) -> Self {
        self.import_at(name, name, content)
    }

    pub fn import_at(mut self, name: &str, path: &str, content: &str) -> Self {
        self.open.imports.push(Import {
            name: name.to_owned(),
            path: path.to_owned(),
            content: content.to_owned(),
        });
        self
    }

    pub fn env(mut self, key: &str, value: &str) -> Self {
        self.env.insert(key.to_owned(), Value::from(value));
        self
    }

    pub fn properties(mut self, properties: Value) -> Self {
        self.properties = Some(properties);
        self
    }

    pub fn deadline_ms(mut self, milliseconds: u64) -> Self {
        self.deadline = Duration::from_millis(milliseconds);
        self
    }

    pub fn memory_mib(mut self, mebibytes: u64) -> Self {
        self.open.limits.memory_bytes = mebibytes << 20;
        self
    }

    pub fn cpu_seconds(mut self, seconds: u64) -> Self {
        self.open.limits.cpu_seconds = seconds;
        self
    }

    pub async fn open(&self, sandbox: &Sandbox) -> Result<Session, SandboxError> {
        let deadline = Instant::now() + self.deadline;
        sandbox.session(self.open.clone(), deadline).await
    }

    pub async fn run(&self, sandbox: &Sandbox) -> Result<Output, SandboxError> {
        self.open(sandbox).await?.call(self.call()).await
    }

    pub fn call(&self) -> Call {
        self.call_of("vm.py")
    }

    pub fn call_of(&self, template: &str) -> Call {
        Call {
            template: template.to_owned(),
            env: self.env.clone(),
            properties: self.properties.clone(),
        }
    }
}
