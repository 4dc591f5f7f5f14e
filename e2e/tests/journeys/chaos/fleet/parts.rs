//! The processes of a fleet, with a gate on each way between them.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use common::client::ManagerClient;
use e2e::program::{Service, checkout};
use e2e::{Gate, Stack, Way, until};
use tokio::sync::Mutex;

use super::clock;
use super::disturbances::{Disturbances, Part};
use super::fault::{MANAGERS, MEMBERS, Place};
use super::members::{Members, NO_DISK, Ports, free_ports};

/// A lease ends, etcd elects a leader, and a manager starts, on a machine that other tests keep busy.
const PATIENCE: Duration = Duration::from_secs(180);
/// A manager looks at all that it needs before it says whether it is ready.
const ANSWER: Duration = Duration::from_secs(15);
/// A leader of etcd that fails costs a manager its lease, where other tests keep the machine busy.
const LEASE: Duration = Duration::from_secs(10);
/// Between two looks at the managers.
const LOOK: Duration = Duration::from_millis(200);
/// Lines of each manager's log that a failure shows.
const LINES: usize = 30;

pub struct Fleet {
    /// The cluster, expandybird and resourcifier. Its own manager is stopped.
    pub stack: Stack,
    pub managers: Vec<Manager>,
    pub members: Mutex<Members>,
    pub disturbances: Disturbances,
    peers: Vec<Gate>,
    api_server: Gate,
}

pub struct Manager {
    pub service: Mutex<Service>,
    pub url: String,
    /// The file that turns its clock.
    pub clock: Option<PathBuf>,
    /// As `again` does not lock the service.
    log: PathBuf,
    door: Gate,
    members: Vec<Gate>,
    expandybird: Gate,
    resourcifier: Gate,
}

impl Fleet {
    pub async fn start() -> Result<Self> {
        let (mut stack, api_server) = Stack::behind_gate().await?;
        stack.manager.stop().await?;
        let ports = free_ports(MEMBERS);
        let mut peers = Vec::new();
        for ports in &ports {
            let peer = ports.peer.number();
            peers.push(Gate::before(([127, 0, 0, 1], peer).into()).await?);
        }
        let peer_ports: Vec<_> = peers.iter().map(|gate| gate.address().port()).collect();
        let members = Members::start_behind(&ports, &peer_ports, "http", NO_DISK);
        for ports in &ports {
            healthy(ports.client.number()).await?;
        }
        let library = clock::library();
        if library.is_none() {
            println!("the managers' clocks are not turned: libfaketime is not installed");
        }
        let mut managers = Vec::new();
        for number in 0..MANAGERS {
            managers.push(Manager::start(number, &stack, &ports, library.as_ref()).await?);
        }
        stack.dm = stack.dm.at(managers[0].url.clone());
        let fleet = Self {
            stack,
            managers,
            members: Mutex::new(members),
            disturbances: Disturbances::default(),
            peers,
            api_server,
        };
        for manager in &fleet.managers {
            manager.ready().await?;
        }
        Ok(fleet)
    }

    pub fn clients(&self) -> Result<Vec<ManagerClient>> {
        let urls = self.managers.iter().map(|manager| &manager.url);
        Ok(urls
            .map(|url| ManagerClient::new(url))
            .collect::<Result<_, _>>()?)
    }

    pub fn gate(&self, place: Place) -> &Gate {
        match place {
            Place::Member(manager, member) => &self.managers[manager].members[member],
            Place::Door(manager) => &self.managers[manager].door,
            Place::Expandybird(manager) => &self.managers[manager].expandybird,
            Place::Resourcifier(manager) => &self.managers[manager].resourcifier,
            Place::ApiServer => &self.api_server,
            Place::Peer(member) => &self.peers[member],
        }
    }

