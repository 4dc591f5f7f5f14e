//! Reads the files of the kubeconfig and finds the current user in them.

use std::path::{Path, PathBuf};

use common::model::Secret;
use common::yaml::{self, Duplicates, Limits};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::exec::Exec;
use super::{Current, KubeconfigError};

/// The fields of a cluster's entry that plugins receive (client.authentication.k8s.io, `Cluster`).
const CLUSTER_FIELDS: [&str; 6] = [
    "server",
    "tls-server-name",
    "insecure-skip-tls-verify",
    "certificate-authority-data",
    "proxy-url",
    "disable-compression",
];

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Config {
    current_context: Option<String>,
    contexts: Option<Vec<Named<Context>>>,
    clusters: Option<Vec<Named<Map<String, Value>>>>,
    users: Option<Vec<Named<User>>>,
}

/// An entry: its name, and its content under a key for its kind.
#[derive(Debug, Deserialize)]
struct Named<T> {
    name: String,
    #[serde(alias = "context", alias = "cluster", alias = "user")]
    value: Option<T>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Context {
    cluster: String,
    user: String,
}

/// Like in kubectl, data overrides files, except for tokens.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct User {
    pub token: Option<Secret>,
    #[serde(rename = "tokenFile")]
    pub token_file: Option<PathBuf>,
    pub client_certificate: Option<PathBuf>,
    pub client_certificate_data: Option<Secret>,
    pub client_key: Option<PathBuf>,
    pub client_key_data: Option<Secret>,
    pub exec: Option<Exec>,
    #[serde(rename = "as")]
    pub acting: Option<String>,
}

/// The existing files; `None` if there are none.
#[expect(
    clippy::disallowed_methods,
    reason = "KUBECONFIG is a rule of kubectl, with a list of files"
)]
pub fn files() -> Option<Vec<PathBuf>> {
    let named: Vec<PathBuf> = match std::env::var_os("KUBECONFIG").filter(|list| !list.is_empty()) {
        Some(list) => std::env::split_paths(&list)
            .filter(|path| !path.as_os_str().is_empty())
            .collect(),
        None => vec![std::env::home_dir()?.join(".kube/config")],
    };
    let files: Vec<PathBuf> = named.into_iter().filter(|file| file.exists()).collect();
    (!files.is_empty()).then_some(files)
}

/// The current user; `None` if no context is current.
pub fn current(files: &[PathBuf]) -> Result<Option<Current>, KubeconfigError> {
    let mut configs = Vec::new();
    for file in files {
        configs.push((file.as_path(), read(file)?));
    }
    let named = configs.iter();
    let mut contexts = named.filter_map(|(_, config)| config.current_context.as_ref());
    let Some(current) = contexts.find(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let no_user = || KubeconfigError::NoUser(current.clone());
    let context = configs.iter().find_map(|(_, config)| {
        let found = find(config.contexts.as_ref()?, current)?;
        Some(found.clone())
    });
    let context = context.ok_or_else(no_user)?;
    let user = configs.iter().find_map(|(file, config)| {
        let found = find(config.users.as_ref()?, &context.user)?;
        Some((file.parent().unwrap_or(Path::new(".")), found.clone()))
    });
    let (folder, user) = user.ok_or_else(no_user)?;
    let cluster = configs
        .iter()
        .find_map(|(_, config)| find(config.clusters.as_ref()?, &context.cluster));
    Ok(Some(Current {
        name: context.user,
        folder: folder.to_owned(),
        user,
        cluster: cluster.map(plugin_cluster),
    }))
}

/// The cluster's entry as plugins receive it, with the extension that is for plugins only.
fn plugin_cluster(cluster: &Map<String, Value>) -> Value {
    let known = CLUSTER_FIELDS
        .iter()
        .filter_map(|field| Some(((*field).to_owned(), cluster.get(*field)?.clone())));
    let mut shown: Map<_, _> = known.collect();
    let extensions = cluster.get("extensions").and_then(Value::as_array);
    let own = extensions
        .into_iter()
        .flatten()
        .find(|extension| extension["name"] == "client.authentication.k8s.io/exec");
    if let Some(own) = own {
        shown.insert("config".to_owned(), own["extension"].clone());
    }
    shown.into()
}

fn find<'n, T>(named: &'n [Named<T>], name: &str) -> Option<&'n T> {
    named.iter().find(|one| one.name == name)?.value.as_ref()
}

fn read(file: &Path) -> Result<Config, KubeconfigError> {
    let failed = |reason: String| KubeconfigError::File {
        file: file.to_owned(),
        reason,
    };
    let text = std::fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    let document = yaml::read(&text, &Limits::default(), Duplicates::Warn)
        .map_err(|error| failed(error.to_string()))?;
    if document.value.is_null() {
        return Ok(Config::default());
    }
    // A message of serde could quote a secret of the file.
    serde_json::from_value(document.value).map_err(|_| failed("it is not a kubeconfig".to_owned()))
}
