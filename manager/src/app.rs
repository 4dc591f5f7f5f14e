//! The composition root: builds the parts, and runs the process.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use common::server::{CallerPolicy, serve};
use common::telemetry;
use manager_registry::Registries;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;

use crate::auth::Auth;
use crate::broker::BrokerListener;
use crate::config::{Config, StorePlace};
use crate::credentials::Vault;
use crate::deployer::{Deployer, HttpDeployer};
use crate::expander::{Expander, HttpExpander};
use crate::http;
use crate::keys::{KeyPlace, Ring};
use crate::page;
use crate::registrations::StoredRegistrations;
use crate::service::quota::Quotas;
use crate::service::{self, Services};
use crate::store::Store;
use crate::store::kv::{EtcdKv, Kv, KvError, MemoryKv, Pace, SledKv};
use crate::workflow::expansion::Expansions;
use crate::workflow::step::Dependencies;
use crate::workflow::stored_types::StoredTypes;
use crate::workflow::{Capacity, Engine, Retry};

const ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);
/// After SIGTERM, running requests wait this long for their operations, and then receive that these are suspended. The
/// server waits longer for its requests, and supervisors wait longer before they kill.
const PATIENCE: Duration = Duration::from_secs(8);

/// Every start reads and verifies the whole store. If this takes longer, the manager serves meanwhile.
const CHECK: Duration = Duration::from_millis(500);

/// The manager's dependencies, which tests replace.
pub struct Ports {
    pub kv: Arc<dyn Kv>,
    pub expander: Arc<dyn Expander>,
    pub deployer: Arc<dyn Deployer>,
    pub registry: manager_registry::Options,
    /// The keys for a store that is not sealed yet.
    pub credential_key: KeyPlace,
    pub retry: Retry,
    pub operation_timeout: Duration,
    pub capacity: Capacity,
    pub quotas: Quotas,
    pub keep_manifests: Option<usize>,
    /// Whether the manager checks for drift on a schedule.
    pub drift_checks: bool,
    pub auth: Auth,
}

/// The assembled manager.
pub struct App {
    pub services: Services,
    pub engine: Engine,
}

impl App {
    pub async fn new(ports: Ports) -> anyhow::Result<Self> {
        let store = Store::open(ports.kv).await?;
        let ring = match store.ring() {
            Some(ring) => ring,
            None => Arc::new(Ring::open(ports.credential_key, false)?),
        };
        let vault = Arc::new(Vault::new(store.clone(), ring));
        let registrations = Arc::new(StoredRegistrations {
            store: store.clone(),
            vault: vault.clone(),
        });
        let registries = Arc::new(Registries::new(&ports.registry, registrations)?);
        let expansions = Arc::new(Expansions::new(
            ports.expander.clone(),
            registries.clone(),
            StoredTypes {
                store: store.clone(),
                access: ports.auth.access.clone(),
            },
            ports.retry.clone(),
        ));
        let dependencies = Dependencies {
            store: store.clone(),
            expansions: expansions.clone(),
            deployer: ports.deployer.clone(),
            access: ports.auth.access.clone(),
            audit: ports.auth.audit.clone(),
            retry: ports.retry.clone(),
            keep_manifests: ports.keep_manifests,
            drift_checks: ports.drift_checks,
        };
        let engine = Engine::new(dependencies, ports.capacity);
        let services = Services::new(service::Dependencies {
            store,
            engine: engine.clone(),
            registries,
            vault,
            expansions,
            expander: ports.expander,
            deployer: ports.deployer,
            retry: ports.retry,
            operation_timeout: ports.operation_timeout,
            auth: ports.auth,
            quotas: ports.quotas,
            drift_checks: ports.drift_checks,
        });
        Ok(Self { services, engine })
    }
}

