//! The file with the contexts.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use common::model::Namespace;
use common::yaml::{self, Duplicates, Limits};
use serde::{Deserialize, Serialize};

use crate::error::{CommandError, ExitCode};

/// The context to use instead of the current one.
const CONTEXT: &str = "DM_CONTEXT";
/// Another place for the file.
const FILE: &str = "DM_CONFIG";

#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    #[error("no folder for dm's settings is known; set HOME, or name the file in {FILE}")]
    NoHome,
    #[error("{} cannot be read: {reason}", file.display())]
    Unreadable { file: PathBuf, reason: String },
    #[error("{} cannot be written: {reason}", file.display())]
    Unwritable { file: PathBuf, reason: String },
    #[error("there is no context {0:?}; dm context list shows them")]
    Missing(String),
    #[error("there is a context {0:?} already; delete it first, or choose another name")]
    Exists(String),
}

impl CommandError for ContextError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Missing(_) => ExitCode::NotFound,
            Self::Exists(_) => ExitCode::Conflict,
            Self::NoHome | Self::Unreadable { .. } | Self::Unwritable { .. } => ExitCode::Failed,
        }
    }
}

/// All contexts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Contexts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    #[serde(default)]
    pub contexts: BTreeMap<String, Context>,
}

/// A manager, and how to work with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Context {
    pub url: String,
    /// For objects and lists, if a command names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cert: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_key: Option<PathBuf>,
    /// Where `dm login` signs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<ContextIssuer>,
}

/// An OpenID Connect issuer that the manager trusts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextIssuer {
    pub url: String,
    pub client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
}

impl Contexts {
    /// Without a file, there is none.
    pub fn read() -> Result<Self, ContextError> {
        Self::read_from(&place()?)
    }

    pub fn write(&self) -> Result<(), ContextError> {
        self.write_to(&place()?)
    }

    fn read_from(file: &Path) -> Result<Self, ContextError> {
        let unreadable = |reason: String| ContextError::Unreadable {
            file: file.to_owned(),
            reason,
        };
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(unreadable(error.to_string())),
        };
        let read = yaml::read(&text, &Limits::DEFAULT, Duplicates::Error);
        let read = read.map_err(|error| unreadable(error.to_string()))?;
        serde_json::from_value(read.value).map_err(|error| unreadable(error.to_string()))
    }

    /// Whole or not at all, and for nobody else to read.
    fn write_to(&self, file: &Path) -> Result<(), ContextError> {
        let unwritable = |reason: String| ContextError::Unwritable {
            file: file.to_owned(),
            reason,
        };
        let value = serde_json::to_value(self).map_err(|error| unwritable(error.to_string()))?;
        let text = yaml::write(&value).map_err(|error| unwritable(error.to_string()))?;
        let part = file.with_extension("part");
        let write = || {
            if let Some(folder) = file.parent() {
                fs::create_dir_all(folder)?;
            }
            let mut options = OpenOptions::new();
            let options = options.write(true).create(true).truncate(true).mode(0o600);
            options.open(&part)?.write_all(text.as_bytes())?;
            fs::rename(&part, file)
        };
        write().map_err(|error| unwritable(error.to_string()))
    }
}

/// The context in use, with its name.
#[expect(
    clippy::disallowed_methods,
    reason = "the contexts are found before the flags are read, as kubectl finds its own"
)]
pub fn active() -> Result<Option<(String, Context)>, ContextError> {
    let chosen = std::env::var(CONTEXT).ok().filter(|name| !name.is_empty());
    let mut known = match Contexts::read() {
        Err(ContextError::NoHome) if chosen.is_none() => return Ok(None),
        known => known?,
    };
    let Some(name) = chosen.or(known.current) else {
        return Ok(None);
    };
    match known.contexts.remove(&name) {
        Some(context) => Ok(Some((name, context))),
        None => Err(ContextError::Missing(name)),
    }
}

/// The issuer for a manager: that of the context in use, or of another one with the same URL.
pub fn issuer_of(service: &str) -> Result<Option<ContextIssuer>, ContextError> {
    let is_it =
        |context: &Context| context.url.trim_end_matches('/') == service.trim_end_matches('/');
    if let Some((_, context)) = active()?.filter(|(_, context)| is_it(context)) {
        return Ok(context.issuer);
    }
    let mut all = match Contexts::read() {
        Err(ContextError::NoHome) => return Ok(None),
        known => known?.contexts.into_values(),
    };
    Ok(all
        .find(|context| is_it(context) && context.issuer.is_some())
        .and_then(|context| context.issuer))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the contexts are found before the flags are read, as kubectl finds its own"
)]
fn place() -> Result<PathBuf, ContextError> {
    let named = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty());
    if let Some(file) = named(FILE) {
        return Ok(file.into());
    }
    let folder = match named("XDG_CONFIG_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => std::env::home_dir()
            .ok_or(ContextError::NoHome)?
            .join(".config"),
    };
    Ok(folder.join("dm").join("config.yaml"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn contexts_are_read_as_they_were_written_and_are_for_their_user_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("below").join("config.yaml");
        assert_eq!(Contexts::read_from(&file).unwrap(), Contexts::default());
        let prod = Context {
            url: "https://dm.example.com".to_owned(),
            namespace: Some(Namespace::parse("shop").unwrap()),
            ca_file: Some("/etc/ca.pem".into()),
            ..Context::default()
        };
        let contexts = Contexts {
            current: Some("prod".to_owned()),
            contexts: [("prod".to_owned(), prod)].into(),
        };
        contexts.write_to(&file).unwrap();
        assert_eq!(Contexts::read_from(&file).unwrap(), contexts);
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_is_not_understood_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.yaml");
        for text in ["contexts: 1", "context: {}", "a: ["] {
            fs::write(&file, text).unwrap();
            let error = Contexts::read_from(&file).unwrap_err().to_string();
            assert!(error.contains("config.yaml"), "{error}");
        }
    }
}
