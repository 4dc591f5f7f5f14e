//! One kubectl process: started in a group of its own, bounded in time and output, killed with its children.
//!
//! It knows nothing of kubectl's commands.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use super::error::KubectlError;

/// A batch of some hundred objects of up to 1 MiB each is the most that one call prints.
const STDOUT_BYTES: usize = 256 * 1024 * 1024;
const STDERR_BYTES: usize = 8 * 1024 * 1024;
const MIB: usize = 1024 * 1024;

/// Variables that kubectl and the credential plugins of a kubeconfig need; nothing else is passed on.
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
/// Prefixes of what credential plugins of cloud providers read.
const PASSED_PREFIXES: &[&str] = &["AWS_", "AZURE_", "CLOUDSDK_", "GOOGLE_"];

/// What to run.
#[derive(Debug)]
pub struct Invocation {
    /// The command's name, for errors and logs.
    pub call: &'static str,
    pub arguments: Vec<OsString>,
    pub stdin: Vec<u8>,
    pub within: Duration,
}

/// What came of it.
#[derive(Debug)]
pub struct Finished {
    pub success: bool,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// Runs it to its end. Dropping the future, or the deadline, kills the process and its children.
pub async fn run(
    program: &Path,
    kubeconfig: Option<&Path>,
    invocation: Invocation,
) -> Result<Finished, KubectlError> {
    let Invocation {
        call,
        arguments,
        stdin,
        within,
    } = invocation;
    let mut child =
        start(program, kubeconfig, &arguments).map_err(|error| KubectlError::Missing {
            program: program.display().to_string(),
            reason: error.to_string(),
        })?;
    let group = Group::of(&child);
    let finished = tokio::time::timeout(within, finish(&mut child, call, stdin)).await;
    let finished = finished.map_err(|_| KubectlError::TimedOut {
        call,
        seconds: within.as_secs(),
    })??;
    group.ended();
    Ok(finished)
}

fn start(
    program: &Path,
    kubeconfig: Option<&Path>,
    arguments: &[OsString],
) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| is_passed(name)));
    if let Some(kubeconfig) = kubeconfig {
        command.env("KUBECONFIG", kubeconfig);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.process_group(0).kill_on_drop(true).spawn()
}

fn is_passed(name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(|name| {
        PASSED.contains(&name)
            || PASSED_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
    })
}

async fn finish(
    child: &mut Child,
    call: &'static str,
    input: Vec<u8>,
) -> Result<Finished, KubectlError> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async {
        if let Some(mut stdin) = stdin {
            // A process that ends without reading all its input says why on stderr.
            let _ = stdin.write_all(&input).await;
        }
        Ok(())
    };
    let ((), stdout, stderr) = tokio::try_join!(
        write,
        bounded(stdout, STDOUT_BYTES, call),
        bounded(stderr, STDERR_BYTES, call)
    )?;
    let status = child.wait().await.map_err(|error| failed(call, &error))?;
    Ok(Finished {
        success: status.success(),
        stdout,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    })
}

async fn bounded(
    pipe: Option<impl AsyncRead + Unpin>,
    limit: usize,
    call: &'static str,
) -> Result<Vec<u8>, KubectlError> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        let read = pipe.take(limit as u64 + 1).read_to_end(&mut bytes).await;
        read.map_err(|error| failed(call, &error))?;
    }
    if bytes.len() > limit {
        return Err(KubectlError::TooMuch {
            call,
            limit: limit / MIB,
        });
    }
    Ok(bytes)
}

fn failed(call: &'static str, error: &std::io::Error) -> KubectlError {
    KubectlError::Malformed {
        call,
        reason: error.to_string(),
    }
}

/// The process group of a child: killed when dropped, unless the child has ended.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(
            child
                .id()
                .and_then(|id| i32::try_from(id).ok())
                .map(Pid::from_raw),
        )
    }

    fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // An error means that nothing of the group is left.
            let _ = killpg(group, Signal::SIGKILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn shell(script: &str, within: Duration) -> Invocation {
        Invocation {
            call: "test",
            arguments: vec!["-c".into(), script.into()],
            stdin: b"in".to_vec(),
            within,
        }
    }

    const SOON: Duration = Duration::from_millis(300);
    const LONG: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn output_and_status_are_told_apart() {
        let finished = run(
            Path::new("/bin/sh"),
            None,
            shell("cat; echo oops >&2; exit 3", LONG),
        )
        .await
        .unwrap();
        assert_eq!(
            (finished.success, &finished.stdout[..], &finished.stderr[..]),
            (false, &b"in"[..], "oops\n")
        );
    }

    #[tokio::test]
    async fn a_missing_program_is_named_with_what_to_do() {
        let error = run(Path::new("/no/kubectl"), None, shell("", LONG))
            .await
            .unwrap_err();
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
        let error = run(Path::new("/bin/sh"), None, shell(&script, SOON))
            .await
            .unwrap_err();
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

    /// A killed process may stay a zombie where nobody reaps orphans.
    fn is_running(process: Pid) -> bool {
        std::fs::read_to_string(format!("/proc/{process}/stat"))
            .is_ok_and(|stat| !stat.contains(") Z "))
    }

    #[tokio::test]
    async fn the_environment_is_limited() {
        let finished = run(
            Path::new("/bin/sh"),
            Some(Path::new("/k")),
            shell("env | cut -d= -f1", LONG),
        )
        .await
        .unwrap();
        let names = String::from_utf8(finished.stdout).unwrap();
        assert!(
            names.contains("KUBECONFIG") && !names.contains("CARGO"),
            "{names}"
        );
    }
}
