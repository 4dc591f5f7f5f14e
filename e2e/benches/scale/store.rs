//! The store that is measured.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use e2e::program::Service;
use e2e::until;

use super::client;
use super::members::{Members, free_ports};

/// As durable as in production, and with the largest size that etcd advises: 8 GiB.
const DURABLE: &[&str] = &["--quota-backend-bytes", "8589934592"];
/// A store that was killed is read, or the lease of the manager that was killed ends.
const PATIENCE: Duration = Duration::from_secs(120);

pub enum Store {
    /// A folder of the manager's own.
    Folder,
    /// Three members that the manager shares the machine with.
    Etcd { place: String, _members: Members },
}

impl Store {
    /// The one with this name: `sled` or `etcd`.
    pub fn new(name: &str) -> Result<Self> {
        match name {
            "sled" => Ok(Self::Folder),
            "etcd" => {
                let ports = free_ports(3);
                let peers: Vec<_> = ports.iter().map(|ports| ports.peer.number()).collect();
                let members = Members::start_behind(&ports, &peers, "http", DURABLE);
                Ok(Self::Etcd {
                    place: format!("etcd:{}", members.address()),
                    _members: members,
                })
            }
            other => bail!("there is no store {other}: use sled or etcd"),
        }
    }

    /// A manager on it, once it has the store.
    pub async fn manager(&self, folder: &Path, stand_in: &str) -> Result<Service> {
        let manager = match self {
            Self::Folder => {
                let place = format!("sled:{}", folder.join("store").display());
                start(folder, &place, stand_in, &[]).await?
            }
            Self::Etcd { place, .. } => on_etcd(place, folder, folder, stand_in).await?,
        };
        ready(&manager).await?;
        Ok(manager)
    }

    /// A manager that waits for the store of that one, where there can be one.
    pub async fn waiting(&self, folder: &Path, stand_in: &str) -> Result<Option<Service>> {
        let Self::Etcd { place, .. } = self else {
            return Ok(None);
        };
        let own = folder.join("waiting");
        std::fs::create_dir(&own)?;
        let manager = on_etcd(place, &own, folder, stand_in).await?;
        ready(&manager).await?;
        Ok(Some(manager))
    }
}

/// The managers of a store have one key.
async fn on_etcd(place: &str, folder: &Path, key: &Path, stand_in: &str) -> Result<Service> {
    let key = key.join("store.key").display().to_string();
    start(folder, place, stand_in, &["--credential-key", &key]).await
}

/// A manager behind which `stand_in` answers.
pub async fn start(
    folder: &Path,
    store: &str,
    stand_in: &str,
    further: &[&str],
) -> Result<Service> {
    let args = [
        "--store",
        store,
        "--expander-url",
        stand_in,
        "--deployer-url",
        stand_in,
    ];
    let args = args.iter().chain(further);
    let args = args.map(|arg| (*arg).to_owned()).collect();
    Service::start("manager", folder, args).await
}

/// A manager listens before it has the store.
pub async fn ready(manager: &Service) -> Result<()> {
    let api = client(manager)?;
    until("the manager to be ready", PATIENCE, || async {
        let report = api.readiness().await.context("no report")?;
        ensure!(report.ready, "{report:?}");
        Ok(())
    })
    .await
}
