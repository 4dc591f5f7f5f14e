//! `dm clusters`: the clusters that deployments can be applied to.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use common::model::{Capacity, Cluster, ClusterName, CredentialName};

use crate::bundle::files::{self, ReadError};
use crate::client::change::options::label;
use crate::client::session::{Session, all_pages};
use crate::error::Failure;
use crate::terminal::table::Table;

/// List, register, change or delete the clusters that deployments can be applied to.
///
/// A cluster is a resourcifier that runs in it. `dm deploy --cluster NAME` applies a deployment there. The cluster default is that
/// of the manager's own resourcifier.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "\
Examples:
  dm clusters
  dm clusters create west --url https://west.example.com:8082 --credential west-token --ca west.pem
  dm clusters create west --url https://west.example.com:8082 --label tier=dev --cpu 64
  dm clusters get west -o json
  dm clusters delete west"
)]
pub struct Clusters {
    #[command(subcommand)]
    pub action: Option<Action>,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// List the clusters, which is the default.
    List,
    /// Show a cluster.
    Get {
        /// Name of the cluster.
        name: ClusterName,
    },
    /// Register a cluster.
    Create(Create),
    /// Change what the flags name; the rest stays.
    Update(Update),
    /// Delete a cluster that has no deployments.
    Delete {
        /// Name of the cluster.
        name: ClusterName,
    },
}

#[derive(Debug, Args)]
pub struct Create {
    /// Name of the cluster.
    pub name: ClusterName,
    /// URL of the cluster's resourcifier.
    #[arg(long)]
    pub url: String,
    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct Update {
    /// Name of the cluster.
    pub name: ClusterName,
    /// URL of the cluster's resourcifier. It must be the same cluster.
    #[arg(long)]
    pub url: Option<String>,
    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Debug, Args)]
pub struct Settings {
    /// Label of the cluster; may be repeated. With update, these replace all labels.
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,
    /// Processors of the cluster, as Kubernetes writes them.
    #[arg(long, value_name = "QUANTITY")]
    pub cpu: Option<String>,
    /// Memory of the cluster, as Kubernetes writes it.
    #[arg(long, value_name = "QUANTITY")]
    pub memory: Option<String>,
    /// Credential with the token for the resourcifier, as set with setcredential.
    #[arg(long)]
    pub credential: Option<CredentialName>,
    /// PEM file with the authority that signed the certificate of the resourcifier [default: the machine's authorities].
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

impl Settings {
    fn apply(self, cluster: &mut Cluster) -> Result<(), Failure> {
        if !self.labels.is_empty() {
            cluster.labels = self.labels.into_iter().collect();
        }
        if self.cpu.is_some() || self.memory.is_some() {
            let before = cluster.capacity.take().unwrap_or_default();
            cluster.capacity = Some(Capacity {
                cpu: self.cpu.or(before.cpu),
                memory: self.memory.or(before.memory),
            });
        }
        cluster.credential = self.credential.or(cluster.credential.take());
        if let Some(file) = &self.ca {
            cluster.ca = Some(read(file)?);
        }
        Ok(())
    }
}

fn read(file: &Path) -> Result<String, Failure> {
    let opened = File::open(file).map_err(|error| ReadError::Other(error.to_string()));
    opened
        .and_then(files::text)
        .map_err(|reason| Failure::failed(format!("{} cannot be read: {reason}", file.display())))
}

impl Clusters {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let client = session.client.clone();
        let cluster = match self.action.unwrap_or(Action::List) {
            Action::List => return list(session).await,
            Action::Get { name } => client.cluster(&name).await?,
            Action::Create(Create {
                name,
                url,
                settings,
            }) => {
                let mut cluster = Cluster {
                    name,
                    url,
                    labels: Default::default(),
                    capacity: None,
                    credential: None,
                    ca: None,
                };
                settings.apply(&mut cluster)?;
                client.create_cluster(&cluster).await?
            }
            Action::Update(Update {
                name,
                url,
                settings,
            }) => {
                let mut cluster = client.cluster(&name).await?;
                cluster.url = url.unwrap_or(cluster.url);
                settings.apply(&mut cluster)?;
                client.replace_cluster(&cluster).await?
            }
            Action::Delete { name } => client.delete_cluster(&name).await?,
        };
        let width = session.terminal.width;
        session.show(&cluster, |cluster| {
            table(std::slice::from_ref(cluster)).render(width)
        })
    }
}

async fn list(session: &mut Session<'_, '_>) -> Result<(), Failure> {
    let client = session.client.clone();
    let read = |page| {
        let client = &client;
        async move { client.clusters(&page).await }
    };
    let page = all_pages(read).await?;
    let width = session.terminal.width;
    session.show(&page, |page| table(&page.items).render(width))
}

fn table(clusters: &[Cluster]) -> Table {
    let mut table = Table::new(&["NAME", "URL", "LABELS", "CPU", "MEMORY", "CREDENTIAL"]);
    for cluster in clusters {
        let labels = cluster.labels.iter();
        let labels: Vec<_> = labels
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let capacity = cluster.capacity.clone().unwrap_or_default();
        let credential = cluster.credential.as_ref();
        table.row([
            cluster.name.as_str(),
            &cluster.url,
            &labels.join(","),
            capacity.cpu.as_deref().unwrap_or_default(),
            capacity.memory.as_deref().unwrap_or_default(),
            credential.map_or("", CredentialName::as_str),
        ]);
    }
    table
}