    /// Starts managers again that have ended by themselves, as Kubernetes does. Ends with an error only: a manager ended
    /// to which nothing was done. On a busy machine, what is done to etcd is a reason too.
    pub async fn supervise(&self, is_busy: bool) -> anyhow::Error {
        loop {
            for (number, manager) in self.managers.iter().enumerate() {
                if let Err(error) = self.look_after(number, manager, is_busy).await {
                    return error;
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn look_after(&self, number: usize, manager: &Manager, is_busy: bool) -> Result<()> {
        // A saboteur has it otherwise.
        let Ok(mut service) = manager.service.try_lock() else {
            return Ok(());
        };
        if !service.has_ended()? {
            return Ok(());
        }
        let now = std::time::Instant::now();
        let is_disturbed = |part, time| self.disturbances.cover(part, now - time, now);
        if is_busy && is_disturbed(Part::Etcd, LEASE) {
            println!("chaos of a fleet: manager {number} ended while etcd was disturbed");
            self.disturbances.recovers(number, now - LEASE);
        } else if !is_disturbed(Part::Manager(number), PATIENCE) {
            bail!(
                "manager {number} ended, and nothing was done to it:\n{}",
                self.logs()
            );
        }
        // One that cannot reach etcd ends, and is started again.
        let _ = service.again().await;
        Ok(())
    }

    /// All ways are open, and every manager can do its work.
    pub async fn heal(&self) -> Result<()> {
        for manager in &self.managers {
            manager.ready().await?;
        }
        Ok(())
    }

    /// The last lines of each manager's log.
    pub fn logs(&self) -> String {
        let mut all = String::new();
        for manager in &self.managers {
            let log = std::fs::read_to_string(&manager.log).unwrap_or_default();
            let lines: Vec<_> = log.lines().collect();
            let last = &lines[lines.len().saturating_sub(LINES)..];
            all += &format!("log of {}:\n{}\n", manager.url, last.join("\n"));
        }
        all
    }
}

impl Manager {
    async fn start(
        number: usize,
        stack: &Stack,
        members: &[Ports],
        library: Option<&PathBuf>,
    ) -> Result<Self> {
        let folder = stack.folder().join(format!("manager-{number}"));
        std::fs::create_dir(&folder)?;
        let mut gates = Vec::new();
        for ports in members {
            let client = ports.client.number();
            gates.push(Gate::before(([127, 0, 0, 1], client).into()).await?);
        }
        let expandybird = Gate::before(stack.expandybird.address()).await?;
        let resourcifier = Gate::before(stack.resourcifier.address()).await?;
        let args = arguments(stack, &gates, &expandybird, &resourcifier);
        let clock = folder.join("clock");
        let mut service = match library {
            Some(library) => {
                clock::turn(&clock, 0)?;
                Service::start_with_clock("manager", (library, &clock), &folder, args).await?
            }
            None => Service::start("manager", &folder, args).await?,
        };
        let door = Gate::before(service.address()).await?;
        // Once it answers, it also stops in order.
        let healthz = format!("{}/healthz", service.url());
        let http = common::client::http::builder().no_proxy().build()?;
        until("a manager to answer", PATIENCE, || async {
            Ok(http.get(&healthz).send().await?.error_for_status()?)
        })
        .await?;
        service
            .again_with(&["--advertise", &url(&door)])
            .await
            .context("with its address for the others")?;
        Ok(Self {
            url: service.url(),
            clock: library.map(|_| clock),
            log: service.log_path(),
            service: Mutex::new(service),
            door,
            members: gates,
            expandybird,
            resourcifier,
        })
    }

    /// Waits until it answers, whichever manager has the store.
    pub async fn ready(&self) -> Result<()> {
        let client = ManagerClient::new(&self.url)?;
        until("a manager to be ready", PATIENCE, || async {
            let report = client.readiness();
            let report = tokio::time::timeout(ANSWER, report).await??;
            ensure!(report.ready, "{report:?}");
            Ok(())
        })
        .await
    }

    pub fn isolate(&self, way: Way) {
        for gate in &self.members {
            gate.set(way);
        }
    }
}

/// Waits until a member of etcd can do its work: a manager that finds none ends.
async fn healthy(port: u16) -> Result<()> {
    let http = common::client::http::builder().no_proxy().build()?;
    let health = format!("http://127.0.0.1:{port}/health");
    until("a member of etcd to be healthy", PATIENCE, || async {
        Ok(http.get(&health).send().await?.error_for_status()?)
    })
    .await
    .map(drop)
}

fn url(gate: &Gate) -> String {
    format!("http://{}", gate.address())
}

fn arguments(
    stack: &Stack,
    members: &[Gate],
    expandybird: &Gate,
    resourcifier: &Gate,
) -> Vec<String> {
    let members: Vec<_> = members.iter().map(url).collect();
    let flags = [
        ("--store", format!("etcd:{}/fleet", members.join(","))),
        (
            "--credential-key",
            stack.folder().join("fleet.key").display().to_string(),
        ),
        ("--expander-url", url(expandybird)),
        ("--deployer-url", url(resourcifier)),
        (
            "--registry",
            checkout().join("charts").display().to_string(),
        ),
    ];
    flags
        .into_iter()
        .flat_map(|(flag, value)| [flag.to_owned(), value])
        .collect()
}
