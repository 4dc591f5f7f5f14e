//! Runs the `git` program. It does not know the contents of repositories.
//!
//! git supports every transport and is patched with the system. It runs so that neither this machine nor the repository
//! influences it: no configuration, no hooks, no helpers, no prompts, no local protocol, no redirects. It reads a
//! credential from a file in memory: arguments and environments of processes are shown and logged by other programs.
//! Its time, memory, output and disk use are limited, and it ends with its children when the caller stops waiting.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use common::redact::Redactor;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};

use super::folders::size;
use super::trust::Way;

const FETCH: Duration = Duration::from_secs(50);
const READ: Duration = Duration::from_secs(15);
/// Bytes of a repository on disk. Templates are text, and thousands of them have some megabytes.
const REPOSITORY_BYTES: u64 = 256 * 1024 * 1024;
/// Memory of each git process, in KiB: git keeps all refs of a server in memory. It reads a repository in windows, and
/// two threads have about 200 MiB for them.
const MEMORY_KIB: u32 = 1024 * 1024;
/// Sets the limit, if the system supports it, and becomes git, which finds the standard input at [`CONFIGURATION`].
const WITHIN_MEMORY: &str = r#"ulimit -v "$0" 2>/dev/null; exec 3<&0 </dev/null; exec git "$@""#;
/// Each process of git opens it anew, from its start.
const CONFIGURATION: &str = "/proc/self/fd/3";
/// The exit code of a shell that does not find the program.
const NO_PROGRAM: i32 = 127;
/// How often the size of a running fetch is checked.
const GLANCE: Duration = Duration::from_millis(100);
const SAID_BYTES: usize = 16 * 1024;
const PROTOCOLS: &str = "https:http:ssh:git";
/// The variables that git gets from the manager's environment: the path of programs, the ssh agent, and TLS authorities.
const KEPT: [&str; 4] = ["PATH", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR"];

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("the git program cannot be run: {0}; install git on the manager's machine")]
    NoProgram(std::io::Error),
    #[error("there is no such repository")]
    NoRepository,
    #[error("there is no such branch or tag")]
    NoRef,
    #[error("git did not finish within {} s", .0.as_secs())]
    TimedOut(Duration),
    #[error("it is larger than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("the repository has more than {} MiB", REPOSITORY_BYTES / (1024 * 1024))]
    RepositoryTooLarge,
    #[error("git needs more than {} MiB of memory for it", MEMORY_KIB / 1024)]
    TooMuchMemory,
    #[error("the cache cannot be used: {0}")]
    Cache(std::io::Error),
    #[error("the credential cannot be given to git: {0}")]
    Credential(std::io::Error),
    #[error("it requires a credential, or rejects the given one: {0}")]
    Denied(String),
    #[error(
        "ssh does not know the host's key, or knows another one: put the right one into --registry-ssh-known-hosts, in the format of ssh-keyscan"
    )]
    HostKey,
    #[error("the fetched repository is damaged: {0}")]
    Damaged(String),
    #[error("git says: {0}")]
    Failed(String),
}

impl GitError {
    /// A host may repeat the credential that it received.
    fn without(self, secrets: &Redactor) -> Self {
        let redacted = |text: String| secrets.text(&text).into_owned();
        match self {
            Self::Denied(text) => Self::Denied(redacted(text)),
            Self::Damaged(text) => Self::Damaged(redacted(text)),
            Self::Failed(text) => Self::Failed(redacted(text)),
            other => other,
        }
    }

    /// The host did not answer. A refusal is an answer.
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::TimedOut(_) | Self::Failed(_))
    }
}

/// A bare repository in a folder.
#[derive(Debug, Clone)]
pub struct Git {
    folder: PathBuf,
}

impl Git {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Fetches one commit without its history.
    pub async fn fetch(&self, way: &Way, refspec: &str) -> Result<(), GitError> {
        self.prepare().await?;
        let mut command = self.given(way)?;
        command.args(["fetch", "--quiet", "--force", "--depth=1", "--no-tags"]);
        command.args(["--no-recurse-submodules", "--no-write-fetch-head"]);
        command.args(["--end-of-options", &way.url, refspec]);
        let fetch = async {
            tokio::select! {
                done = run(command, SAID_BYTES) => done,
                () = self.outgrown() => Err(GitError::RepositoryTooLarge),
            }
        };
        let outcome = within(FETCH, fetch).await;
        if matches!(outcome, Err(GitError::RepositoryTooLarge)) {
            self.remove().await?;
        }
        outcome
            .map(|_| ())
            .map_err(|error| error.without(&way.secrets()))
    }

