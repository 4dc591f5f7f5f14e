//! A manager with fakes, for tests: the registry is a folder, and the cluster and the templates are in memory.

mod stores;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use common::client::ManagerClient;
use common::server::{CallerPolicy, Listen, ServeError, serve};
use tempfile::TempDir;

use crate::app::{App, Ports};
use crate::deployer::Deployer;
use crate::deployer::fake::FakeDeployer;
use crate::expander::fake::FakeExpander;
use crate::keys::KeyPlace;
use crate::service::writes::quota::Quotas;
use crate::store::Store;
use crate::store::kv::{Kv, MemoryKv, Scan};
use crate::workflow::{Capacity, Retry};

pub use self::stores::{DyingKv, LateKv, WrappedKv};

/// The store and the fakes, which outlive a manager.
pub struct TestBed {
    pub kv: Arc<dyn Kv>,
    pub expander: Arc<FakeExpander>,
    pub deployer: Arc<FakeDeployer>,
    /// The number of manifests to keep.
    pub keep_manifests: Option<usize>,
    /// Whether the manager says that it checks for drift.
    pub drift_checks: bool,
    /// How callers are authenticated. By default they are not.
    pub auth: crate::auth::Options,
    pub quotas: Quotas,
    pub capacity: Capacity,
    /// How long a job of the deployer may write after a sign of life.
    pub lease: Duration,
    /// How long the manager waits for a late report.
    pub grace: Duration,
    registry: TempDir,
}

impl TestBed {
    pub fn new() -> Self {
        Self::on(Arc::new(MemoryKv::default()))
    }

    /// On another store than one in memory.
    pub fn on(kv: Arc<dyn Kv>) -> Self {
        let bed = Self {
            kv,
            expander: Arc::default(),
            deployer: Arc::default(),
            keep_manifests: None,
            drift_checks: false,
            auth: crate::auth::Options::default(),
            quotas: Quotas::default(),
            capacity: Capacity::default(),
            lease: Duration::ZERO,
            grace: Duration::ZERO,
            registry: tempfile::tempdir().unwrap(),
        };
        let pair = r#"{"resources": [{"name": "left", "type": "Service"}, {"name": "right", "type": "Pod"}]}"#;
        bed.add_template("pair", pair);
        bed
    }

    /// Adds version v1 of a template to the registry.
    pub fn add_template(&self, name: &str, content: &str) {
        self.add_version(name, "v1", content);
    }

    /// Adds or changes a version of a template in the registry.
    pub fn add_version(&self, name: &str, version: &str, content: &str) {
        self.add_file(&format!("{name}/{version}/{name}.jinja"), content);
    }

    /// Adds or changes a file of the registry.
    pub fn add_file(&self, path: &str, content: &str) {
        let file = self.registry.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }

    pub async fn manager(&self) -> App {
        self.manager_on(self.kv.clone()).await
    }

    pub async fn manager_on(&self, kv: Arc<dyn Kv>) -> App {
        self.try_manager_on(kv).await.unwrap()
    }

    pub async fn try_manager_on(&self, kv: Arc<dyn Kv>) -> anyhow::Result<App> {
        let options = manager_registry::Options {
            registry: Some(self.registry.path().display().to_string()),
            ..manager_registry::Options::default()
        };
        let deployer: Arc<dyn Deployer> = self.deployer.clone();
        let ports = Ports {
            auth: self.auth.open(&deployer)?,
            expander: self.expander.clone(),
            deployer: self.deployer.clone(),
            deployer_url: "http://127.0.0.1:8082".to_owned(),
            registry: options,
            credential_key: KeyPlace::Memory,
            retry: Retry {
                waits: vec![Duration::ZERO; 3],
                cluster: Duration::ZERO,
                grace: self.grace,
                lease: self.lease,
                store_waits: (Duration::ZERO, Duration::ZERO),
            },
            operation_timeout: Duration::from_secs(60),
            capacity: self.capacity,
            keep_manifests: self.keep_manifests,
            drift_checks: self.drift_checks,
            quotas: self.quotas.clone(),
        };
        App::new(Store::open(kv).await?, ports)
    }

    /// Every key of the store, with `·` between the parts.
    pub async fn keys(&self) -> Vec<String> {
        let all = self
            .kv
            .scan(Scan {
                limit: usize::MAX,
                ..Scan::default()
            })
            .await
            .unwrap();
        all.into_iter()
            .map(|(key, _)| String::from_utf8(key).unwrap().replace('\0', "·"))
            .collect()
    }
}

/// A manager that serves on its own port.
pub struct Served {
    pub bed: TestBed,
    pub app: App,
    pub client: ManagerClient,
    pub url: String,
    server: tokio::task::JoinHandle<Result<(), ServeError>>,
}

impl Served {
    pub async fn new() -> Self {
        Self::on(TestBed::new()).await
    }

    pub async fn on(bed: TestBed) -> Self {
        let app = bed.manager().await;
        app.engine.recover().await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let port_file = folder.path().join("port");
        let listen = Listen {
            listen: Some(([127, 0, 0, 1], 0).into()),
            port_file: Some(port_file.clone()),
            ..Listen::default()
        };
        let services = app.services.clone();
        let address = ([127, 0, 0, 1], 0).into();
        let server = tokio::spawn(async move {
            let access = CallerPolicy::Open("authentication");
            serve(&listen, address, access, move |routes| {
                crate::http::routes(routes, &services)
            })
            .await
        });
        let port = loop {
            match std::fs::read_to_string(&port_file) {
                Ok(text) => break text.trim().to_owned(),
                Err(_) => tokio::task::yield_now().await,
            }
        };
        let url = format!("http://127.0.0.1:{port}");
        Self {
            bed,
            app,
            client: ManagerClient::new(&url).unwrap(),
            url,
            server,
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// The items of a page.
pub fn items<T: serde::de::DeserializeOwned>(page: &str) -> Vec<T> {
    serde_json::from_str::<common::api::page::Page<T>>(page)
        .unwrap()
        .items
}

/// Copies a folder, such as that of an open store: what a crash at this moment would leave.
pub fn copied(from: &Path, to: &Path) {
    let is_gone = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    // An open store renames its temporary files. Then the moment has passed, and the copy starts again.
    while let Err(error) = copied_once(from, to) {
        assert!(is_gone(&error) && from.is_dir(), "{error}");
    }
}

fn copied_once(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            std::fs::create_dir_all(&target)?;
            copied_once(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
