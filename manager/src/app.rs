//! The composition root: builds the parts, and runs the process.

use std::iter;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::ServiceConfig;
use anyhow::Context;
use common::client::http::builder;
use common::server::{CallerPolicy, Listening, ServeError, Serving, Stopper};
use common::telemetry;
use manager_registry::Registries;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::task::AbortOnDropHandle;

use crate::audit::Audit;
use crate::auth::{AccessControl, Auth};
use crate::broker::BrokerListener;
use crate::clusters::Clusters;
use crate::config::{Config, StorePlace};
use crate::credentials::Vault;
use crate::deployer::{Deployer, Deployers, HttpDeployer};
use crate::expander::{Expander, HttpExpander};
use crate::http::LateServices;
use crate::keys::{KeyPlace, Ring};
use crate::registrations::StoredRegistrations;
use crate::relay::{self, Leaving, Proof, Relays, Standby, advertised};
use crate::service::writes::quota::Quotas;
use crate::service::{self, Services};
use crate::store::Store;
use crate::store::kv::{
    Candidate, EtcdAddress, EtcdKv, Kv, KvError, MemoryKv, Pace, SledKv, metrics,
};
use crate::store::maintenance::transfer;
use crate::workflow::expansion::Expansions;
use crate::workflow::expansion::stored_types::StoredTypes;
use crate::workflow::step::Dependencies;
use crate::workflow::{Capacity, Engine, Retry, engine};
use crate::{http, page};

const ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);
/// After SIGTERM, running requests wait this long for their operations, and then receive that these are suspended. The
/// server waits longer for its requests, and supervisors wait longer before they kill.
const PATIENCE: Duration = Duration::from_secs(8);

/// What is not answered after its time is cut off within this.
const LAST: Duration = Duration::from_secs(1);

/// Every start reads and verifies the whole store. If this takes longer, the manager serves meanwhile.
const CHECK: Duration = Duration::from_millis(500);