    /// git with all that it needs for this way.
    fn given(&self, way: &Way) -> Result<Command, GitError> {
        let mut settings = settings();
        settings.extend(way.settings.iter().cloned());
        let mut command = self.command(&settings);
        if let Some(configuration) = way.configuration() {
            let file = in_memory(&configuration).map_err(GitError::Credential)?;
            command.stdin(file);
        }
        command.envs(way.environment.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }

    /// The output of git, up to a limit.
    pub async fn read(&self, arguments: &[&str], limit: usize) -> Result<Vec<u8>, GitError> {
        let mut command = self.command(&settings());
        command.args(arguments);
        within(READ, run(command, limit)).await
    }

    /// Fetches without history leave replaced objects behind: a repository that has reached half of its limit is
    /// deleted and fetched again.
    async fn prepare(&self) -> Result<(), GitError> {
        if size(self.folder.clone()).await > REPOSITORY_BYTES / 2 {
            self.remove().await?;
        }
        if self.folder.join("HEAD").is_file() {
            return Ok(());
        }
        std::fs::create_dir_all(&self.folder).map_err(GitError::Cache)?;
        let mut command = self.command(&settings());
        command.args(["init", "--quiet", "--bare", "--template="]);
        within(READ, run(command, SAID_BYTES)).await.map(|_| ())
    }

    /// The repository is damaged or too large: it is fetched again.
    pub async fn remove(&self) -> Result<(), GitError> {
        match tokio::fs::remove_dir_all(&self.folder).await {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(GitError::Cache(error)),
            _ => Ok(()),
        }
    }

    async fn outgrown(&self) {
        while size(self.folder.clone()).await <= REPOSITORY_BYTES {
            tokio::time::sleep(GLANCE).await;
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "git gets the variables of proxies and certificates by their names"
    )]
    fn command(&self, settings: &[(String, String)]) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", WITHIN_MEMORY, &MEMORY_KIB.to_string()])
            .env_clear()
            .envs(
                KEPT.iter()
                    .filter_map(|name| Some((name, std::env::var_os(name)?))),
            )
            .env("GIT_DIR", &self.folder)
            .env("HOME", &self.folder)
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", CONFIGURATION)
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ALLOW_PROTOCOL", PROTOCOLS)
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (number, (key, value)) in settings.iter().enumerate() {
            command
                .env(format!("GIT_CONFIG_KEY_{number}"), key)
                .env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        command
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        command
    }
}

fn settings() -> Vec<(String, String)> {
    let fixed = [
        ("core.hooksPath", "/dev/null"),
        ("core.fsmonitor", "false"),
        ("credential.helper", ""),
        ("gc.auto", "0"),
        ("maintenance.auto", "false"),
        ("fetch.fsckObjects", "true"),
        ("pack.threads", "2"),
        ("http.followRedirects", "false"),
        ("http.lowSpeedLimit", "1"),
        ("http.lowSpeedTime", "15"),
        ("protocol.allow", "never"),
        ("protocol.https.allow", "always"),
        ("protocol.http.allow", "always"),
        ("protocol.ssh.allow", "always"),
        ("protocol.git.allow", "always"),
    ];
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    fixed.into_iter().map(owned).collect()
}

/// A file without a name. It is gone when the last process that has it open ends.
fn in_memory(text: &str) -> std::io::Result<File> {
    let mut file = File::from(memfd_create("configuration", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(text.as_bytes())?;
    Ok(file)
}

async fn within<T>(
    time: Duration,
    work: impl Future<Output = Result<T, GitError>>,
) -> Result<T, GitError> {
    let outcome = tokio::time::timeout(time, work).await;
    outcome.unwrap_or(Err(GitError::TimedOut(time)))
}

/// Ends the whole process group, because git runs the transport as other programs.
struct Group(Option<Pid>);

impl Group {
    fn new(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.map(Pid::from_raw))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // It may have ended already.
            let _ = killpg(group, Signal::SIGKILL);
        }
    }
}

async fn run(mut command: Command, limit: usize) -> Result<Vec<u8>, GitError> {
    let mut child = command.spawn().map_err(GitError::NoProgram)?;
    let mut group = Group::new(&child);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (printed, said) = tokio::join!(bounded(stdout, limit), bounded(stderr, SAID_BYTES));
    let printed = match printed {
        Some(printed) => printed,
        None => return Err(GitError::TooLarge { limit }),
    };
    let status = child.wait().await.map_err(GitError::NoProgram)?;
    // After the wait, another process may have its number.
    group.0 = None;
    match status.success() {
        true => Ok(printed),
        false => Err(failed(status, &said.unwrap_or_default())),
    }
}

/// The whole stream. `None` if it is longer than the limit.
async fn bounded(stream: Option<impl AsyncRead + Unpin>, limit: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    // A stream breaks off when its process fails, and the exit status shows that.
    let _ = stream?.take(most).read_to_end(&mut bytes).await;
    (bytes.len() <= limit).then_some(bytes)
}

/// The most useful line: ssh's message comes before git's own, and is the cause.
fn cause(said: &str) -> Option<String> {
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let last = lines()
        .rev()
        .find_map(|line| line.strip_prefix("fatal: "))?;
    let line = match last.starts_with("Could not read from remote") {
        true => lines().next().unwrap_or(last),
        false => last,
    };
    Some(line.chars().take(300).collect())
}

fn failed(status: ExitStatus, said: &[u8]) -> GitError {
    if status.code() == Some(NO_PROGRAM) {
        return GitError::NoProgram(ErrorKind::NotFound.into());
    }
    let said = String::from_utf8_lossy(said);
    let has = |texts: &[&str]| texts.iter().any(|text| said.contains(text));
    if has(&["couldn't find remote ref", "Remote branch"]) {
        return GitError::NoRef;
    }
    if has(&[
        "not found",
        "not appear to be a git repository",
        "access denied or repository not",
    ]) {
        return GitError::NoRepository;
    }
    if has(&["Host key verification failed"]) {
        return GitError::HostKey;
    }
    if has(&["Out of memory", "out of memory"]) {
        return GitError::TooMuchMemory;
    }
    let cause = cause(&said).unwrap_or_else(|| status.to_string());
    let denied = [
        "Authentication failed",
        "could not read Username",
        "Permission denied",
        "error: 403",
    ];
    match has(&denied) {
        true => GitError::Denied(cause),
        false => GitError::Failed(cause),
    }
}

#[cfg(test)]
mod tests;
