//! Runs the user's own `git`, with the user's configuration, credentials and keys.
//!
//! The manager's git trusts nothing of its machine; this one uses the machine of the user as it is. Only variables that lead git
//! to a repository other than the clone are removed from its environment.

use std::io;
use std::path::Path;
use std::process::{Output, Stdio};

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

const SAID_CHARS: usize = 500;

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git cannot be run: {0}; install git to publish to a git repository")]
    NoProgram(io::Error),
    #[error("cannot create a folder for the clone: {0}")]
    NoFolder(io::Error),
    #[error("git {doing}: {said}")]
    Failed { doing: String, said: String },
    #[error("{0:?} is not a branch of the repository; give a branch with --ref")]
    NoBranch(String),
    #[error("git printed something that cannot be parsed: {0}")]
    Malformed(String),
    #[error("others changed the repository during every try; publish again")]
    Overtaken,
}

/// Returns what git printed. `arguments` begin with the command; `input` is git's standard input.
pub async fn git(folder: &Path, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, GitError> {
    let output = run(folder, arguments, input)
        .await
        .map_err(GitError::NoProgram)?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(GitError::Failed {
            doing: arguments.first().copied().unwrap_or_default().to_owned(),
            said: said(&output),
        }),
    }
}

pub async fn text(folder: &Path, arguments: &[&str], input: &[u8]) -> Result<String, GitError> {
    let printed = git(folder, arguments, input).await?;
    let text = String::from_utf8(printed);
    text.map(|text| text.trim_end().to_owned())
        .map_err(|error| GitError::Malformed(error.to_string()))
}

async fn run(folder: &Path, arguments: &[&str], input: &[u8]) -> io::Result<Output> {
    let mut child = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        // Set by a hook, or by a script that works on another repository.
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdin = child.stdin.take();
    let write = async {
        if let Some(mut stdin) = stdin {
            // If git ends before it has read all input, it prints the reason itself.
            let _ = stdin.write_all(input).await;
        }
    };
    let ((), output) = tokio::join!(write, child.wait_with_output());
    output
}

/// The last lines, in which git reports its error.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let text = text.trim();
    match text.char_indices().rev().nth(SAID_CHARS) {
        Some((at, _)) => format!("…{}", &text[at..]),
        None if text.is_empty() => output.status.to_string(),
        None => text.to_owned(),
    }
}
