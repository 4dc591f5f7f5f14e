//! The three services together, as a user has them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use common::client::ManagerClient;
use reqwest::{Method, StatusCode};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Service, checkout};
use crate::{Cluster, Dm, Gate, User, installed, until};

/// Services look at each other again every few seconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where the store is, in the stack's folder.
const DISK: &str = "disk";

/// Where a manager that keeps one keeps its audit log, in the stack's folder.
pub const AUDIT_LOG: &str = "audit.log";

/// What an installation's resourcifier is started with.
const GUARDED: &[&str] = &["--require-identity"];

pub struct Stack {
    pub manager: Service,
    pub expandybird: Service,
    pub resourcifier: Service,
    pub dm: Dm,
    pub namespace: String,
    pub cluster: &'static Cluster,
    folder: TempDir,
    http: reqwest::Client,
    /// There are an installation's rights in the cluster.
    is_guarded: bool,
}

/// What a stack has of its own beyond the three programs.
struct Setting {
    cluster: &'static Cluster,
    folder: TempDir,
    namespace: String,
    /// Resourcifier's.
    kubeconfig: PathBuf,
    /// Of so many MiB.
    disk: Option<usize>,
    /// Whether the services log all that they can, and the manager keeps an audit log and takes registries in the folder.
    tells_all: bool,
    resourcifier: &'static [&'static str],
    manager: &'static [&'static str],
    /// The URLs of a second expandybird and of a second resourcifier.
    second: Option<[String; 2]>,
    /// The collector of traces.
    collector: Option<String>,
}

impl Setting {
    async fn new() -> Result<Self> {
        let cluster = Cluster::shared().await?;
        Ok(Self {
            cluster,
            folder: TempDir::new()?,
            namespace: new_namespace(cluster)?,
            kubeconfig: cluster.kubeconfig().to_owned(),
            disk: None,
            tells_all: false,
            resourcifier: &[],
            manager: &[],
            second: None,
            collector: None,
        })
    }

    async fn service(&self, name: &'static str, mut args: Vec<String>) -> Result<Service> {
        let at = self.folder.path();
        let collector = self.collector.iter();
        args.extend(collector.flat_map(|url| ["--traces".to_owned(), url.clone()]));
        match self.tells_all {
            true => Service::start_telling_all(name, at, args).await,
            false => Service::start(name, at, args).await,
        }
    }
}

impl Stack {
    /// All three, ready, with the bundled registry, in a new namespace.
    pub async fn start() -> Result<Self> {
        Self::with(Setting::new().await?).await
    }

    /// The same with services that log all that they can, and a manager that keeps an audit log.
    pub async fn telling_all() -> Result<Self> {
        let mut setting = Setting::new().await?;
        setting.tells_all = true;
        Self::with(setting).await
    }

    /// The same with the store on a disk of its own of so many MiB, which does not outlive the manager's process.
    pub async fn with_disk(mib: usize) -> Result<Self> {
        let mut setting = Setting::new().await?;
        setting.disk = Some(mib);
        Self::with(setting).await
    }

    /// The same with a gate before the API server; the test itself goes another way.
    pub async fn behind_gate() -> Result<(Self, Gate)> {
        let mut setting = Setting::new().await?;
        let cluster = setting.cluster;
        let gate = Gate::before(cluster.address()?).await?;
        setting.kubeconfig = setting.folder.path().join("kubeconfig");
        std::fs::write(&setting.kubeconfig, cluster.kubeconfig_at(gate.address())?)?;
        Ok((Self::with(setting).await?, gate))
    }

    /// The same with a manager that takes folders below the stack's own as registries, as `make demo` has it.
    pub async fn for_a_user() -> Result<Self> {
        let mut setting = Setting::new().await?;
        setting.manager = &["--registry-folder", "."];
        Self::with(setting).await
    }

    /// The same with a second expandybird and a second resourcifier, which share the work with the stack's own.
    pub async fn doubled() -> Result<(Self, Service, Service)> {
        let mut setting = Setting::new().await?;
        let at = setting.folder.path().join("second");
        std::fs::create_dir(&at)?;
        let expandybird = Service::start("expandybird", &at, Vec::new()).await?;
        let args = resourcifier_args(&setting);
        let resourcifier = Service::start("resourcifier", &at, args).await?;
        setting.second = Some([expandybird.url(), resourcifier.url()]);
        Ok((Self::with(setting).await?, expandybird, resourcifier))
    }