/// Serves until SIGTERM or SIGINT.
pub async fn run(config: Config) -> anyhow::Result<()> {
    telemetry::init(config.listen.log_format);
    let (kv, etcd) = open_store(&config).await?;
    let ports = ports(&config, kv)?;
    let kv = ports.kv.clone();
    let checking = match tokio::time::timeout(CHECK, kv.check(Pace::Fast)).await {
        Ok(checked) => {
            checked?;
            None
        }
        Err(_) => Some(tokio::spawn(async move { kv.check(Pace::Gentle).await })),
    };
    let app = App::new(ports)
        .await
        .with_context(|| format!("failed to start on store {}", config.store))?;
    let resumed = app
        .engine
        .recover()
        .await
        .context("failed to read the unfinished operations")?;
    tracing::info!(store = %config.store, resumed, "store {} is open; {resumed} operations go on", config.store);
    tokio::spawn(park_after_patience(app.engine.clone()));
    let services = app.services;
    if services.admin.vault.has_old_keys() {
        let vault = services.admin.vault.clone();
        tokio::spawn(async move { finish_rotation(&vault).await });
    }
    if let Some(interval) = config.drift_interval {
        let drift = services.drift.clone();
        tokio::spawn(async move { drift.run(interval).await });
    }
    let access = match services.authenticators.are_configured() {
        true => CallerPolicy::Checked,
        false => CallerPolicy::Open(
            "who may do what (--auth-cluster, --auth-oidc-issuer or --auth-tokens, with --auth-rbac or --auth-policy)",
        ),
    };
    let broker = BrokerListener::open(&config.broker, &config.listen, services.writes.clone())?;
    if let Some(broker) = &broker {
        broker.recover().await?;
    }
    let brokering = async {
        match broker {
            Some(broker) => broker.serve().await,
            None => Ok(()),
        }
    };
    let serving = serve(&config.listen, ADDRESS, access, move |routes| {
        http::routes(routes, &services);
        page::routes(routes, config.ui);
    });
    tokio::select! {
        served = async { tokio::try_join!(serving, brokering) } => drop(served?),
        Err(damage) = finished(checking) => return Err(damage),
        error = lost(etcd.as_ref()) => return Err(error.into()),
    }
    app.engine.suspend().await;
    if let Some(etcd) = etcd {
        etcd.release().await;
    }
    tracing::info!("stopped; what was running goes on at the next start");
    Ok(())
}

/// The store, and the part of it that another manager may take over.
async fn open_store(config: &Config) -> anyhow::Result<(Arc<dyn Kv>, Option<EtcdKv>)> {
    let (key, accept) = (config.credential_key()?, config.accept_loss.as_deref());
    Ok(match &config.store {
        StorePlace::Sled(folder) => {
            SledKv::look(folder)?;
            let disk = Arc::new(SledKv::open(folder, accept)?);
            (Store::sealed(disk, key).await?, None)
        }
        StorePlace::Etcd(address) => {
            let etcd = EtcdKv::open(address, &config.store_access, accept).await?;
            let sealed = Store::sealed(Arc::new(etcd.clone()), key).await?;
            (sealed, Some(etcd))
        }
        StorePlace::Memory => (Arc::new(MemoryKv::default()), None),
    })
}

/// Waits until another manager has the store.
async fn lost(etcd: Option<&EtcdKv>) -> KvError {
    match etcd {
        Some(etcd) => etcd.lost().await,
        None => std::future::pending().await,
    }
}

fn ports(config: &Config, kv: Arc<dyn Kv>) -> anyhow::Result<Ports> {
    let access = config.services.access()?;
    let expander = HttpExpander::new(&config.expander_url, &access).context("--expander-url")?;
    let deployer = HttpDeployer::new(&config.deployer_url, &access).context("--deployer-url")?;
    let deployer: Arc<dyn Deployer> = Arc::new(deployer);
    Ok(Ports {
        kv,
        expander: Arc::new(expander),
        auth: config.auth.open(&deployer)?,
        deployer,
        registry: config.registry.clone(),
        credential_key: config.credential_key()?,
        retry: Retry::default(),
        operation_timeout: config.operation_timeout,
        capacity: config.capacity,
        quotas: config.quotas.clone(),
        keep_manifests: config.keep_manifests.map(NonZeroUsize::get),
        drift_checks: config.drift_interval.is_some(),
    })
}

/// Resumes an interrupted rotation: while there are old keys, every record is checked.
async fn finish_rotation(vault: &Vault) {
    if let Err(error) = vault.reseal().await {
        let error = common::server::error::chain(&error);
        tracing::error!(
            error,
            "not all is sealed with the newest key: {error}; try dm admin rotate"
        );
    }
}

/// The end of a verification that takes longer.
async fn finished(checking: Option<JoinHandle<Result<(), KvError>>>) -> anyhow::Result<()> {
    if let Some(checking) = checking {
        checking.await??;
    }
    Ok(())
}

async fn park_after_patience(engine: Engine) {
    let (Ok(mut term), Ok(mut int)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        tracing::warn!("signals cannot be watched: requests in hand are cut off at a stop");
        return;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
    tokio::time::sleep(PATIENCE).await;
    engine.suspend().await;
}
