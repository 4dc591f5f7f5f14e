//! The current user of the kubeconfig, as kubectl finds it: the files of `KUBECONFIG`, or `~/.kube/config`; of each name the
//! first file's counts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::client::access::Bearer;
use common::model::Secret;
use common::reload::Unusable;
use common::tls::pair::{Handed, Pair};
use common::yaml::{self, Duplicates, Limits};
use rustls::client::ResolvesClientCert;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::exec::{Exec, Pem, PluginError};
use super::proof::{Plugin, Renewed, StaticToken, TokenFile, hand};
use super::token;

/// The fields of a cluster's entry that plugins receive (client.authentication.k8s.io, `Cluster`).
const TOLD: [&str; 6] = [
    "server",
    "tls-server-name",
    "insecure-skip-tls-verify",
    "certificate-authority-data",
    "proxy-url",
    "disable-compression",
];

#[derive(Debug, thiserror::Error)]
pub enum KubeconfigError {
    #[error("{} cannot be read: {reason}", file.display())]
    File { file: PathBuf, reason: String },
    #[error("it has no context {0:?} (current-context), or that names no user of it")]
    NoUser(String),
    #[error("user {user:?}: {error}")]
    Unusable { user: String, error: Unusable },
    #[error("user {user:?}: its client certificate cannot be used: {reason}")]
    Certificate { user: String, reason: String },
    #[error("user {user:?}: {error}")]
    Plugin { user: String, error: PluginError },
    #[error(
        "user {user:?} asks the cluster in the name of {other:?} (as), which a manager does not do; give a token of {other:?} in DM_TOKEN or --token-file"
    )]
    Acting { user: String, other: String },
    #[error(
        "user {0:?} has no token, token file, certificate or credential plugin; give a token in DM_TOKEN or --token-file, such as one of kubectl create token"
    )]
    Nothing(String),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Config {
    current_context: Option<String>,
    contexts: Option<Vec<Named<Context>>>,
    clusters: Option<Vec<Named<Map<String, Value>>>>,
    users: Option<Vec<Named<User>>>,
}

/// Under its name, and under the key that says what it is.
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

/// What stands in data goes over what stands in a file, but for tokens: as kubectl has it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct User {
    token: Option<Secret>,
    #[serde(rename = "tokenFile")]
    token_file: Option<PathBuf>,
    client_certificate: Option<PathBuf>,
    client_certificate_data: Option<Secret>,
    client_key: Option<PathBuf>,
    client_key_data: Option<Secret>,
    exec: Option<Exec>,
    #[serde(rename = "as")]
    acting: Option<String>,
}

/// The user of the current context.
pub struct Current {
    name: String,
    /// What their paths are relative to.
    folder: PathBuf,
    user: User,
    /// For plugins that want to know it.
    cluster: Option<Value>,
}

/// What there is to show.
#[derive(Default)]
pub struct Proof {
    pub token: Option<Arc<dyn Bearer>>,
    pub certificate: Option<Arc<dyn ResolvesClientCert>>,
    /// Goes with the certificate: sees to it that it is a new one when it ends.
    pub renewal: Option<Arc<dyn Bearer>>,
}

/// The files that there are; `None` if there is none.
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

impl Current {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What they have: a plugin is asked where there is nothing else.
    pub async fn proof(self) -> Result<Proof, KubeconfigError> {
        if let Some(other) = self.user.acting.clone().filter(|other| !other.is_empty()) {
            let user = self.name;
            return Err(KubeconfigError::Acting { user, other });
        }
        let shown = Proof {
            token: self.token()?,
            certificate: self.certificate()?,
            renewal: None,
        };
        if shown.token.is_some() || shown.certificate.is_some() {
            return Ok(shown);
        }
        match self.user.exec {
            Some(exec) => plugin(exec, self.name, &self.folder, self.cluster).await,
            None => Err(KubeconfigError::Nothing(self.name)),
        }
    }

    /// A file goes over a token, and is written anew by whoever refreshes it.
    fn token(&self) -> Result<Option<Arc<dyn Bearer>>, KubeconfigError> {
        if let Some(file) = &self.user.token_file {
            let file = TokenFile::open(self.folder.join(file));
            let file = file.map_err(|error| self.unusable(error))?;
            return Ok(Some(Arc::new(file)));
        }
        let text = self.user.token.as_ref();
        let found = text.and_then(|text| token(text.reveal()));
        Ok(found.map(|found| Arc::new(StaticToken(found)) as _))
    }