    /// The same with services that send their traces to a collector.
    pub async fn traced(collector: &str) -> Result<Self> {
        let mut setting = Setting::new().await?;
        setting.collector = Some(collector.to_owned());
        Self::with(setting).await
    }

    /// The same with authenticated callers: the cluster knows their identities and permissions. resourcifier has the
    /// permissions of an installation, and requires an identity.
    pub async fn guarded() -> Result<Self> {
        let mut setting = Setting::new().await?;
        let (cluster, folder) = (setting.cluster, setting.folder.path());
        setting.kubeconfig = installed::resourcifier(cluster, &setting.namespace, folder).await?;
        setting.resourcifier = GUARDED;
        setting.manager = &["--auth-cluster", "--auth-rbac"];
        Self::with(setting).await
    }

    /// Somebody of the namespace, who may nothing yet.
    pub fn user(&self, name: &str) -> Result<User> {
        User::new(self.cluster, &self.namespace, name, &self.dm)
    }

    /// A further manager over the same two services, with a store that is forgotten with it, and these flags.
    pub async fn another_manager(&self, folder: &str, flags: &[String]) -> Result<Service> {
        let at = self.folder().join(folder);
        std::fs::create_dir(&at)?;
        let urls = [self.expandybird.url(), self.resourcifier.url()];
        let mut args = manager_args(&at, urls);
        args.extend_from_slice(flags);
        Service::start("manager", &at, args).await
    }

    /// One of several managers on the same store on etcd, over the same two services. Ready.
    pub async fn manager_on_etcd(
        &self,
        folder: &str,
        store: &str,
        flags: &[(&str, String)],
    ) -> Result<Service> {
        let at = self.folder().join(folder);
        std::fs::create_dir(&at)?;
        let key = self.folder().join("store.key").display().to_string();
        let own = [
            ("--store", store.to_owned()),
            ("--credential-key", key),
            ("--expander-url", self.expandybird.url()),
            ("--deployer-url", self.resourcifier.url()),
        ];
        let all = own.iter().chain(flags);
        let args = all.flat_map(|(flag, value)| [(*flag).to_owned(), value.clone()]);
        let manager = Service::start("manager", &at, args.collect()).await?;
        let client = ManagerClient::new(&manager.url())?;
        until("a manager to be ready", PATIENCE, || async {
            let report = client.readiness().await?;
            ensure!(report.ready, "{report:?}");
            Ok(())
        })
        .await?;
        Ok(manager)
    }

    /// The resourcifier of another cluster, which has the stack's namespace then.
    pub async fn resourcifier_of(&self, cluster: &Cluster, flags: &[&str]) -> Result<Service> {
        cluster.kubectl(&["create", "namespace", &self.namespace])?;
        let at = self.folder().join("resourcifier");
        std::fs::create_dir(&at)?;
        let mut args = resourcifier_on(cluster, cluster.kubeconfig());
        args.extend(flags.iter().map(ToString::to_string));
        Service::start("resourcifier", &at, args).await
    }

    async fn with(setting: Setting) -> Result<Self> {
        let at = setting.folder.path();
        let args = resourcifier_args(&setting);
        let resourcifier = setting.service("resourcifier", args).await?;
        let expandybird = setting.service("expandybird", Vec::new()).await?;
        let place = at.join(DISK);
        std::fs::create_dir(&place)?;
        let mut urls = [expandybird.url(), resourcifier.url()];
        for (all, second) in urls.iter_mut().zip(setting.second.iter().flatten()) {
            *all = format!("{all},{second}");
        }
        let mut args = manager_args(&place, urls);
        args.extend(setting.manager.iter().map(ToString::to_string));
        if setting.tells_all {
            let audit_log = at.join(AUDIT_LOG).display().to_string();
            args.extend(["--audit-log".to_owned(), audit_log]);
            let registries = at.display().to_string();
            args.extend(["--registry-folder".to_owned(), registries]);
            let cache = place.join("cache").display().to_string();
            args.extend(["--registry-cache".to_owned(), cache]);
        }
        let manager = match setting.disk {
            None => setting.service("manager", args).await?,
            Some(mib) => Service::start_with_disk("manager", (&place, mib), at, args).await?,
        };
        let dm = Dm::new(manager.url(), at);
        let http = common::client::http::builder().no_proxy().build()?;
        let stack = Self {
            manager,
            expandybird,
            resourcifier,
            dm,
            namespace: setting.namespace,
            cluster: setting.cluster,
            folder: setting.folder,
            http,
            is_guarded: setting.resourcifier == GUARDED,
        };
        stack.ready().await?;
        Ok(stack)
    }

