//! Expanding without a server: the `expandybird` program does it, as the service of that name would.
//!
//! Responsible for finding that program and for talking to it: the request in on its standard input, the answer out on its
//! standard output, both as the service speaks them. It refuses to know what a template is. What only a manager can do is
//! left undone: a template reference stays in the result.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output, Stdio};

use common::api::error::ErrorBody;
use common::api::expander::{Environment, ExpandRequest, ExpandResponse};
use common::api::manager::{Expand, Expansion};
use common::model::{ManifestName, NameError, Namespace};
use jiff::Timestamp;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

const PROGRAM: &str = "expandybird";
/// What the manager takes for the namespace and the user of a request that names neither.
const NAMESPACE: &str = "default";
const USERNAME: &str = "anonymous";

#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    #[error(
        "expanding without a server takes the program {PROGRAM}, and it is neither beside dm nor on PATH"
    )]
    NoProgram,
    #[error("{} cannot be run: {source}", program.display())]
    NotRunnable { program: PathBuf, source: io::Error },
    #[error("{} ended with {status} and without an answer{}", program.display(), said(stderr))]
    NoAnswer {
        program: PathBuf,
        status: ExitStatus,
        stderr: String,
    },
    #[error(transparent)]
    Name(#[from] NameError),
    /// What the service would have answered with an error status.
    #[error("{0}")]
    Answered(Box<ErrorBody>),
}

fn said(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    }
}

/// As the manager would have it expanded, by default for the same namespace and user.
pub async fn expansion(request: Expand) -> Result<Expansion, LocalError> {
    let now = Timestamp::now();
    let environment = Environment {
        deployment: request.name.clone(),
        namespace: match request.namespace {
            Some(namespace) => namespace,
            None => Namespace::parse(NAMESPACE)?,
        },
        manifest: ManifestName::parse(format!("manifest-{:013}", now.as_millisecond()))?,
        username: USERNAME.to_owned(),
        current_time: now.as_second(),
    };
    let request = ExpandRequest {
        name: request.name.to_string(),
        content: request.content,
        imports: request.imports,
        env: environment.to_map(),
        ..ExpandRequest::default()
    };
    // What is expanded here is shown as it is: it is the caller's own.
    Ok(Expansion {
        secrets: Vec::new(),
        ..expand(&request).await?.into_expansion(Vec::new())
    })
}

/// Expands a request in a process of its own, which ends with this future.
async fn expand(request: &ExpandRequest) -> Result<ExpandResponse, LocalError> {
    let program = program().ok_or(LocalError::NoProgram)?;
    match answered(&program, request).await {
        Ok(output) => read(&program, &output),
        Err(source) => Err(LocalError::NotRunnable { program, source }),
    }
}

async fn answered(program: &Path, request: &ExpandRequest) -> io::Result<Output> {
    let request = serde_json::to_vec(request)?;
    let mut child = Command::new(program)
        .args(["expand", "--request"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdin = child.stdin.take();
    let write = async {
        if let Some(mut stdin) = stdin {
            // A program that ends before it has read all tells why in its own words.
            let _ = stdin.write_all(&request).await;
        }
    };
    let ((), output) = tokio::join!(write, child.wait_with_output());
    output
}

fn read(program: &Path, output: &Output) -> Result<ExpandResponse, LocalError> {
    if output.status.success() {
        if let Ok(response) = serde_json::from_slice(&output.stdout) {
            return Ok(response);
        }
    } else if let Ok(body) = serde_json::from_slice(&output.stdout) {
        return Err(LocalError::Answered(Box::new(body)));
    }
    Err(LocalError::NoAnswer {
        program: program.to_owned(),
        status: output.status,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Beside this program, where it was built or installed with it; else the first on PATH.
fn program() -> Option<PathBuf> {
    let beside = std::env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.to_owned()));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(std::env::split_paths(&path));
    folders
        .map(|folder| folder.join(PROGRAM))
        .find(|program| program.is_file())
}
