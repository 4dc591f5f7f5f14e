//! `dm install`: Deployment Manager itself, for a cluster.

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

/// The owner of the objects' fields is the one that an update by the system itself has: `dm-` and the deployment's name.
const FIELD_MANAGER: &str = "dm-";

/// Print all that Deployment Manager is made of in a cluster, for kubectl to apply, or apply it.
///
/// What is printed holds new certificates and a new key for the store at every call. The key in the cluster is never changed:
/// kubectl refuses another one. Later changes need neither: print them with --without-secrets.
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
    /// The image that has the programs of all three services, kubectl and git.
    #[arg(long)]
    pub image: String,
    /// The namespace that it is installed into; it is made.
    #[arg(long, default_value = "deployment-manager")]
    pub namespace: Namespace,
    /// What the installation is called.
    #[arg(long, default_value = "deployment-manager")]
    pub name: DeploymentName,
    /// Further properties of the chart, like replicas=3,manager.storage=50Gi.
    #[arg(long, id = "properties", value_name = "NAME=VALUE,…")]
    pub properties: Vec<String>,
    /// File of properties, YAML; --properties go over it.
    #[arg(long, value_name = "FILE")]
    pub properties_file: Option<String>,
    /// Leave out certificates and key.
    #[arg(long)]
    pub without_secrets: bool,
    /// Apply it with kubectl and do not print it. Certificates and a key that are there stay as they are.
    #[arg(long)]
    pub apply: bool,
    /// The kubectl to apply it with.
    #[arg(
        long,
        value_name = "PATH",
        default_value = "kubectl",
        requires = "apply"
    )]
    pub kubectl: String,
    /// The kubeconfig's context; its current one if absent.
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
                    format!("{} is there and stays as it is\n", object_name(secret))
                }
                outcome => outcome?,
            };
            session.print(&said)?;
        }
        let said = self.kubectl(&apply, &documents(&objects.rest)?).await?;
        session.print(&said)
    }

    /// What kubectl said, having read `input`. Secrets go this way: never through its arguments.
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
                // A kubectl that ends before it has read all tells why in its own words.
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

/// `secret/NAME`, as kubectl names what it made.
fn object_name(object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    format!("{kind}/{name}")
}
