//! The real thing: the three services, the API server, and its audit log. All sequences of a run share one world.

mod faults;
mod refusals;
mod rights;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use e2e::audit::{AuditLog, AuditedWrite};
use e2e::{ApiClient, Cluster, Stack};
use reqwest::header::HeaderMap;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::model::Names;
use crate::model::configuration::{TEMPLATE, Template};
use crate::script::Request;

/// Operations are this long by default, so that what holds them does not hold the tester.
const OPERATION: &str = "10s";
/// Between two looks of the manager for drift.
const DRIFT: &str = "4s";
/// Of the template `set`, in its versions.
const REGISTRY: &str = "sequences";
/// The longest operation is a minute, and a stop may wait for what is on its way.
const PATIENCE: Duration = Duration::from_secs(150);

pub struct World {
    pub api: ApiClient,
    pub cluster: &'static Cluster,
    stack: Mutex<Stack>,
    url: String,
    http: Client,
    audit: std::sync::Mutex<Audit>,
    /// Whether a process was killed or the control plane stood still, ever: 503 is an answer since then.
    disturbed: AtomicBool,
}

struct Audit {
    log: AuditLog,
    writes: Vec<AuditedWrite>,
}

/// What the manager answered.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Answer {
    /// The code of an error.
    pub fn code(&self) -> Option<&str> {
        match self.status.is_success() {
            true => None,
            false => self.body["code"].as_str(),
        }
    }
}

impl World {
    pub async fn start() -> Result<Arc<Self>> {
        let mut stack = Stack::start().await?;
        let registries = registries(stack.folder())?;
        let mut flags = vec!["--operation-timeout", OPERATION, "--drift-interval", DRIFT];
        flags.extend(["--registry-folder", &registries]);
        stack.manager.again_with(&flags).await?;
        stack.ready().await?;
        register(&stack, &registries).await?;
        let api = ApiClient::new(stack.cluster)?;
        refusals::install(&api).await?;
        rights::install(&api).await?;
        let http = common::client::http::builder()
            .no_proxy()
            .timeout(PATIENCE)
            .build()?;
        Ok(Arc::new(Self {
            api,
            cluster: stack.cluster,
            url: stack.manager.url(),
            http,
            audit: std::sync::Mutex::new(Audit {
                log: AuditLog::open(&stack.cluster.audit_log()?, true)?,
                writes: Vec::new(),
            }),
            disturbed: AtomicBool::new(false),
            stack: Mutex::new(stack),
        }))
    }

    /// Sends a request to the manager, once. An error: nothing was answered.
    pub async fn send(&self, request: &Request) -> Result<Answer> {
        let url = format!("{}{}", self.url, request.path);
        let mut send = self.http.request(request.method.clone(), url);
        for (name, value) in &request.headers {
            send = send.header(*name, value);
        }
        if let Some(body) = &request.body {
            send = send.json(body);
        }
        let response = send.send().await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let text = response.text().await?;
        let body = match text.is_empty() {
            true => Value::Null,
            false => serde_json::from_str(&text).with_context(|| format!("not JSON: {text:?}"))?,
        };
        Ok(Answer {
            status,
            headers,
            body,
        })
    }

    /// A read, repeated until it is answered with something else than 5xx.
    pub async fn read(&self, path: &str) -> Result<Answer> {
        e2e::until(&format!("an answer to {path}"), PATIENCE, || async {
            let answer = self.send(&Request::get(path.to_owned())).await?;
            anyhow::ensure!(!answer.status.is_server_error(), "{}", answer.body);
            Ok(answer)
        })
        .await
    }

    /// All items of a list.
    pub async fn items(&self, path: &str) -> Result<Vec<Value>> {
        let mut items = Vec::new();
        let mut token = String::new();
        loop {
            let separator = if path.contains('?') { '&' } else { '?' };
            let page = self
                .read(&format!("{path}{separator}limit=100{token}"))
                .await?;
            items.extend(page.body["items"].as_array().cloned().unwrap_or_default());
            match page.body["nextPageToken"].as_str() {
                Some(next) => token = format!("&pageToken={next}"),
                None => return Ok(items),
            }
        }
    }

    /// Reads the events of an operation until one of them that is whole holds this text, or they end.
    pub async fn events_until(&self, operation: &str, text: &str) -> Result<String> {
        let url = format!("{}/operations/{operation}/events", self.url);
        let mut response = self.http.get(url).send().await?;
        let mut read = String::new();
        while let Some(bytes) = response.chunk().await? {
            read.push_str(&String::from_utf8_lossy(&bytes));
            let found = read.find(text);
            if found.is_some_and(|at| read[at..].contains("\n\n")) {
                break;
            }
        }
        Ok(read)
    }

    /// The writes of resourcifier to objects of a sequence, since the world began.
    pub fn writes(&self, names: &Names) -> Result<Vec<AuditedWrite>> {
        let mut audit = self
            .audit
            .lock()
            .map_err(|_| anyhow::anyhow!("a reader of the audit log panicked"))?;
        let more = audit.log.more()?;
        let is_ours = |write: &AuditedWrite| write.user_agent.starts_with("resourcifier/");
        audit.writes.extend(more.into_iter().filter(is_ours));
        let namespaces = names.namespaces();
        let writes = audit.writes.iter();
        let own =
            writes.filter(|write| namespaces.contains(&write.namespace) || names.own(&write.name));
        Ok(own.cloned().collect())
    }

    /// Whether nothing was ever killed or frozen here.
    pub fn is_calm(&self) -> bool {
        !self.disturbed.load(Ordering::SeqCst)
    }

    /// A namespace that admission policies can be switched on in.
    pub async fn make_namespace(&self, name: &str) -> Result<()> {
        let namespaces = cluster_wide("api/v1", "namespaces");
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        self.api.create(&namespaces, &object).await?;
        Ok(())
    }
}

/// Makes the registry of the template's versions; gives the folder that it is in.
fn registries(folder: &Path) -> Result<String> {
    let registries = folder.join("registries");
    for version in Template::VERSIONS {
        let at = registries
            .join(REGISTRY)
            .join("set")
            .join(format!("v1.{version}.0"));
        std::fs::create_dir_all(&at)?;
        let content = format!("# Version {version}.\n{TEMPLATE}");
        std::fs::write(at.join("set.jinja"), content)?;
    }
    Ok(registries.display().to_string())
}

async fn register(stack: &Stack, registries: &str) -> Result<()> {
    let definition = json!({"type": "directory", "url": format!("{registries}/{REGISTRY}")});
    let path = format!("/registries/{REGISTRY}");
    let (status, answer) = stack
        .request(reqwest::Method::POST, &path, Some(&definition))
        .await?;
    anyhow::ensure!(status.is_success(), "{answer}");
    Ok(())
}

/// The collection of a kind of the whole cluster.
pub fn cluster_wide(version: &str, resource: &'static str) -> e2e::api_client::Collection {
    e2e::api_client::Collection {
        version: version.to_owned(),
        resource,
        namespace: None,
    }
}
