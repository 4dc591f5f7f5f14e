//! One request to a sandbox, built step by step.

use std::path::{Path, PathBuf};
use std::time::Duration;

use std::os::unix::net::UnixStream;

use expandybird::admission::Caller;
use expandybird::sandbox::{
    Call, Conversation, Ended, Import, Lease, Limits, Open, Output, Sandbox, SandboxError,
    SandboxOptions, ended,
};
use nix::unistd::Pid;
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

/// The processes that this one has forked and not reaped.
pub fn children(parent: Pid) -> Vec<Pid> {
    let list = format!("/proc/{parent}/task/{parent}/children");
    let list = std::fs::read_to_string(list).expect("the parent is alive");
    let ids = list.split_whitespace().map(str::parse);
    ids.map(|id| Pid::from_raw(id.expect("a process id")))
        .collect()
}

/// Waits until no such process exists.
pub async fn process_is_gone(id: Pid) {
    let deadline = Instant::now() + PATIENCE;
    while Path::new(&format!("/proc/{id}")).exists() {
        assert!(Instant::now() < deadline, "process {id} is still there");
        tokio::task::yield_now().await;
    }
}

/// What the server and an expansion process do for one request, in one place.
#[derive(Debug)]
pub struct Session {
    lease: Lease,
    /// `None` after a call that was not waited for.
    conversation: Option<Conversation<UnixStream>>,
    deadline: Instant,
    limits: Limits,
}

impl Session {
    pub async fn call(&mut self, call: Call) -> Result<Output, SandboxError> {
        let Some(mut conversation) = self.conversation.take() else {
            return Err(SandboxError::SessionOver);
        };
        let calling = tokio::task::spawn_blocking(move || {
            let outcome = conversation.call(call);
            (conversation, outcome)
        });
        let Ok(called) = tokio::time::timeout_at(self.deadline, calling).await else {
            return Err(SandboxError::Timeout);
        };
        let (conversation, outcome) = called.expect("a conversation does not panic");
        let opened = conversation.is_open();
        self.conversation = Some(conversation);
        match outcome {
            Ok(output) => Ok(output),
            Err(Ended::Failed(error)) => Err(error),
            Err(Ended::Closed) => Err(ended(self.lease.how_it_ended(opened).await, &self.limits)),
        }
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

    pub fn output_mib(mut self, mebibytes: usize) -> Self {
        self.open.limits.output_bytes = mebibytes << 20;
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
        let mut lease = sandbox.lease(&Caller::default(), deadline).await?;
        let stream = UnixStream::from(lease.stream().expect("it is given out once"));
        Ok(Session {
            conversation: Some(Conversation::new(stream, self.open.clone())?),
            lease,
            deadline,
            limits: self.open.limits,
        })
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
