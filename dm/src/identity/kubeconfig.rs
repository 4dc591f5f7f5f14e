//! The current user of the kubeconfig, as kubectl finds it: the files of `KUBECONFIG`, or `~/.kube/config`; of each name the
//! first file's counts.

use std::path::{Path, PathBuf};

use common::model::Secret;
use common::yaml::{self, Duplicates, Limits};
use serde::Deserialize;

use super::exec::{self, Exec, PluginError};
use super::token;

#[derive(Debug, thiserror::Error)]
pub enum KubeconfigError {
    #[error("{} cannot be read: {reason}", file.display())]
    File { file: PathBuf, reason: String },
    #[error("it has no context {0:?} (current-context), or that names no user of it")]
    NoUser(String),
    #[error("user {user:?}: {} holds no token", file.display())]
    TokenFile { user: String, file: PathBuf },
    #[error("user {user:?}: {error}")]
    Plugin { user: String, error: PluginError },
    #[error(
        "user {0:?} has no token, token file or credential plugin; give a token in DM_TOKEN or --token-file, such as one of kubectl create token"
    )]
    NoToken(String),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Config {
    current_context: Option<String>,
    contexts: Option<Vec<Named<Context>>>,
    users: Option<Vec<Named<User>>>,
}

/// Under its name, and under the key that says what it is.
#[derive(Debug, Deserialize)]
struct Named<T> {
    name: String,
    #[serde(alias = "context", alias = "user")]
    value: Option<T>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Context {
    user: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct User {
    token: Option<Secret>,
    token_file: Option<PathBuf>,
    exec: Option<Exec>,
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

/// The current user's token. `None` if no context is current.
pub async fn token_of(files: &[PathBuf]) -> Result<Option<Secret>, KubeconfigError> {
    let Some((name, folder, user)) = current(files)? else {
        return Ok(None);
    };
    // A file goes over a token, and is written anew by whoever refreshes it.
    if let Some(file) = &user.token_file {
        let file = folder.join(file);
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let found = token(&text);
        return found
            .map(Some)
            .ok_or(KubeconfigError::TokenFile { user: name, file });
    }
    if let Some(found) = user.token.as_ref().and_then(|text| token(text.reveal())) {
        return Ok(Some(found));
    }
    let Some(plugin) = user.exec else {
        return Err(KubeconfigError::NoToken(name));
    };
    let credential = exec::token_of(&plugin, &folder).await;
    credential
        .map(Some)
        .map_err(|error| KubeconfigError::Plugin { user: name, error })
}

/// The current user, with its name and the folder that its paths are relative to.
fn current(files: &[PathBuf]) -> Result<Option<(String, PathBuf, User)>, KubeconfigError> {
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
    Ok(Some((context.user, folder.to_owned(), user)))
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

    async fn shown(files: &[PathBuf]) -> String {
        match token_of(files).await {
            Ok(Some(token)) => token.reveal().to_owned(),
            Ok(None) => "nobody".to_owned(),
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
        assert_eq!(shown(&[first, second]).await, "secret-1");
    }

    #[tokio::test]
    async fn a_token_file_is_relative_to_the_kubeconfig() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("t"), "from-file\n").unwrap();
        let users = "users: [{name: jane, user: {token: old, tokenFile: t}}]";
        let file = config(folder.path(), "a", &format!("{WHOLE}{users}"));
        assert_eq!(shown(&[file]).await, "from-file");
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
        assert_eq!(shown(&[file]).await, "of-jane");
        let file = config(folder.path(), "b", &user("echo log in first >&2; exit 3"));
        let told = shown(&[file]).await;
        assert!(
            told.contains("log in first") && told.contains("sh"),
            "{told}"
        );
    }

    #[tokio::test]
    async fn what_holds_no_token_says_so_and_quotes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = config(folder.path(), "a", "kind: Config\n");
        assert_eq!(shown(&[file]).await, "nobody");
        let users = "users: [{name: jane, user: {client-certificate-data: aGk=}}]";
        let file = config(folder.path(), "b", &format!("{WHOLE}{users}"));
        assert!(shown(&[file]).await.contains("\"jane\" has no token"));
        let file = config(folder.path(), "c", "users: {hunter2: 1}\n");
        assert!(shown(&[file]).await.ends_with("it is not a kubeconfig"));
    }
}
