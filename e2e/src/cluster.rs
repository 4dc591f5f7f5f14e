//! The API server that the tests talk to: the project's own control plane, or the one that `DM_E2E_KUBECONFIG` names.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tempfile::NamedTempFile;
use tokio::sync::OnceCell;

use crate::program::checkout;
use crate::until;

/// On a busy machine of two cores; an idle one takes some ten seconds.
const START: Duration = Duration::from_secs(120);

const NOT_OWN: &str = "only the project's own control plane can do this: unset DM_E2E_KUBECONFIG";

static SHARED: OnceCell<Cluster> = OnceCell::const_new();
static SECOND: OnceCell<Cluster> = OnceCell::const_new();

pub struct Cluster {
    kubeconfig: PathBuf,
    kubectl: PathBuf,
    own: Option<Own>,
}

/// The control plane that this process started. It ends with this process, however that ends: it watches its standard input.
struct Own {
    process: Child,
    dir: PathBuf,
}

impl Cluster {
    /// The one cluster of this test run, started by the first who asks.
    pub async fn shared() -> Result<&'static Cluster> {
        SHARED.get_or_try_init(Cluster::start).await
    }

    /// A second control plane, for tests with several clusters.
    pub async fn second() -> Result<&'static Cluster> {
        SECOND.get_or_try_init(Cluster::start_own).await
    }

    #[expect(clippy::disallowed_methods, reason = "a test has no flags of its own")]
    async fn start() -> Result<Self> {
        if let Some(kubeconfig) = std::env::var_os("DM_E2E_KUBECONFIG") {
            return Ok(Self {
                kubeconfig: kubeconfig.into(),
                kubectl: build()?.join("kubectl"),
                own: None,
            });
        }
        Self::start_own().await
    }

    async fn start_own() -> Result<Self> {
        let built = build()?;
        let kubectl = built.join("kubectl");
        // The control plane removes it when it ends.
        let dir = std::env::temp_dir().join(format!("dm-e2e-{}", common::request_id::fresh()));
        let mut process = Command::new(built.join("dm-cluster"))
            .args(["run", "--die-with-parent", "--audit", "--dir"])
            .arg(&dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the control plane")?;
        let kubeconfig = ready(&mut process, &dir).await?;
        Ok(Self {
            kubeconfig,
            kubectl,
            own: Some(Own { process, dir }),
        })
    }

    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The log of every write (`e2e::audit`). Only the project's own control plane keeps one.
    pub fn audit_log(&self) -> Result<PathBuf> {
        let own = self.own.as_ref().context(NOT_OWN)?;
        Ok(own.dir.join("audit.jsonl"))
    }

    /// Stops the whole control plane for a time (SIGSTOP): connections stay open, and nothing is answered. A process of its
    /// own lets it go on, so that it does not stay stopped when the test ends early.
    pub async fn freeze(&self, time: Duration) -> Result<()> {
        let own = self.own.as_ref().context(NOT_OWN)?;
        let script = format!(
            "kill -STOP {pid}; sleep {}; kill -CONT {pid}",
            time.as_secs_f32(),
            pid = own.process.id()
        );
        let mut shell = tokio::process::Command::new("sh");
        let status = shell.args(["-c", &script]).status().await?;
        ensure!(status.success(), "cannot stop the control plane: {status}");
        Ok(())
    }

    /// Where the API server listens, as its kubeconfig says.
    pub fn address(&self) -> Result<SocketAddr> {
        let server = self.kubectl(&[
            "config",
            "view",
            "--minify",
            "-o",
            "jsonpath={.clusters[0].cluster.server}",
        ])?;
        let host = server
            .strip_prefix("https://")
            .context("the API server is not reached by https")?;
        host.parse().with_context(|| {
            format!("a gate goes before an address like 127.0.0.1:6443, not {host}")
        })
    }

    /// The kubeconfig with another address in the API server's place.
    pub fn kubeconfig_at(&self, address: SocketAddr) -> Result<String> {
        let own = self.address()?.to_string();
        let text = std::fs::read_to_string(&self.kubeconfig)?;
        Ok(text.replace(&own, &address.to_string()))
    }

    /// The kubectl that was built with the control plane.
    pub fn kubectl_path(&self) -> &Path {
        &self.kubectl
    }

    /// Runs kubectl and gives what it wrote, or an error with what it complained of.
    pub fn kubectl(&self, args: &[&str]) -> Result<String> {
        let output = Command::new(&self.kubectl)
            .env("KUBECONFIG", &self.kubeconfig)
            .env(
                "KUBECACHEDIR",
                self.kubeconfig.with_file_name("kubectl-cache"),
            )
            .args(args)
            .stdin(Stdio::null())
            .output()?;
        ensure!(
            output.status.success(),
            "kubectl {}: {}",
            args.join(" "),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Makes or changes the objects of a YAML text.
    pub fn apply(&self, objects: &str) -> Result<()> {
        self.kubectl_with(objects, &["apply", "--server-side"])?;
        Ok(())
    }

    /// Runs kubectl with a text as its file.
    pub fn kubectl_with(&self, text: &str, args: &[&str]) -> Result<String> {
        let mut file = NamedTempFile::new()?;
        file.write_all(text.as_bytes())?;
        let path = file.path().display().to_string();
        self.kubectl(&[args, &["-f", &path]].concat())
    }

    /// What `kubectl get … -o json` finds, as a list of objects.
    pub fn objects(&self, namespace: &str, kinds: &str) -> Result<Vec<Value>> {
        let text = self.kubectl(&["get", kinds, "--namespace", namespace, "-o", "json"])?;
        let list: Value = serde_json::from_str(&text)?;
        Ok(list["items"].as_array().cloned().unwrap_or_default())
    }

    /// Their names, sorted.
    pub fn names(&self, namespace: &str, kind: &str) -> Result<Vec<String>> {
        let name = |object: &Value| {
            object["metadata"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let mut names: Vec<_> = self.objects(namespace, kind)?.iter().map(name).collect();
        names.sort();
        Ok(names)
    }
}

async fn ready(process: &mut Child, dir: &Path) -> Result<PathBuf> {
    let kubeconfig = dir.join("kubeconfig");
    until("the control plane", START, || {
        let ended = process.try_wait();
        let found = kubeconfig.is_file();
        let log = dir.join("log");
        async move {
            if let Some(status) = ended? {
                bail!(
                    "it ended with {status}; its log: {}",
                    std::fs::read_to_string(log).unwrap_or_default()
                );
            }
            ensure!(found, "no kubeconfig yet");
            Ok(())
        }
    })
    .await?;
    Ok(kubeconfig)
}

/// The folder with `dm-cluster` and `kubectl`; built if this state of its sources never was.
fn build() -> Result<PathBuf> {
    let script = checkout().join("e2e/cluster/build.sh");
    let output = Command::new(&script)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(
        output.status.success(),
        "{} failed with {}",
        script.display(),
        output.status
    );
    Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim()))
}
