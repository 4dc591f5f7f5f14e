//! Credential plugins, such as `aws eks get-token`: programs that print an `ExecCredential` (client.authentication.k8s.io).

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use common::model::Secret;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

use super::token;

/// A plugin may ask the user to log in with a browser.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most that a plugin may print.
const OUTPUT_BYTES: u64 = 1024 * 1024;
/// How much of its error output a message quotes.
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
    /// The installation hint of the kubeconfig.
    #[serde(default)]
    install_hint: Option<String>,
    #[serde(default)]
    interactive_mode: Mode,
    #[serde(default)]
    pub provide_cluster_info: bool,
}

#[derive(Debug, Clone, Deserialize)]
struct Variable {
    name: String,
    value: Secret,
}

/// Whether the plugin talks to the user at the terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
enum Mode {
    Never,
    #[default]
    IfAvailable,
    Always,
}

#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    #[error("its credential plugin {program} cannot be run: {reason}{}", hint.as_ref().map(|hint| format!("\n{hint}")).unwrap_or_else(|| "; install it, or correct the kubeconfig".to_owned()))]
    NotRun {
        program: String,
        reason: String,
        hint: Option<String>,
    },
    #[error(
        "its credential plugin {program} did not finish within {} s; run it, or kubectl auth whoami, to see what it waits for",
        PATIENCE.as_secs()
    )]
    TooLong { program: String },
    #[error(
        "its credential plugin {program} needs a terminal to ask the user: log in first, or give a token in DM_TOKEN"
    )]
    NoTerminal { program: String },
    #[error(
        "its credential plugin {program} failed: {said}\nlog in again as it says; kubectl auth whoami shows whether that worked"
    )]
    Failed { program: String, said: String },
    #[error(
        "its credential plugin {program} printed no ExecCredential with a token, or with a certificate and its key"
    )]
    Nothing { program: String },
    #[error("its credential plugin {program} returned a certificate that cannot be used: {reason}")]
    Certificate { program: String, reason: String },
}

impl Exec {
    pub fn program(&self) -> String {
        self.command.clone()
    }
}

/// What a plugin returns: a token, a certificate, or both.
#[derive(Debug)]
pub struct Credential {
    pub token: Option<Secret>,
    pub certificate: Option<Pem>,
    /// When it expires, if known.
    pub expires: Option<Timestamp>,
}

/// A certificate with its key, both PEM.
#[derive(Debug, Clone)]
pub struct Pem {
    pub certificate: Secret,
    pub key: Secret,
}

#[derive(Deserialize)]
struct Printed {
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    token: Option<Secret>,
    client_certificate_data: Option<Secret>,
    client_key_data: Option<Secret>,
    expiration_timestamp: Option<Timestamp>,
}

impl Status {
    fn credential(self) -> Option<Credential> {
        let certificate = match (self.client_certificate_data, self.client_key_data) {
            (Some(certificate), Some(key)) => Some(Pem { certificate, key }),
            _ => None,
        };
        let token = self.token.and_then(|text| token(text.reveal()));
        (token.is_some() || certificate.is_some()).then_some(Credential {
            token,
            certificate,
            expires: self.expiration_timestamp,
        })
    }
}

/// Runs the plugin; a command with a path in it is relative to the kubeconfig. plugins that ask for `cluster` receive it.
pub async fn ask(
    plugin: &Exec,
    folder: &Path,
    cluster: Option<&Value>,
) -> Result<Credential, PluginError> {
    let program = plugin.program();
    let talks = plugin.interactive_mode != Mode::Never && std::io::stdin().is_terminal();
    if plugin.interactive_mode == Mode::Always && !talks {
        return Err(PluginError::NoTerminal { program });
    }
    let done = tokio::time::timeout(PATIENCE, run(plugin, folder, cluster, talks)).await;
    let (succeeded, printed, said) = match done {
        Err(_) => return Err(PluginError::TooLong { program }),
        Ok(Err(error)) => {
            return Err(PluginError::NotRun {
                program,
                reason: error.to_string(),
                hint: plugin.install_hint.clone(),
            });
        }
        Ok(Ok(done)) => done,
    };
    if !succeeded {
        let said = String::from_utf8_lossy(&said);
        let said = said.trim().chars().take(COMPLAINT_CHARS).collect();
        return Err(PluginError::Failed { program, said });
    }
    let printed: Option<Printed> = serde_json::from_slice(&printed).ok();
    let found = printed.and_then(|printed| printed.status.credential());
    found.ok_or(PluginError::Nothing { program })
}

async fn run(
    plugin: &Exec,
    folder: &Path,
    cluster: Option<&Value>,
    talks: bool,
) -> std::io::Result<(bool, Vec<u8>, Vec<u8>)> {
    let program = match plugin.command.contains('/') {
        true => folder.join(&plugin.command).into_os_string(),
        false => plugin.command.clone().into(),
    };
    let mut about = json!({"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": {"interactive": talks}});
    if let Some(cluster) = cluster {
        about["spec"]["cluster"] = cluster.clone();
    }
    let variables = plugin.env.iter().flatten();
    // A plugin talks to the user on standard error.
    let (stdin, stderr) = match talks {
        true => (Stdio::inherit(), Stdio::inherit()),
        false => (Stdio::null(), Stdio::piped()),
    };
    let mut child = Command::new(program)
        .args(plugin.args.iter().flatten())
        .envs(variables.map(|variable| (&variable.name, variable.value.reveal())))
        .env("KUBERNETES_EXEC_INFO", about.to_string())
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(stderr)
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
