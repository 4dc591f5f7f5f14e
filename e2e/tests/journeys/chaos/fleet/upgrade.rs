//! Managers of the release before this one and of this one have the store in turn, under load.
//!
//! ```text
//! first   before ─► this ─► before ─► this ─┬─ dm admin upgrade ─┬─ before: refuses the store ─► this
//! second  before ─► this ─► before ─► this ─┘                    └─
//! load    ──writes, at any of them──►
//! ```

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use common::api::page::PageQuery;
use common::client::ManagerClient;
use common::model::OperationStatus;
use common::model::limits::PAGE_ITEMS_MAX;
use e2e::program::{Service, checkout, path_of};
use e2e::{Stack, until};
use tokio::sync::{Mutex, watch};

use super::super::load::{Load, Outcome};
use super::super::number;
use super::super::verdict;
use super::members::Members;

const FIXED: u64 = 20;
/// A lease ends, and a manager starts, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Deployments are written this often before the next manager is replaced.
const WRITTEN: usize = 3;
/// Between two looks.
const LOOK: Duration = Duration::from_millis(200);

/// The programs.
struct Managers {
    before: PathBuf,
    this: PathBuf,
    services: [Mutex<Service>; 2],
    urls: [String; 2],
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "builds the release before this one: make upgrade-test"]
async fn managers_of_two_releases_have_a_store_in_turn_until_it_is_upgraded() -> Result<()> {
    let seed = number("DM_CHAOS_SEED")?.unwrap_or(FIXED);
    println!("upgrade: DM_CHAOS_SEED={seed}");
    let members = Members::start(1);
    let mut stack = Stack::start().await?;
    stack.manager.stop().await?;
    let managers = Managers::start(&stack, &members.address()).await?;
    stack.dm = stack.dm.at(managers.urls[0].clone());
    let (stop, stopped) = watch::channel(false);
    let clients = managers.urls.iter().map(|url| ManagerClient::new(url));
    let clients = clients.collect::<Result<_, _>>()?;
    let load = Load::new(clients, &stack.namespace, seed, stopped);
    let upgraded = async {
        let done = managers.upgrade(&stack).await;
        let _ = stop.send(true);
        done
    };
    let (upgraded, outcome) = tokio::join!(upgraded, load.run());
    let logs = managers.logs().await;
    upgraded.with_context(|| logs.clone())?;
    judge(&stack, outcome, &logs).await
}

async fn judge(stack: &Stack, outcome: Outcome, logs: &str) -> Result<()> {
    let mut faults = outcome.faults;
    faults.extend(verdict::faults(stack, &outcome.expected).await?);
    println!(
        "upgrade: {} operations, {} deployments at the end",
        outcome.operations,
        outcome.expected.len()
    );
    ensure!(faults.is_empty(), "{}\n{logs}", faults.join("\n"));
    Ok(())
}

impl Managers {
    async fn start(stack: &Stack, store: &str) -> Result<Self> {
        let before = earlier()?;
        let first = service(stack, store, "first", &before).await?;
        let second = service(stack, store, "second", &before).await?;
        let managers = Self {
            urls: [first.url(), second.url()],
            services: [Mutex::new(first), Mutex::new(second)],
            this: path_of("manager")?,
            before,
        };
        managers.ready(0).await?;
        managers.ready(1).await?;
        Ok(managers)
    }

    async fn upgrade(&self, stack: &Stack) -> Result<()> {
        self.written().await?;
        for program in [&self.this, &self.before, &self.this] {
            for number in [0, 1] {
                self.replace(number, program).await?;
                self.written().await?;
            }
        }
        // One that was stopped while it waited for the store is named until its registration ends.
        until("two managers to be named", PATIENCE, || async {
            let formats = stack.dm.json(&["admin", "upgrade", "--dry-run"]).await?;
            ensure!(formats["inForce"] == 2, "{formats}");
            let managers = formats["managers"].as_array().map(Vec::len);
            ensure!(managers == Some(2), "{formats}");
            Ok(())
        })
        .await?;
        let formats = stack.dm.json(&["admin", "upgrade"]).await?;
        ensure!(formats["inForce"] == formats["newest"], "{formats}");
        self.written().await?;
        self.refuses(1).await?;
        self.replace(1, &self.this).await?;
        self.replace(0, &self.this).await?;
        self.written().await
    }

