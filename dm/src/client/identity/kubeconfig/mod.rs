//! The current user of the kubeconfig, found like kubectl does: in the files of `KUBECONFIG`, or `~/.kube/config`. If several
//! files have an entry of the same name, the first one wins.

mod config;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::client::access::Bearer;
use common::model::Secret;
use common::reload::Unusable;
use common::tls::pair::{Handed, Pair};
use rustls::client::ResolvesClientCert;
use serde_json::Value;

use super::exec::{Exec, Pem, PluginError};
use super::proof::{Plugin, Renewed, StaticToken, TokenFile, hand};
use super::token;

use config::User;
pub use config::{current, files};

#[derive(Debug, thiserror::Error)]
pub enum KubeconfigError {
    #[error("{} cannot be read: {reason}", file.display())]
    File { file: PathBuf, reason: String },
    #[error(
        "its current-context {0:?} does not exist, or names no existing user; correct it with kubectl config use-context"
    )]
    NoUser(String),
    #[error("user {user:?}: {error}")]
    Unusable { user: String, error: Unusable },
    #[error("user {user:?}: its client certificate cannot be used: {reason}")]
    Certificate { user: String, reason: String },
    #[error("user {user:?}: {error}")]
    Plugin { user: String, error: PluginError },
    #[error(
        "user {user:?} impersonates {other:?} (as), which a manager does not support; give a token of {other:?} in DM_TOKEN or --token-file"
    )]
    Acting { user: String, other: String },
    #[error(
        "user {0:?} has no token, token file, certificate or credential plugin; give a token in DM_TOKEN or --token-file, such as one of kubectl create token"
    )]
    Nothing(String),
}

/// The user of the current context.
pub struct Current {
    name: String,
    /// The folder that relative paths start from.
    folder: PathBuf,
    user: User,
    /// For plugins that ask for it.
    cluster: Option<Value>,
}

/// What dm can send to prove the identity.
#[derive(Default)]
pub struct Proof {
    pub token: Option<Arc<dyn Bearer>>,
    pub certificate: Option<Arc<dyn ResolvesClientCert>>,
    /// Renews the certificate when it expires.
    pub renewal: Option<Arc<dyn Bearer>>,
}

impl Current {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The user's token and certificate. A plugin runs only if the user has neither.
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

    /// A token file overrides a token. Another program may refresh the file.
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
            (Some(_), None) => return Err(self.broken("its key is missing")),
            (None, Some(_)) => return Err(self.broken("there is a key, but no certificate")),
        };
        let handed = Arc::new(Handed::default());
        hand(&handed, &pem).map_err(|reason| self.broken(reason))?;
        Ok(Some(handed))
    }

    /// PEM, from base64 data or from a file.
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

#[cfg(test)]
mod tests;
