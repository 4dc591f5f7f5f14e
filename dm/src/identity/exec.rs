//! Credential plugins, such as `aws eks get-token`: programs that print an `ExecCredential` (client.authentication.k8s.io).

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use common::model::Secret;
use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

use super::token;

/// A plugin may ask its user to log in with a browser.
const PATIENCE: Duration = Duration::from_secs(60);
/// What a plugin prints at most.
const OUTPUT_BYTES: u64 = 1024 * 1024;
/// Of its complaint, what is told.
const COMPLAINT_CHARS: usize = 500;

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exec {
    command: String,
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    args: Option<Vec<String>>,
    #[serde(default)]
    env: Option<Vec<Variable>>,
}

#[derive(Debug, Clone, Deserialize)]
struct Variable {
    name: String,
    value: Secret,
}

#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    #[error("its credential plugin {program} cannot be run: {reason}")]
    NotRun { program: String, reason: String },
    #[error("its credential plugin {program} was not done after {} s", PATIENCE.as_secs())]
    TooLong { program: String },
    #[error("its credential plugin {program} failed: {said}")]
    Failed { program: String, said: String },
    #[error("its credential plugin {program} printed no ExecCredential with a token")]
    NoToken { program: String },
}

#[derive(Deserialize)]
struct Credential {
    status: Status,
}

#[derive(Deserialize)]
struct Status {
    token: Option<Secret>,
}

/// Runs the plugin; a command with a path in it is relative to the kubeconfig.
pub async fn token_of(plugin: &Exec, folder: &Path) -> Result<Secret, PluginError> {
    let program = plugin.command.clone();
    let done = tokio::time::timeout(PATIENCE, run(plugin, folder)).await;
    let (succeeded, printed, said) = match done {
        Err(_) => return Err(PluginError::TooLong { program }),
        Ok(Err(error)) => {
            let reason = error.to_string();
            return Err(PluginError::NotRun { program, reason });
        }
        Ok(Ok(done)) => done,
    };
    if !succeeded {
        let said = String::from_utf8_lossy(&said);
        let said = said.trim().chars().take(COMPLAINT_CHARS).collect();
        return Err(PluginError::Failed { program, said });
    }
    let credential: Option<Credential> = serde_json::from_slice(&printed).ok();
    let found = credential.and_then(|credential| token(credential.status.token?.reveal()));
    found.ok_or(PluginError::NoToken { program })
}

async fn run(plugin: &Exec, folder: &Path) -> std::io::Result<(bool, Vec<u8>, Vec<u8>)> {
    let program = match plugin.command.contains('/') {
        true => folder.join(&plugin.command).into_os_string(),
        false => plugin.command.clone().into(),
    };
    let about = json!({"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": {"interactive": false}});
    let variables = plugin.env.iter().flatten();
    let mut child = Command::new(program)
        .args(plugin.args.iter().flatten())
        .envs(variables.map(|variable| (&variable.name, variable.value.reveal())))
        .env("KUBERNETES_EXEC_INFO", about.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (printed, said) = tokio::try_join!(bounded(stdout), bounded(stderr))?;
    Ok((child.wait().await?.success(), printed, said))
}

async fn bounded(stream: Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.take(OUTPUT_BYTES).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}
