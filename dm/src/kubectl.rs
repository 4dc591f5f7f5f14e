//! kubectl, with the rights of the user who runs this program.

use std::process::Stdio;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::error::CommandError;

/// The program, and the context of the kubeconfig that it uses. `None`: the current one.
#[derive(Debug, Clone)]
pub struct Kubectl {
    pub program: String,
    pub context: Option<String>,
}

#[derive(Debug, thiserror::Error)]
#[error("{program}: {said}")]
pub struct KubectlError {
    program: String,
    pub said: String,
}

impl CommandError for KubectlError {}

impl Kubectl {
    /// Runs kubectl with `input` on standard input and returns its output. Secrets are never in the arguments.
    pub async fn run(&self, arguments: &[&str], input: &str) -> Result<String, KubectlError> {
        let context = self.context.iter();
        let context = context.map(|context| format!("--context={context}"));
        let failed = |said: String| KubectlError {
            program: self.program.clone(),
            said,
        };
        let mut child = Command::new(&self.program)
            .args(arguments)
            .args(context)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| failed(format!("it cannot be run: {error}")))?;
        let stdin = child.stdin.take();
        let write = async {
            if let Some(mut stdin) = stdin {
                // If kubectl ends before it has read all input, it prints the reason itself.
                let _ = stdin.write_all(input.as_bytes()).await;
            }
        };
        let ((), output) = tokio::join!(write, child.wait_with_output());
        let output = output.map_err(|error| failed(error.to_string()))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => {
                let said = String::from_utf8_lossy(&output.stderr);
                Err(failed(said.trim().to_owned()))
            }
        }
    }
}
