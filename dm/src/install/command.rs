//! `dm install`: installs Deployment Manager in a cluster.

use clap::Args;
use common::model::{DeploymentName, Namespace};
use serde_json::{Map, Value, json};

use crate::client::session::Session;
use crate::client::target::properties;
use crate::client::target::read_properties;
use crate::error::Failure;
use crate::install::{Installation, Objects, documents};
use crate::kubectl::{Kubectl, KubectlError};

/// The same field manager as for an update by Deployment Manager itself: `dm-` and the deployment's name.
const FIELD_MANAGER: &str = "dm-";
/// A store of 100,000 deployments moves in less than this.
const MOVE_TIMEOUT: &str = "--timeout=30m";
const MOVE_NEEDS_CERTIFICATES: &str = "this moves the state of the manager into etcd, and the certificates of etcd must be of the same authority as the others: add --replace-certificates, and give callers the new ca.crt";

/// Print all objects of Deployment Manager for kubectl apply, or apply them.
///
/// Each call prints new certificates and a new key for the store. The key in the cluster never changes: kubectl refuses a
/// different one. Later changes need neither: use --without-secrets.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm install --image registry.example.com/dm:0.1.0 | kubectl apply --server-side -f -
  dm install --image registry.example.com/dm:0.1.0 --apply
  dm install --image registry.example.com/dm:0.1.0 --properties replicas=3 --without-secrets
  dm install --image registry.example.com/dm:0.1.0 --properties-file production.yaml --apply
  dm install --image registry.example.com/dm:0.1.0 --properties managers=3 --apply  # on an etcd
  dm describe deployment-manager:v1  # all properties

Once it runs, it can look after itself:
  kubectl -n deployment-manager port-forward svc/deployment-manager 8443:443 &
  kubectl -n deployment-manager get cm deployment-manager-ca -o 'jsonpath={.data.ca\\.crt}' > ca.crt
  export DM_SERVICE=https://localhost:8443 DM_CA_FILE=ca.crt
  dm deploy deployment-manager:v1 -n deployment-manager --set image=registry.example.com/dm:0.1.0")]
pub struct Install {
    /// Image with the programs of all three services, kubectl and git.
    #[arg(long)]
    pub image: String,
    /// Namespace to install into; it is created.
    #[arg(long, short, default_value = "deployment-manager")]
    pub namespace: Namespace,
    /// Name of the installation.
    #[arg(long, default_value = "deployment-manager")]
    pub name: DeploymentName,
    /// More properties of the chart, like replicas=3,manager.storage=50Gi.
    #[arg(long, id = "properties", alias = "set", value_name = "NAME=VALUE,…")]
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
    /// With --apply: replace all certificates. The services load them within seconds. The key of the store stays.
    #[arg(long, requires = "apply", conflicts_with = "without_secrets")]
    pub replace_certificates: bool,
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

impl Install {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let properties = self.properties()?;
        let objects = self.objects(&properties).await?;
        match self.apply {
            true => self.apply_all(properties, &objects, session).await,
            false => session.print(&documents(self.all(&objects))?),
        }
    }

    async fn objects(&self, properties: &Map<String, Value>) -> Result<Objects, Failure> {
        let installation = Installation {
            name: self.name.clone(),
            namespace: self.namespace.clone(),
            properties: properties.clone(),
        };
        Ok(installation.objects().await?)
    }

    /// Applies the objects. One manager becomes several in two steps: it moves its state into etcd, and then all of them
    /// start.
    async fn apply_all(
        &self,
        properties: Map<String, Value>,
        objects: &Objects,
        session: &mut Session<'_, '_>,
    ) -> Result<(), Failure> {
        let moves = objects.has_several_managers(&self.name) && self.has_one_manager().await?;
        if !moves {
            return self.applied(objects, session).await;
        }
        // An etcd that is there already has certificates of its own, and so have callers who bring all of them.
        let makes_etcd = objects.has_etcd(&self.name) && !self.without_secrets;
        if makes_etcd && !self.replace_certificates {
            return Err(Failure::usage(MOVE_NEEDS_CERTIFICATES));
        }
        session.print(
            "The manager moves the state of its volume into etcd. It does not answer meanwhile.\n",
        )?;
        self.applied(&self.objects(&moving(properties)).await?, session)
            .await?;
        let manager = format!("deployment/{}-manager", self.name);
        let namespace = format!("--namespace={}", self.namespace);
        let wait = ["rollout", "status", &manager, &namespace, MOVE_TIMEOUT];
        session.print(&self.kubectl(&wait, "").await?)?;
        // The certificates are in place.
        self.apply_each(&objects.rest, &[], session).await?;
        let delete = ["delete", &manager, &namespace];
        session.print(&self.kubectl(&delete, "").await?)
    }

    /// Whether the cluster has an installation that keeps its state on a volume, or is moving it.
    async fn has_one_manager(&self) -> Result<bool, Failure> {
        let manager = format!("deployment/{}-manager", self.name);
        let namespace = format!("--namespace={}", self.namespace);
        let get = ["get", &manager, &namespace, "--ignore-not-found", "-o=name"];
        Ok(!self.kubectl(&get, "").await?.trim().is_empty())
    }

    fn all<'o>(&self, objects: &'o Objects) -> impl Iterator<Item = &'o Value> {
        let secrets = (!self.without_secrets)
            .then(|| std::iter::once(&objects.key).chain(&objects.certificates));
        std::iter::once(&objects.namespace)
            .chain(secrets.into_iter().flatten())
            .chain(&objects.rest)
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
        self.apply_each([&objects.namespace], &[], session).await?;
        if !self.without_secrets {
            self.create(&objects.key, session).await?;
            for certificate in &objects.certificates {
                match self.replace_certificates {
                    true => {
                        self.apply_each([certificate], &["--force-conflicts"], session)
                            .await?;
                    }
                    false => self.create(certificate, session).await?,
                }
            }
        }
        self.apply_each(&objects.rest, &[], session).await
    }

    async fn apply_each<'o>(
        &self,
        objects: impl IntoIterator<Item = &'o Value>,
        flags: &[&str],
        session: &mut Session<'_, '_>,
    ) -> Result<(), Failure> {
        let manager = format!("--field-manager={FIELD_MANAGER}{}", self.name);
        let apply = ["apply", "--server-side", &manager, "-f", "-"];
        let apply = [&apply[..], flags].concat();
        session.print(&self.kubectl(&apply, &documents(objects)?).await?)
    }

    /// An existing object stays as it is.
    async fn create(&self, secret: &Value, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let document = documents([secret])?;
        let said = match self.kubectl(&["create", "-f", "-"], &document).await {
            Err(KubectlError { said, .. }) if said.contains("AlreadyExists") => {
                format!("{} exists and stays as it is\n", object_name(secret))
            }
            outcome => outcome?,
        };
        session.print(&said)
    }

    async fn kubectl(&self, arguments: &[&str], input: &str) -> Result<String, KubectlError> {
        let kubectl = Kubectl {
            program: self.kubectl.clone(),
            context: self.context.clone(),
        };
        kubectl.run(arguments, input).await
    }
}

/// The properties of the step that moves the state.
fn moving(mut properties: Map<String, Value>) -> Map<String, Value> {
    let etcd = properties.entry("etcd").or_insert_with(|| json!({}));
    if let Value::Object(etcd) = etcd {
        etcd.insert("move_from_volume".to_owned(), json!(true));
    }
    properties
}

/// `secret/NAME`, like in the output of kubectl.
fn object_name(object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    format!("{kind}/{name}")
}