    fn certificate(&self) -> Result<Option<Arc<dyn ResolvesClientCert>>, KubeconfigError> {
        let user = &self.user;
        if let (Some(certificate), Some(key)) = (&user.client_certificate, &user.client_key)
            && user.client_certificate_data.is_none()
            && user.client_key_data.is_none()
        {
            let files = (self.folder.join(certificate), self.folder.join(key));
            let pair = Pair::open(&files.0, &files.1);
            return Ok(Some(pair.map_err(|error| self.unusable(error))?));
        }
        let certificate = (&user.client_certificate_data, &user.client_certificate);
        let key = (&user.client_key_data, &user.client_key);
        let certificate = self.data("client-certificate-data", certificate)?;
        let key = self.data("client-key-data", key)?;
        let pem = match (certificate, key) {
            (None, None) => return Ok(None),
            (Some(certificate), Some(key)) => Pem { certificate, key },
            (Some(_), None) => return Err(self.broken("there is no key beside it")),
            (None, Some(_)) => return Err(self.broken("there is a key, and no certificate")),
        };
        let handed = Arc::new(Handed::default());
        hand(&handed, &pem).map_err(|reason| self.broken(reason))?;
        Ok(Some(handed))
    }

    /// PEM in base64, or in a file.
    fn data(
        &self,
        field: &str,
        (data, file): (&Option<Secret>, &Option<PathBuf>),
    ) -> Result<Option<Secret>, KubeconfigError> {
        if let Some(data) = data {
            let no_text = || self.broken(format!("{field} is not PEM in base64"));
            let bytes = STANDARD.decode(data.reveal().trim());
            let text = String::from_utf8(bytes.map_err(|_| no_text())?);
            return Ok(Some(Secret::new(text.map_err(|_| no_text())?)));
        }
        let Some(file) = file.as_ref().map(|file| self.folder.join(file)) else {
            return Ok(None);
        };
        let text = std::fs::read_to_string(&file);
        let text = text.map_err(|error| self.broken(format!("{}: {error}", file.display())))?;
        Ok(Some(Secret::new(text)))
    }

    fn unusable(&self, error: Unusable) -> KubeconfigError {
        let user = self.name.clone();
        KubeconfigError::Unusable { user, error }
    }

    fn broken(&self, reason: impl Into<String>) -> KubeconfigError {
        KubeconfigError::Certificate {
            user: self.name.clone(),
            reason: reason.into(),
        }
    }
}

