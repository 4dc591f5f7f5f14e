//! One run of `kubectl proxy`. It handles TLS and the credentials of the kubeconfig, and serves HTTP on a socket that
//! no other user can open.
//!
//! ```text
//! resourcifier ──HTTP──► socket in a private folder ──► kubectl proxy ──TLS, credentials──► API server
//! ```

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::Child;

use crate::kubectl::error::KubectlError;
use crate::kubectl::process::{self, Group, Program};

/// Its own start is quick. Credential plugins run only with the first request.
const START: Duration = Duration::from_secs(20);
/// Its message when it serves.
const SERVING: &str = "Starting to serve on";
/// How much of its error output is kept.
const COMPLAINT_BYTES: usize = 8 * 1024;
/// No shells are opened through it. The default also rejects objects named `exec…` in a namespace named `pods`.
const REJECTED: &str =
    "--reject-paths=^/api/v1/namespaces/[^/]+/pods/[^/]+/(exec|attach|portforward)$";
const CONNECT: Duration = Duration::from_secs(5);

/// The kubectl and the cluster to use.
#[derive(Debug, Clone)]
pub struct Settings {
    pub program: PathBuf,
    pub kubeconfig: Option<PathBuf>,
    pub context: Option<String>,
    /// A program that calls [`super::become_program`]: kubectl then ends with this process, also after `kill -9`.
    pub launcher: Option<PathBuf>,
}

impl Settings {
    pub fn kubectl(&self) -> Program<'_> {
        Program {
            path: &self.program,
            kubeconfig: self.kubeconfig.as_deref(),
            launcher: self.launcher.as_deref(),
        }
    }
}

#[derive(Debug)]
pub struct Session {
    pub http: reqwest::Client,
    is_lost: AtomicBool,
    child: std::sync::Mutex<Child>,
    group: Group,
}

impl Session {
    /// Starts the proxy, and returns when it serves.
    pub async fn start(settings: &Settings, socket: &Path) -> Result<Self, KubectlError> {
        // A killed predecessor leaves its socket, and kubectl does not replace it.
        let _ = std::fs::remove_file(socket);
        let arguments = arguments(settings, socket);
        let (mut child, group) = process::start(settings.kubectl(), &arguments)?;
        let served = tokio::time::timeout(START, serving(&mut child)).await;
        let served = served.map_err(|_| KubectlError::TimedOut {
            call: "kubectl proxy",
            seconds: START.as_secs(),
        })?;
        if let Err(complaint) = served {
            let is_run = child.wait().await.is_ok_and(process::is_run);
            let program = settings.kubectl();
            return match program.launcher {
                Some(_) if !is_run => Err(program.missing(&complaint)),
                _ => Err(KubectlError::Unreachable(start_failure(&complaint))),
            };
        }
        let http = common::client::http::builder()
            .unix_socket(socket.to_owned())
            .connect_timeout(CONNECT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| KubectlError::Malformed {
                call: "kubectl proxy",
                reason: error.to_string(),
            })?;
        Ok(Self {
            http,
            is_lost: AtomicBool::new(false),
            child: child.into(),
            group,
        })
    }

    pub fn group(&self) -> &Group {
        &self.group
    }

    /// The proxy was unreachable: it is not used again.
    pub fn lose(&self) {
        self.is_lost.store(true, Ordering::Relaxed);
    }

    pub fn is_usable(&self) -> bool {
        let runs =
            |mut child: std::sync::MutexGuard<'_, Child>| matches!(child.try_wait(), Ok(None));
        !self.is_lost.load(Ordering::Relaxed) && self.child.lock().is_ok_and(runs)
    }
}

fn arguments(settings: &Settings, socket: &Path) -> Vec<OsString> {
    let mut path = OsString::from("--unix-socket=");
    path.push(socket);
    let mut arguments = vec!["proxy".into(), path, REJECTED.into()];
    if let Some(context) = &settings.context {
        arguments.push(format!("--context={context}").into());
    }
    arguments
}

/// Waits until the proxy serves, or returns its error output. Later output goes to the log.
async fn serving(child: &mut Child) -> Result<(), String> {
    let stderr = child.stderr.take();
    let Some(stdout) = child.stdout.take() else {
        return Err("it has no output".to_owned());
    };
    let mut lines = BufReader::new(stdout.take(COMPLAINT_BYTES as u64)).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if line.starts_with(SERVING) {
            if let Some(stderr) = stderr {
                tokio::spawn(logged(stderr));
            }
            return Ok(());
        }
    }
    let mut complaint = Vec::new();
    if let Some(stderr) = stderr {
        // A broken pipe keeps what was read before.
        let _ = stderr
            .take(COMPLAINT_BYTES as u64)
            .read_to_end(&mut complaint)
            .await;
    }
    Err(String::from_utf8_lossy(&complaint).into_owned())
}

fn start_failure(complaint: &str) -> String {
    let lines = complaint
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let text = lines.collect::<Vec<_>>().join(" ");
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    format!("kubectl proxy does not start: {text}")
}

async fn logged(stderr: impl AsyncRead + Unpin) {
    let mut lines = BufReader::new(stderr).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let end = line.len().min(COMPLAINT_BYTES);
        tracing::debug!("kubectl proxy: {}", String::from_utf8_lossy(&line[..end]));
    }
}
