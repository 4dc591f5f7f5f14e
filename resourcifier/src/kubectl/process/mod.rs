//! kubectl as a process: in its own process group, with a limited environment, time and output, and killed with its
//! children.
//!
//! It does not know kubectl's commands.

pub mod folder;
pub mod parent;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use super::error::KubectlError;

/// The maximum output of a call about kubectl itself.
const OUTPUT_BYTES: u64 = 1024 * 1024;

/// Variables that kubectl and the credential plugins of a kubeconfig need. No others are passed on.
const PASSED: &[&str] = &[
    "HOME",
    "PATH",
    "USER",
    "TMPDIR",
    "KUBECONFIG",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "KUBERNETES_SERVICE_HOST",
    "KUBERNETES_SERVICE_PORT",
];
/// Prefixes of variables for the credential plugins of cloud providers.
const PASSED_PREFIXES: &[&str] = &["AWS_", "AZURE_", "CLOUDSDK_", "GOOGLE_"];

/// The result of a run.
#[derive(Debug)]
pub struct Finished {
    pub success: bool,
    is_run: bool,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// The program, and how to start it.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    pub path: &'a Path,
    pub kubeconfig: Option<&'a Path>,
    /// Makes the program end with this process.
    pub launcher: Option<&'a Path>,
}

impl Program<'_> {
    pub fn missing(&self, reason: &str) -> KubectlError {
        KubectlError::Missing {
            program: self.path.display().to_string(),
            reason: reason.trim().to_owned(),
        }
    }
}

/// Starts the program with both outputs piped.
#[expect(
    clippy::disallowed_methods,
    reason = "kubectl gets single variables, chosen by their names"
)]
pub fn start(program: Program<'_>, arguments: &[OsString]) -> Result<(Child, Group), KubectlError> {
    let mut command = Command::from(parent::command(program.launcher, program.path));
    command
        .args(arguments)
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| is_passed(name)));
    if let Some(kubeconfig) = program.kubeconfig {
        command.env("KUBECONFIG", kubeconfig);
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.process_group(0).kill_on_drop(true).spawn();
    let child = child.map_err(|error| program.missing(&error.to_string()))?;
    let group = Group::new(&child);
    Ok((child, group))
}

fn is_passed(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| {
        PASSED.contains(&name)
            || PASSED_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
    })
}

/// Runs the program to its end. Dropping the future, or the deadline, kills the process and its children.
pub async fn run(
    program: Program<'_>,
    call: &'static str,
    arguments: &[OsString],
    within: Duration,
) -> Result<Finished, KubectlError> {
    let (mut child, group) = start(program, arguments)?;
    let finished = tokio::time::timeout(within, finish(&mut child)).await;
    let missed = |_| KubectlError::TimedOut {
        call,
        seconds: within.as_secs(),
    };
    let finished = finished
        .map_err(missed)?
        .map_err(|error| KubectlError::Malformed {
            call,
            reason: error.to_string(),
        })?;
    group.ended();
    if program.launcher.is_some() && !finished.is_run {
        return Err(program.missing(&finished.stderr));
    }
    Ok(finished)
}

/// Whether the launcher could start the program.
pub fn is_run(status: std::process::ExitStatus) -> bool {
    status.code() != Some(i32::from(parent::NOT_RUN))
}

async fn finish(child: &mut Child) -> std::io::Result<Finished> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (stdout, stderr) = tokio::try_join!(bounded(stdout), bounded(stderr))?;
    let status = child.wait().await?;
    Ok(Finished {
        success: status.success(),
        is_run: is_run(status),
        stdout,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    })
}

async fn bounded(pipe: Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(OUTPUT_BYTES).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

/// The process group of a child. Dropping it kills the group, unless the child has ended.
#[derive(Debug)]
pub struct Group(Option<Pid>);

impl Group {
    fn new(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.map(Pid::from_raw))
    }

    pub fn id(&self) -> Option<Pid> {
        self.0
    }

    fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // An error means that the group has ended.
            let _ = killpg(group, Signal::SIGKILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    const SOON: Duration = Duration::from_millis(300);
    const LONG: Duration = Duration::from_secs(20);

    async fn shell(script: &str, within: Duration) -> Result<Finished, KubectlError> {
        let arguments = ["-c".into(), script.into()];
        let program = Program {
            path: Path::new("/bin/sh"),
            kubeconfig: Some(Path::new("/k")),
            launcher: None,
        };
        run(program, "test", &arguments, within).await
    }

    #[tokio::test]
    async fn output_and_status_are_told_apart() {
        let finished = shell("echo in; echo oops >&2; exit 3", LONG).await.unwrap();
        assert_eq!(
            (finished.success, &finished.stdout[..], &finished.stderr[..]),
            (false, &b"in\n"[..], "oops\n")
        );
    }

    #[tokio::test]
    async fn a_missing_program_is_named_with_what_to_do() {
        let program = Program {
            path: Path::new("/no/kubectl"),
            kubeconfig: None,
            launcher: None,
        };
        let error = run(program, "test", &[], LONG).await.unwrap_err();
        assert!(
            error.to_string().contains("/no/kubectl") && error.to_string().contains("--kubectl"),
            "{error}"
        );
        assert!(error.is_transient());
    }

    #[tokio::test]
    async fn the_deadline_kills_the_process_and_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("child");
        let script = format!("sleep 60 & echo $! > {}; wait", file.display());
        let started = Instant::now();
        let error = shell(&script, SOON).await.unwrap_err();
        assert!(matches!(error, KubectlError::TimedOut { .. }), "{error}");
        let child = Pid::from_raw(
            std::fs::read_to_string(file)
                .unwrap()
                .trim()
                .parse()
                .unwrap(),
        );
        while is_running(child) {
            assert!(started.elapsed() < LONG, "the child still runs");
            tokio::task::yield_now().await;
        }
    }

    /// A killed process may stay a zombie if no process reaps orphans.
    fn is_running(process: Pid) -> bool {
        std::fs::read_to_string(format!("/proc/{process}/stat"))
            .is_ok_and(|stat| !stat.contains(") Z "))
    }

    #[tokio::test]
    async fn the_environment_is_limited() {
        let finished = shell("env | cut -d= -f1", LONG).await.unwrap();
        let names = String::from_utf8(finished.stdout).unwrap();
        assert!(
            names.contains("KUBECONFIG") && !names.contains("CARGO"),
            "{names}"
        );
    }
}