async fn plugin(
    exec: Exec,
    user: String,
    folder: &Path,
    cluster: Option<Value>,
) -> Result<Proof, KubeconfigError> {
    let cluster = cluster.filter(|_| exec.provide_cluster_info);
    let asked = Plugin::ask(exec, folder, cluster).await;
    let plugin = asked.map_err(|error| KubeconfigError::Plugin { user, error })?;
    let plugin = Arc::new(plugin);
    let renewed = |with_token| -> Arc<dyn Bearer> {
        let plugin = plugin.clone();
        Arc::new(Renewed { plugin, with_token })
    };
    let certificate = plugin.certificate.clone();
    Ok(Proof {
        token: plugin.has_token.then(|| renewed(true)),
        certificate: certificate.map(|handed| handed as _),
        renewal: Some(renewed(false)),
    })
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
    let known = TOLD
        .iter()
        .filter_map(|field| Some(((*field).to_owned(), cluster.get(*field)?.clone())));
    let mut printed: Map<_, _> = known.collect();
    let extensions = cluster.get("extensions").and_then(Value::as_array);
    let own = extensions
        .into_iter()
        .flatten()
        .find(|extension| extension["name"] == "client.authentication.k8s.io/exec");
    if let Some(own) = own {
        printed.insert("config".to_owned(), own["extension"].clone());
    }
    printed.into()
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
    // What serde says could quote a value of the file.
    serde_json::from_value(document.value).map_err(|_| failed("it is not a kubeconfig".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(folder: &Path, name: &str, text: &str) -> PathBuf {
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        file
    }

    const WHOLE: &str =
        "current-context: c\ncontexts: [{name: c, context: {cluster: x, user: jane}}]\n";

    async fn proof(files: &[PathBuf]) -> String {
        let found = match current(files) {
            Ok(Some(user)) => user.proof().await,
            Ok(None) => return "nobody".to_owned(),
            Err(error) => return error.to_string(),
        };
        match found.map(|shown| (shown.token, shown.certificate)) {
            Ok((Some(token), _)) => token.token().await.unwrap().unwrap(),
            Ok((None, Some(_))) => "a certificate".to_owned(),
            Ok((None, None)) => unreachable!("it shows nothing"),
            Err(error) => error.to_string(),
        }
    }

    #[tokio::test]
    async fn the_current_users_token_is_found_over_several_files() {
        let folder = tempfile::tempdir().unwrap();
        let first = config(folder.path(), "a", WHOLE);
        let users =
            "users: [{name: joe, user: {token: his}}, {name: jane, user: {token: secret-1}}]";
        let second = config(folder.path(), "b", users);
        assert_eq!(proof(&[first, second]).await, "secret-1");
    }

    #[tokio::test]
    async fn a_token_file_is_relative_to_the_kubeconfig() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("t"), "from-file\n").unwrap();
        let users = "users: [{name: jane, user: {token: old, tokenFile: t}}]";
        let file = config(folder.path(), "a", &format!("{WHOLE}{users}"));
        assert_eq!(proof(&[file]).await, "from-file");
    }

    #[tokio::test]
    async fn a_plugin_is_asked_and_what_it_says_of_a_failure_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let user = |script: &str| {
            let exec = serde_json::json!({"apiVersion": "client.authentication.k8s.io/v1", "command": "sh",
                "args": ["-c", script], "env": [{"name": "WHO", "value": "jane"}]});
            format!("{WHOLE}users: [{{name: jane, user: {{exec: {exec}}}}}]")
        };
        let gives = "test -n \"$KUBERNETES_EXEC_INFO\" && echo \"{\\\"kind\\\": \\\"ExecCredential\\\", \\\"status\\\": {\\\"token\\\": \\\"of-$WHO\\\"}}\"";
        let file = config(folder.path(), "a", &user(gives));
        assert_eq!(proof(&[file]).await, "of-jane");
        let file = config(folder.path(), "b", &user("echo log in first >&2; exit 3"));
        let printed = proof(&[file]).await;
        assert!(
            printed.contains("log in first") && printed.contains("sh"),
            "{printed}"
        );
    }

    #[tokio::test]
    async fn a_plugin_that_is_missing_or_says_nothing_tells_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        for (exec, expected) in [
            (
                "{command: /nowhere/plugin, installHint: get it at example.com}",
                "get it at example.com",
            ),
            ("{command: /nowhere/plugin}", "install it"),
            ("{command: 'true'}", "printed no ExecCredential"),
            (
                "{command: echo, args: ['{\"status\": {\"clientKeyData\": \"hunter2\"}}']}",
                "printed no ExecCredential",
            ),
            (
                "{command: echo, args: ['{\"status\": {\"clientCertificateData\": \"x\", \"clientKeyData\": \"hunter2\"}}']}",
                "gave a certificate that cannot be used",
            ),
            ("{command: 'false'}", "log in again"),
        ] {
            let users = format!("users: [{{name: jane, user: {{exec: {exec}}}}}]");
            let file = config(folder.path(), "a", &format!("{WHOLE}{users}"));
            let printed = proof(&[file]).await;
            assert!(printed.contains(expected), "{exec}: {printed}");
            assert!(!printed.contains("hunter2"), "{printed}");
        }
    }

    #[tokio::test]
    async fn a_plugin_that_wants_to_know_is_told_its_cluster() {
        let folder = tempfile::tempdir().unwrap();
        let cluster = "clusters: [{name: x, cluster: {server: 'https://k', certificate-authority: no.pem, extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: a}}]}}]\n";
        let script = "echo \"{\\\"status\\\": {\\\"token\\\": \\\"$(printf %s \"$KUBERNETES_EXEC_INFO\" | base64 -w0)\\\"}}\"";
        for (wants, expected) in [
            (false, None),
            (
                true,
                Some(serde_json::json!({"server": "https://k", "config": {"audience": "a"}})),
            ),
        ] {
            let exec = serde_json::json!({"command": "sh", "args": ["-c", script], "provideClusterInfo": wants});
            let users = format!("users: [{{name: jane, user: {{exec: {exec}}}}}]");
            let file = config(folder.path(), "a", &format!("{WHOLE}{cluster}{users}"));
            let printed = STANDARD.decode(proof(&[file]).await).unwrap();
            let printed: Value = serde_json::from_slice(&printed).unwrap();
            assert_eq!(
                printed["spec"].get("cluster"),
                expected.as_ref(),
                "{printed}"
            );
        }
    }

    #[tokio::test]
    async fn what_holds_no_token_says_so_and_quotes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = config(folder.path(), "a", "kind: Config\n");
        assert_eq!(proof(&[file]).await, "nobody");
        for (user, expected) in [
            ("{}", "\"jane\" has no token"),
            (
                "{client-certificate-data: aHVudGVyMg==}",
                "no key beside it",
            ),
            (
                "{client-key-data: aHVudGVyMg==}",
                "a key, and no certificate",
            ),
            (
                "{client-certificate-data: hunter2!, client-key-data: aHVudGVyMg==}",
                "client-certificate-data is not PEM in base64",
            ),
            (
                "{client-certificate-data: aHVudGVyMg==, client-key-data: aHVudGVyMg==}",
                "there is no certificate in it",
            ),
            (
                "{client-certificate: nowhere.pem, client-key: nowhere.key}",
                "nowhere.pem",
            ),
            (
                "{token: hunter2, as: admin}",
                "in the name of \"admin\" (as), which a manager does not do",
            ),
        ] {
            let users = format!("users: [{{name: jane, user: {user}}}]");
            let file = config(folder.path(), "b", &format!("{WHOLE}{users}"));
            let printed = proof(&[file]).await;
            assert!(printed.contains(expected), "{user}: {printed}");
            assert!(!printed.contains("hunter2"), "{printed}");
        }
        let file = config(folder.path(), "c", "users: {hunter2: 1}\n");
        assert!(proof(&[file]).await.ends_with("it is not a kubeconfig"));
    }
}