/// The manager's dependencies beside its store, which tests replace.
pub struct Ports {
    pub expander: Arc<dyn Expander>,
    pub deployer: Arc<dyn Deployer>,
    /// Where the deployer is, for people.
    pub deployer_url: String,
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
    pub fn new(store: Store, ports: Ports) -> anyhow::Result<Self> {
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
        let own = ports.deployer.clone();
        let deployers: Arc<dyn Deployers> =
            Arc::new(Clusters::new(own, store.clone(), vault.clone()));
        let access = AccessControl::new(ports.auth.authorizer.clone(), deployers.clone());
        let expansions = Arc::new(Expansions::new(
            ports.expander.clone(),
            registries.clone(),
            StoredTypes {
                store: store.clone(),
                access: access.clone(),
            },
            deployers.clone(),
            ports.retry.clone(),
        ));
        let dependencies = Dependencies {
            store: store.clone(),
            expansions: expansions.clone(),
            deployers: deployers.clone(),
            access: access.clone(),
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
            deployer_url: ports.deployer_url,
            deployers,
            access,
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
    let traces = config.listen.traces.open("manager", builder())?;
    telemetry::init(config.listen.log_format, traces.as_ref());
    let done = serve(config).await;
    if let Some(traces) = traces {
        traces.end().await;
    }
    done
}

async fn serve(mut config: Config) -> anyhow::Result<()> {
    let outside = Outside::new(&config)?;
    let access = outside.policy();
    metrics::owns(false);
    let Some(mut store) = OpenStore::open(&mut config, &outside, &access).await? else {
        return Ok(());
    };
    metrics::owns(true);
    metrics::show();
    engine::metrics::show();
    let ports = outside.ports(&config)?;
    let checking = verify(store.kv.clone()).await?;
    let app = Store::open(store.kv.clone())
        .await
        .map_err(anyhow::Error::from)
        .and_then(|store| App::new(store, ports))
        .with_context(|| format!("failed to start on store {}", config.store))?;
    let resumed = app
        .engine
        .recover()
        .await
        .context("failed to read the unfinished operations")?;
    tracing::info!(store = %config.store, resumed, "store {} is open; {resumed} operations go on", config.store);
    start_tasks(&app.services, &config);
    if store.etcd.is_none() {
        tokio::spawn(park_after_patience(app.engine.clone(), Signals::watch()));
    }
    let (api, broker) = store.addresses(&config, access)?;
    let (leaving, (pass_api, pass_broker)) = (Leaving::default(), store.relays());
    let broker_leaving = (leaving.clone(), pass_broker);
    let brokering = broker_server(broker, &config, &app.services, broker_leaving).await?;
    let (services, left) = (app.services, leaving.clone());
    let serving = api.start(move |routes| {
        left.routes(routes, pass_api.clone(), |routes| {
            http::routes(routes, &services);
            page::routes(routes, config.ui, &services.browsers);
        });
    })?;
    store.serves().await;
    let mut servers: Vec<_> = iter::once(serving).chain(brokering).collect();
    let (signals, stoppers) = (store.signals.take(), stoppers(&servers));
    tokio::select! {
        served = all_ended(&mut servers) => served?,
        Err(damage) = finished(checking) => return Err(damage),
        error = lost(store.etcd.as_ref()) => return Err(error.into()),
        () = is_for_others(store.etcd.as_ref(), signals, &app.engine, &stoppers) => {
            store.leave(&leaving, &app.engine, &mut servers).await;
            tracing::info!("stopped; the next manager goes on with what was running");
            return Ok(());
        }
    }
    app.engine.suspend().await;
    if let Some(etcd) = &store.etcd {
        etcd.release().await;
    }
    tracing::info!("stopped; what was running goes on at the next start");
    Ok(())
}

/// What the manager uses beside its store.
#[derive(Clone)]
struct Outside {
    expander: Arc<dyn Expander>,
    deployer: Arc<dyn Deployer>,
    auth: Auth,
}

impl Outside {
    fn new(config: &Config) -> anyhow::Result<Self> {
        let access = config.services.access()?;
        let expander =
            HttpExpander::new(&config.expander_url, &access).context("--expander-url")?;
        let deployer =
            HttpDeployer::new(&config.deployer_url, &access).context("--deployer-url")?;
        let deployer: Arc<dyn Deployer> = Arc::new(deployer);
        Ok(Self {
            expander: Arc::new(expander),
            auth: config.auth.open(&deployer)?,
            deployer,
        })
    }

    fn policy(&self) -> CallerPolicy {
        match self.auth.authenticators.are_configured() {
            true => CallerPolicy::Checked,
            false => CallerPolicy::Open(
                "who may do what (--auth-cluster, --auth-oidc-issuer or --auth-tokens, with --auth-rbac or --auth-policy)",
            ),
        }
    }

    fn ports(self, config: &Config) -> anyhow::Result<Ports> {
        Ok(Ports {
            expander: self.expander,
            auth: self.auth,
            deployer: self.deployer,
            deployer_url: config.deployer_url.clone(),
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
}

/// The store, and the listeners of a manager that waited for it.
struct OpenStore {
    kv: Arc<dyn Kv>,
    /// The part of it that another manager may take over.
    etcd: Option<EtcdKv>,
    standby: Option<Standby>,
    /// Since the standby listened.
    signals: Option<Signals>,
}

impl OpenStore {
    /// None if the process is to stop before it has the store.
    async fn open(
        config: &mut Config,
        outside: &Outside,
        access: &CallerPolicy,
    ) -> anyhow::Result<Option<Self>> {
        let (key, accept) = (config.credential_key()?, config.accept_loss.clone());
        let without_others = |kv| Self {
            kv,
            etcd: None,
            standby: None,
            signals: None,
        };
        if config.store_from.is_some() && !matches!(config.store, StorePlace::Etcd(_)) {
            anyhow::bail!(
                "--store-from needs a store on etcd: the state of a folder moves to other stores by a backup (dm admin backup)"
            );
        }
        Ok(match config.store.clone() {
            StorePlace::Sled(folder) => {
                transfer::check(&folder)?;
                SledKv::look(&folder)?;
                let disk = Arc::new(SledKv::open(&folder, accept.as_deref())?);
                Some(without_others(Store::sealed(disk, key).await?))
            }
            StorePlace::Etcd(address) => {
                Self::wait_for(config, outside, access.clone(), &address).await?
            }
            StorePlace::Memory => Some(without_others(Arc::new(MemoryKv::default()))),
        })
    }

    async fn wait_for(
        config: &mut Config,
        outside: &Outside,
        access: CallerPolicy,
        address: &EtcdAddress,
    ) -> anyhow::Result<Option<Self>> {
        let (key, accept) = (config.credential_key()?, config.accept_loss.as_deref());
        // Managers recognise each other by the store's key.
        let ring = Arc::new(Ring::open(key.clone(), false)?);
        Store::recognise(address, &config.store_access, &ring).await?;
        config.listen.relays = Some(Arc::new(Proof::new(ring.clone())));
        let api = Listening::bind(&config.listen, ADDRESS, access)?;
        let broker = BrokerListener::bind(&config.broker, &config.listen)?;
        let own = advertised::owner(config.advertise.as_ref(), &api, broker.as_ref());
        let candidate = Arc::new(Store::candidate(own, &ring));
        let services = config.services.access()?;
        let mut signals = Signals::watch().context("signals cannot be watched")?;
        let reads = LateServices::default();
        let own = reads.clone();
        let own = move |routes: &mut ServiceConfig| {
            http::stored_reads(routes, &own, relay::own_first, relay::passed_on);
        };
        let mut standby = Standby::start(candidate.clone(), api, broker, &services, &ring, own)?;
        let _reading = AbortOnDropHandle::new(tokio::spawn(read_meanwhile(
            config.clone(),
            outside.clone(),
            address.clone(),
            ring,
            reads,
        )));
        let opening = async {
            let etcd = EtcdKv::open(address, &config.store_access, accept, &candidate).await?;
            let kv = Store::sealed(Arc::new(etcd.clone()), key.clone()).await?;
            if let Some(from) = &config.store_from {
                transfer::run(&kv, from, key, &config.store.to_string()).await?;
            }
            anyhow::Ok((etcd, kv))
        };
        let Some(opened) = standby.until(opening, signals.received()).await? else {
            return Ok(None);
        };
        if standby.stops() {
            match opened {
                Ok((etcd, _)) => leave_to_others(etcd, candidate, &mut standby).await,
                Err(error) => tracing::warn!("stopped while the store was opened: {error:#}"),
            }
            return Ok(None);
        }
        let (etcd, kv) = opened?;
        Ok(Some(Self {
            kv,
            etcd: Some(etcd),
            standby: Some(standby),
            signals: Some(signals),
        }))
    }

    /// Where the API and the service broker are served.
    fn addresses(
        &mut self,
        config: &Config,
        access: CallerPolicy,
    ) -> Result<(Listening, Option<Listening>), ServeError> {
        match self.standby.as_mut().and_then(Standby::addresses) {
            Some(addresses) => Ok(addresses),
            None => Ok((
                Listening::bind(&config.listen, ADDRESS, access)?,
                BrokerListener::bind(&config.broker, &config.listen)?,
            )),
        }
    }

    /// What its servers pass on when it leaves the store to others.
    fn relays(&self) -> (Option<Relays>, Option<Relays>) {
        match &self.standby {
            Some(standby) => {
                let (api, broker) = standby.relays();
                (Some(api), broker)
            }
            None => (None, None),
        }
    }

    /// Gives the store up first, and passes on to the next owner what its servers still have in hand.
    async fn leave(&mut self, leaving: &Leaving, engine: &Engine, servers: &mut [Serving]) {
        let (Some(etcd), Some(standby)) = (self.etcd.clone(), &mut self.standby) else {
            return;
        };
        tracing::info!(
            "stopping: the store is for the next manager, which goes on with what is running"
        );
        leaving.begin(PATIENCE);
        let candidate = standby.candidate().clone();
        candidate.leaves();
        leaving.short_requests().await;
        engine.suspend().await;
        metrics::owns(false);
        etcd.release().await;
        let mut owners = candidate.owners();
        let follows = tokio::spawn(async move { etcd.follow_owner(&candidate).await });
        // New connections are accepted until callers can be served elsewhere.
        let next = tokio::time::timeout(LAST, owners.wait_for(Option::is_some));
        tokio::join!(leaving.requests(), async { drop(next.await) });
        stoppers(servers).iter().for_each(Stopper::stop);
        let ended = async { tokio::join!(all_ended(servers), standby.drained()) };
        if tokio::time::timeout(LAST, ended).await.is_err() {
            tracing::debug!("connections that are open are closed");
        }
        follows.abort();
    }

    /// Callers that were waiting are served from now on.
    async fn serves(&mut self) {
        if let Some(standby) = self.standby.take() {
            self.standby = Some(standby.hand_over().await);
        }
    }
}

/// The store came when the process was to stop. Requests in hand are passed on to the next owner, if others wait for the
/// store.
async fn leave_to_others(etcd: EtcdKv, candidate: Arc<Candidate>, standby: &mut Standby) {
    let patience = match has_others(&etcd).await {
        true => PATIENCE,
        false => LAST,
    };
    etcd.release().await;
    let follows = async move { etcd.follow_owner(&candidate).await };
    let _follows = AbortOnDropHandle::new(tokio::spawn(follows));
    if tokio::time::timeout(patience, standby.drained())
        .await
        .is_err()
    {
        tracing::warn!("stopped before it had the store: requests in hand are cut off");
    }
}

/// As soon as there is a store, another manager's, its reads are answered here too.
async fn read_meanwhile(
    config: Config,
    outside: Outside,
    address: EtcdAddress,
    ring: Arc<Ring>,
    reads: LateServices,
) {
    let services = async || {
        let store = Store::of_another(&address, &config.store_access, ring.clone()).await?;
        let Some(store) = store else {
            return anyhow::Ok(None);
        };
        let mut ports = outside.clone().ports(&config)?;
        // The manager that has the store has the last word on what is denied, and records it.
        ports.auth.audit = Audit::default();
        Ok(Some(App::new(store, ports)?.services))
    };
    loop {
        match services().await {
            Ok(Some(services)) => return reads.are(services),
            Ok(None) => {}
            Err(error) => tracing::debug!("the store cannot be read yet: {error:#}"),
        }
        tokio::time::sleep(LAST).await;
    }
}

/// Verifies the store. If that takes longer, the manager serves meanwhile.
async fn verify(kv: Arc<dyn Kv>) -> Result<Option<JoinHandle<Result<(), KvError>>>, KvError> {
    match tokio::time::timeout(CHECK, kv.check(Pace::Fast)).await {
        Ok(checked) => checked.map(|()| None),
        Err(_) => Ok(Some(tokio::spawn(
            async move { kv.check(Pace::Gentle).await },
        ))),
    }
}

fn start_tasks(services: &Services, config: &Config) {
    if services.admin.vault.has_old_keys() {
        let vault = services.admin.vault.clone();
        tokio::spawn(async move { finish_rotation(&vault).await });
    }
    if let Some(interval) = config.drift_interval {
        let drift = services.drift.clone();
        tokio::spawn(async move { drift.run(interval).await });
    }
}

async fn broker_server(
    listening: Option<Listening>,
    config: &Config,
    services: &Services,
    leaving: (Leaving, Option<Relays>),
) -> anyhow::Result<Option<Serving>> {
    let Some(listening) = listening else {
        return Ok(None);
    };
    let broker = BrokerListener::open(&config.broker, services).await?;
    broker.recover().await?;
    Ok(Some(broker.start(listening, leaving)?))
}

fn stoppers(servers: &[Serving]) -> Vec<Stopper> {
    servers.iter().map(Serving::stopper).collect()
}

/// Waits for the ends of all servers, or for the first that failed.
async fn all_ended(servers: &mut [Serving]) -> Result<(), ServeError> {
    futures::future::try_join_all(servers.iter_mut().map(Serving::ended)).await?;
    Ok(())
}

/// Waits for the signal to stop. Returns if other managers wait for the store. Otherwise the servers stop, as with a
/// store that one process has for itself. The signal may have come when only the standby's servers listened.
async fn is_for_others(
    etcd: Option<&EtcdKv>,
    signals: Option<Signals>,
    engine: &Engine,
    servers: &[Stopper],
) {
    let (Some(etcd), Some(mut signals)) = (etcd, signals) else {
        return std::future::pending().await;
    };
    signals.received().await;
    if has_others(etcd).await {
        return;
    }
    servers.iter().for_each(Stopper::stop);
    tokio::time::sleep(PATIENCE).await;
    engine.suspend().await;
    std::future::pending().await
}

/// Whether other managers wait for the store, as far as etcd answers.
async fn has_others(etcd: &EtcdKv) -> bool {
    let managers = tokio::time::timeout(LAST, etcd.managers()).await;
    managers.is_ok_and(|managers| managers.is_ok_and(|managers| managers.len() > 1))
}

/// Waits until another manager has the store.
async fn lost(etcd: Option<&EtcdKv>) -> KvError {
    match etcd {
        Some(etcd) => etcd.lost().await,
        None => std::future::pending().await,
    }
}

/// Resumes an interrupted rotation: while there are old keys, every record is checked.
async fn finish_rotation(vault: &Vault) {
    if let Err(error) = vault.reseal().await {
        let error = common::server::answer::error::chain(&error);
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

async fn park_after_patience(engine: Engine, signals: std::io::Result<Signals>) {
    let Ok(mut signals) = signals else {
        tracing::warn!("signals cannot be watched: requests in hand are cut off at a stop");
        return;
    };
    signals.received().await;
    tokio::time::sleep(PATIENCE).await;
    engine.suspend().await;
}

/// SIGTERM and SIGINT, from the time at which this was made.
struct Signals {
    both: [Signal; 2],
    came: bool,
}

impl Signals {
    fn watch() -> std::io::Result<Self> {
        let kinds = [SignalKind::terminate(), SignalKind::interrupt()];
        let [term, int] = kinds.map(signal);
        Ok(Self {
            both: [term?, int?],
            came: false,
        })
    }

    /// Waits until the process is to stop.
    async fn received(&mut self) {
        let [term, int] = &mut self.both;
        if !self.came {
            tokio::select! {
                _ = term.recv() => {}
                _ = int.recv() => {}
            }
            self.came = true;
        }
    }
}