    /// Waits until the manager says that it can do its work.
    pub async fn ready(&self) -> Result<()> {
        until("the stack to be ready", PATIENCE, || async {
            let (status, body) = self.get("/readyz").await?;
            ensure!(status == StatusCode::OK, "{body}");
            Ok(())
        })
        .await
    }

    /// The folder that `dm` runs in.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of all that the manager keeps.
    pub fn disk(&self) -> PathBuf {
        self.folder().join(DISK)
    }

    /// The folder that is the store.
    pub fn store(&self) -> PathBuf {
        self.disk().join("store")
    }

    /// Writes a file for `dm` to read.
    pub fn write(&self, name: &str, content: &str) -> Result<PathBuf> {
        let path = self.folder().join(name);
        let folder = path.parent().unwrap_or(self.folder());
        std::fs::create_dir_all(folder)?;
        std::fs::write(&path, content)?;
        Ok(path)
    }

    /// `GET` at the manager; the body as JSON.
    pub async fn get(&self, path: &str) -> Result<(StatusCode, Value)> {
        self.request(Method::GET, path, None).await
    }

    /// Any request at the manager.
    pub async fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Value)> {
        let mut request = self
            .http
            .request(method, format!("{}{path}", self.manager.url()));
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await?;
        let status = response.status();
        let text = response.text().await?;
        Ok((
            status,
            serde_json::from_str(&text)
                .with_context(|| format!("{path} answered {status}: {text:?}"))?,
        ))
    }

    /// `dm` with the test's namespace behind the arguments.
    pub async fn deploy(&self, args: &[&str]) -> Result<String> {
        self.dm
            .ok(&[&["deploy"], args, &["--namespace", &self.namespace]].concat())
            .await
    }

    /// Names of the test's objects of a kind.
    pub fn names(&self, kind: &str) -> Result<Vec<String>> {
        self.cluster.names(&self.namespace, kind)
    }

    /// Pods that the cluster calls Ready.
    pub fn ready_pods(&self) -> Result<usize> {
        let pods = self.cluster.objects(&self.namespace, "pods")?;
        Ok(pods.iter().filter(|pod| is_ready(pod)).count())
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let _ = self
            .cluster
            .kubectl(&["delete", "namespace", &self.namespace, "--wait=false"]);
        if self.is_guarded {
            let _ = installed::remove(self.cluster, &self.namespace);
        }
    }
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    conditions
        .iter()
        .any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

fn new_namespace(cluster: &Cluster) -> Result<String> {
    let name = format!("dm-e2e-{}", &common::request_id::fresh()[16..]);
    cluster.kubectl(&["create", "namespace", &name])?;
    Ok(name)
}

fn resourcifier_args(setting: &Setting) -> Vec<String> {
    let mut args = resourcifier_on(setting.cluster, &setting.kubeconfig);
    args.extend(setting.resourcifier.iter().map(ToString::to_string));
    args
}

fn resourcifier_on(cluster: &Cluster, kubeconfig: &Path) -> Vec<String> {
    let path = |path: &Path| path.display().to_string();
    vec![
        "--kubectl".into(),
        path(cluster.kubectl_path()),
        "--kubeconfig".into(),
        path(kubeconfig),
    ]
}

fn manager_args(folder: &Path, [expanders, deployers]: [String; 2]) -> Vec<String> {
    vec![
        "--store".into(),
        format!("sled:{}", folder.join("store").display()),
        "--expander-url".into(),
        expanders,
        "--deployer-url".into(),
        deployers,
        "--registry".into(),
        checkout().join("charts").display().to_string(),
    ]
}
