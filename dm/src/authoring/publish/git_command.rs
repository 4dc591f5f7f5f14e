//! The user's own `git`, with their configuration, credentials and keys.
//!
//! As against the manager's, which trusts nothing of its machine: here the user is at home. Only what would lead it to another
//! repository than the clone is taken from its environment.

use std::io;
use std::path::Path;
use std::process::{Output, Stdio};

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

const SAID_CHARS: usize = 500;

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git cannot be run: {0}; publishing to a git repository takes it")]
    NoProgram(io::Error),
    #[error("no folder for a clone can be made: {0}")]
    NoFolder(io::Error),
    #[error("git {doing}: {said}")]
    Failed { doing: String, said: String },
    #[error("{0:?} is no branch of the repository; versions are published on a branch")]
    NoBranch(String),
    #[error("git gave an answer that cannot be read: {0}")]
    Malformed(String),
    #[error("others have changed the repository meanwhile, time and again; publish once more")]
    Overtaken,
}

/// What git printed. `arguments` begin with the command; `input` is what it reads.
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
        // Of a hook, or of a script that works on another repository.
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
            // A git that ends before it has read all tells why in its own words.
            let _ = stdin.write_all(input).await;
        }
    };
    let ((), output) = tokio::join!(write, child.wait_with_output());
    output
}

/// The last lines, where git says what it could not do.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let text = text.trim();
    match text.char_indices().rev().nth(SAID_CHARS) {
        Some((at, _)) => format!("…{}", &text[at..]),
        None if text.is_empty() => output.status.to_string(),
        None => text.to_owned(),
    }
}