    /// Stops one in order, and starts another program in its place.
    async fn replace(&self, number: usize, program: &Path) -> Result<()> {
        let mut service = self.services[number].lock().await;
        // One that had refused the store has ended.
        if !service.has_ended()? {
            service.stop().await?;
        }
        service.becomes(program);
        service.again().await?;
        drop(service);
        self.ready(number).await
    }

    /// The manager of before does not take a store of the new format.
    async fn refuses(&self, number: usize) -> Result<()> {
        let mut service = self.services[number].lock().await;
        service.stop().await?;
        service.becomes(&self.before);
        // It may listen before it has the store.
        let started = service.again().await;
        drop(service);
        if started.is_ok() {
            self.takes_over_and_ends(number).await?;
        }
        let log = std::fs::read_to_string(self.services[number].lock().await.log_path())?;
        ensure!(log.contains("run the newer manager that wrote it"), "{log}");
        Ok(())
    }

    /// Its turn comes when the other one is replaced.
    async fn takes_over_and_ends(&self, number: usize) -> Result<()> {
        let mut other = self.services[1 - number].lock().await;
        other.stop().await?;
        let ended = until("the manager of before to end", PATIENCE, || async {
            match self.services[number].lock().await.has_ended()? {
                true => Ok(()),
                false => bail!("it runs"),
            }
        });
        ended.await?;
        other.again().await
    }

    async fn ready(&self, number: usize) -> Result<()> {
        let client = ManagerClient::new(&self.urls[number])?;
        until("a manager to be ready", PATIENCE, || async {
            let report = tokio::time::timeout(LOOK * 10, client.readiness()).await??;
            ensure!(report.ready, "{report:?}");
            Ok(())
        })
        .await
    }

    /// Waits until the load has ended some more operations.
    async fn written(&self) -> Result<()> {
        let before = until("a list of operations", PATIENCE, || self.ended()).await?;
        until("the load to go on", PATIENCE, || async {
            let now = self.ended().await?;
            ensure!(now >= before + WRITTEN, "{now} operations, {before} before");
            Ok(())
        })
        .await
    }

    /// How many operations have ended.
    async fn ended(&self) -> Result<usize> {
        let client = ManagerClient::new(&self.urls[0])?;
        let most = PageQuery {
            limit: Some(PAGE_ITEMS_MAX),
            page_token: None,
        };
        let all = client.operations(None, &most).await?.items.into_iter();
        Ok(all
            .filter(|one| one.status == OperationStatus::Done)
            .count())
    }

    async fn logs(&self) -> String {
        let mut logs = String::new();
        for service in &self.services {
            let path = service.lock().await.log_path();
            logs += &std::fs::read_to_string(path).unwrap_or_default();
        }
        logs
    }
}

/// The manager of the release before this one.
fn earlier() -> Result<PathBuf> {
    let built = Command::new(checkout().join("e2e/earlier/build.sh")).output()?;
    ensure!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    Ok(PathBuf::from(String::from_utf8(built.stdout)?.trim()))
}

async fn service(stack: &Stack, store: &str, name: &str, program: &Path) -> Result<Service> {
    let folder = stack.folder().join(name);
    std::fs::create_dir(&folder)?;
    let key = stack.folder().join("store.key").display().to_string();
    let registry = checkout().join("charts").display().to_string();
    let flags = [
        ("--store", format!("etcd:{store}")),
        ("--credential-key", key),
        ("--expander-url", stack.expandybird.url()),
        ("--deployer-url", stack.resourcifier.url()),
        ("--registry", registry),
    ];
    let args = flags
        .into_iter()
        .flat_map(|(flag, value)| [flag.to_owned(), value]);
    Service::start_program("manager", program, &folder, args.collect()).await
}
