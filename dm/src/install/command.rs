//! `dm install`: installs Deployment Manager in a cluster.

use std::process::Stdio;

use clap::Args;
use common::model::{DeploymentName, Namespace};
use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::client::session::Session;
use crate::client::target::properties;
use crate::client::target::read_properties;
use crate::error::{CommandError, Failure};
use crate::install::{Installation, Objects, documents};

/// The same field manager as for an update by Deployment Manager itself: `dm-` and the deployment's name.
const FIELD_MANAGER: &str = "dm-";

/// Print all objects of Deployment Manager for kubectl apply, or apply them.
///
/// Each call prints new certificates and a new key for the store. The key in the cluster never changes: kubectl refuses a
/// different one. Later changes need neither: use --without-secrets.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm install --image registry.example.com/deployment-manager:0.1.0 | kubectl apply --server-side -f -
  dm install --image registry.example.com/deployment-manager:0.1.0 --apply
  dm install --image … --properties replicas=3,manager.storage=50Gi --without-secrets
  dm install --image … --properties-file production.yaml --apply
  dm describe deployment-manager:v1        # all properties

Once it runs, it can look after itself:
  kubectl -n deployment-manager port-forward svc/deployment-manager 8443:443 &
  kubectl -n deployment-manager get configmap deployment-manager-ca -o 'jsonpath={.data.ca\\.crt}' > ca.crt
  export DM_SERVICE=https://localhost:8443 DM_CA_FILE=ca.crt
  dm deploy deployment-manager:v1 --namespace deployment-manager --properties image=…")]
pub struct Install {
    /// Image with the programs of all three services, kubectl and git.
    #[arg(long)]
    pub image: String,
    /// Namespace to install into; it is created.
    #[arg(long, default_value = "deployment-manager")]
    pub namespace: Namespace,
    /// Name of the installation.
    #[arg(long, default_value = "deployment-manager")]
    pub name: DeploymentName,
    /// More properties of the chart, like replicas=3,manager.storage=50Gi.
    #[arg(long, id = "properties", value_name = "NAME=VALUE,…")]
    pub properties: Vec<String>,
    /// YAML file with properties; --properties overrides it.
    #[arg(long, value_name = "FILE")]
    pub properties_file: Option<String>,
    /// Leave out the certificates and the key.
    #[arg(long)]
    pub without_secrets: bool,
    /// Apply the objects with kubectl instead of printing them. Existing certificates and keys stay as they are.
    #[arg(long)]
    pub apply: bool,
    /// Program kubectl for --apply.
    #[arg(
        long,
        value_name = "PATH",
        default_value = "kubectl",
        requires = "apply"
    )]
    pub kubectl: String,
    /// Context of the kubeconfig [default: the current one].
    #[arg(long, requires = "apply")]
    pub context: Option<String>,
}

#[derive(Debug, thiserror::Error)]
#[error("{program}: {said}")]
struct KubectlError {
    program: String,
    said: String,
}

impl CommandError for KubectlError {}

impl Install {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let installation = Installation {
            name: self.name.clone(),
            namespace: self.namespace.clone(),
            properties: self.properties()?,
        };
        let mut objects = installation.objects().await?;
        if self.without_secrets {
            objects.secrets.clear();
        }
        match self.apply {
            true => self.applied(&objects, session).await,
            false => {
                let all = [&objects.namespace].into_iter();
                session.print(&documents(
                    all.chain(&objects.secrets).chain(&objects.rest),
                )?)
            }
        }
    }

    fn properties(&self) -> Result<Map<String, Value>, Failure> {
        let mut all = match &self.properties_file {
            Some(file) => read_properties(file)?,
            None => Map::new(),
        };
        for text in &self.properties {
            properties::merge(&mut all, text)?;
        }
        all.insert("image".to_owned(), json!(self.image));
        Ok(all)
    }

    async fn applied(
        &self,
        objects: &Objects,
        session: &mut Session<'_, '_>,
    ) -> Result<(), Failure> {
        let manager = format!("--field-manager={FIELD_MANAGER}{}", self.name);
        let apply = ["apply", "--server-side", &manager, "-f", "-"];
        let said = self
            .kubectl(&apply, &documents([&objects.namespace])?)
            .await?;
        session.print(&said)?;
        for secret in &objects.secrets {
            let said = match self
                .kubectl(&["create", "-f", "-"], &documents([secret])?)
                .await
            {
                Err(KubectlError { said, .. }) if said.contains("AlreadyExists") => {
                    format!("{} exists and stays as it is\n", object_name(secret))
                }
                outcome => outcome?,
            };
            session.print(&said)?;
        }
        let said = self.kubectl(&apply, &documents(&objects.rest)?).await?;
        session.print(&said)
    }

    /// Runs kubectl with `input` on standard input and returns its output. Secrets are never in the arguments.
    async fn kubectl(&self, arguments: &[&str], input: &str) -> Result<String, KubectlError> {
        let context = self
            .context
            .iter()
            .map(|context| format!("--context={context}"));
        let failed = |said: String| KubectlError {
            program: self.kubectl.clone(),
            said,
        };
        let mut child = Command::new(&self.kubectl)
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
            false => Err(failed(
                String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            )),
        }
    }
}

/// `secret/NAME`, like in the output of kubectl.
fn object_name(object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    format!("{kind}/{name}")
}
