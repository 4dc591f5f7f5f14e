//! The three services without a cluster, and requests as no HTTP client would send them.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use e2e::program::{Service, checkout};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What anything may take on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// What goes between the services, so that a look into the logs can find it.
pub const SERVICE_TOKEN: &str = "service-token-0123456789abcdef";

pub struct Services {
    pub manager: Service,
    pub expandybird: Service,
    pub resourcifier: Service,
    _folder: TempDir,
    http: reqwest::Client,
}

impl Services {
    pub async fn start() -> Result<Self> {
        let folder = TempDir::new()?;
        let at = folder.path();
        let tokens = at.join("service-tokens");
        std::fs::write(&tokens, SERVICE_TOKEN)?;
        let guarded = vec!["--service-token-file".to_owned(), shown(&tokens)];
        let expandybird = Service::start("expandybird", at, guarded.clone()).await?;
        // Nothing listens there, and nothing needs to.
        let kubeconfig = at.join("kubeconfig");
        std::fs::write(&kubeconfig, KUBECONFIG)?;
        let alone = ["--kubeconfig".to_owned(), shown(&kubeconfig)];
        let resourcifier =
            Service::start("resourcifier", at, [&guarded[..], &alone].concat()).await?;
        let own = [
            "--store".to_owned(),
            "memory".to_owned(),
            "--expander-url".to_owned(),
            expandybird.url(),
            "--deployer-url".to_owned(),
            resourcifier.url(),
            "--registry".to_owned(),
            shown(&checkout().join("charts")),
        ];
        let manager = Service::start("manager", at, [&guarded[..], &own].concat()).await?;
        let http = common::client::http::builder().no_proxy().build()?;
        Ok(Self {
            manager,
            expandybird,
            resourcifier,
            _folder: folder,
            http,
        })
    }

    pub fn all(&self) -> [(&'static str, SocketAddr); 3] {
        [
            ("manager", self.manager.address()),
            ("expandybird", self.expandybird.address()),
            ("resourcifier", self.resourcifier.address()),
        ]
    }

    /// That all three live, and that a template is expanded by two of them.
    pub async fn serve(&self) -> Result<()> {
        for (name, address) in self.all() {
            let answer = self.http.get(format!("http://{address}/healthz"));
            let answer = answer.timeout(PATIENCE).send().await.context(name)?;
            ensure!(answer.status() == 200, "{name}: {}", answer.status());
        }
        let (status, body) = self.expand("resources: []").await?;
        ensure!(status == 200, "{status}: {body}");
        Ok(())
    }

    /// Bears an attack: for as long as it goes on, and once after it, others are served.
    pub async fn bear<T>(&self, attack: impl Future<Output = Result<T>>) -> Result<T> {
        let mut attack = std::pin::pin!(attack);
        let outcome = loop {
            tokio::select! {
                biased;
                served = self.serve() => served.context("while the attack went on")?,
                outcome = &mut attack => break outcome,
            }
        };
        self.serve().await.context("after the attack")?;
        outcome
    }

    /// Expands a configuration through the manager.
    pub async fn expand(&self, content: &str) -> Result<(u16, Value)> {
        let body = json!({"name": "honest", "content": content});
        self.ask("/expand", &body).await
    }

    /// `POST` at the manager.
    pub async fn ask(&self, path: &str, body: &Value) -> Result<(u16, Value)> {
        let url = self.manager.url() + path;
        let request = self.http.post(url).json(body).timeout(PATIENCE);
        let answer = request.send().await?;
        let status = answer.status().as_u16();
        Ok((status, answer.json().await?))
    }

    /// Registers a registry at the manager.
    pub async fn register(&self, name: &str, definition: &Value) -> Result<()> {
        let (status, body) = self.ask(&format!("/registries/{name}"), definition).await?;
        ensure!((200..300).contains(&status), "{status}: {body}");
        Ok(())
    }

    /// All that the three have logged.
    pub fn logs(&self) -> Result<String> {
        let logs = [&self.manager, &self.expandybird, &self.resourcifier];
        let texts = logs.map(|service| std::fs::read_to_string(service.log_path()));
        Ok(texts.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
    }
}

const KUBECONFIG: &str = r"
apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: 'http://127.0.0.1:9'}}]
contexts: [{name: none, context: {cluster: none, user: nobody}}]
current-context: none
users: [{name: nobody, user: {}}]
";

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Sends bytes and gives all that is answered until the connection ends, or nothing more comes for a while.
pub async fn raw(address: SocketAddr, bytes: &[u8]) -> Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    // A client whose request is rejected early may not read the rest of the answer: that is not a fault.
    let _ = stream.write_all(bytes).await;
    Ok(answer(&mut stream).await)
}

pub async fn answer(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let _ = tokio::time::timeout(PATIENCE, read).await;
    String::from_utf8_lossy(&answer).into_owned()
}

/// The status of an answer; 0, if there was none.
pub fn status(answer: &str) -> u16 {
    let status = answer.split_whitespace().nth(1);
    status.and_then(|status| status.parse().ok()).unwrap_or(0)
}
