//! The tokens and certificates that dm sends to a manager. They are renewed before they expire.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use common::client::access::Bearer;
use common::model::Secret;
use common::reload::{Unusable, Watched};
use common::tls::pair::Handed;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tokio::sync::Mutex;

use super::exec::{self, Credential, Exec, Pem, PluginError};
use super::token;

/// A credential that expires this soon is renewed, so it does not expire during a request.
const MARGIN: SignedDuration = SignedDuration::from_secs(10);

/// A token that never changes.
pub struct StaticToken(pub Secret);

#[async_trait]
impl Bearer for StaticToken {
    async fn token(&self) -> Result<Option<String>, String> {
        Ok(Some(self.0.reveal().to_owned()))
    }
}

/// The token in a file that another program may refresh.
pub struct TokenFile(Watched<Secret>);

impl TokenFile {
    pub fn open(path: PathBuf) -> Result<Self, Unusable> {
        let what = format!("the token file {}", path.display());
        let file = Watched::open(what, [path], |contents| {
            let text = String::from_utf8_lossy(&contents.concat()).into_owned();
            token(&text).ok_or_else(|| "it contains no token".to_owned())
        });
        file.map(Self)
    }
}

#[async_trait]
impl Bearer for TokenFile {
    async fn token(&self) -> Result<Option<String>, String> {
        Ok(Some(self.0.get().reveal().to_owned()))
    }
}

/// A plugin's credential. The plugin runs again when it expires.
pub struct Plugin {
    exec: Exec,
    folder: PathBuf,
    /// For plugins that ask for the cluster.
    cluster: Option<Value>,
    held: Mutex<Credential>,
    pub has_token: bool,
    /// The current certificate, for new connections.
    pub certificate: Option<Arc<Handed>>,
}

impl Plugin {
    pub async fn ask(
        exec: Exec,
        folder: &Path,
        cluster: Option<Value>,
    ) -> Result<Self, PluginError> {
        let program = exec.program();
        let credential = exec::ask(&exec, folder, cluster.as_ref()).await?;
        let plugin = Self {
            exec,
            folder: folder.to_owned(),
            cluster,
            has_token: credential.token.is_some(),
            certificate: credential.certificate.is_some().then(Arc::default),
            held: Mutex::new(credential),
        };
        let handed = plugin.hand_over(&*plugin.held.lock().await);
        handed.map_err(|reason| PluginError::Certificate { program, reason })?;
        Ok(plugin)
    }

    fn hand_over(&self, credential: &Credential) -> Result<(), String> {
        match (&self.certificate, &credential.certificate) {
            (Some(handed), Some(pem)) => hand(handed, pem),
            _ => Ok(()),
        }
    }

    /// Runs the plugin again if its credential is about to expire.
    async fn renew(&self, held: &mut Credential) -> Result<(), String> {
        let soon = Timestamp::now() + MARGIN;
        if held.expires.is_none_or(|end| end > soon) {
            return Ok(());
        }
        let asked = exec::ask(&self.exec, &self.folder, self.cluster.as_ref()).await;
        *held = asked.map_err(|error| error.to_string())?;
        self.hand_over(held)
    }
}

pub fn hand(handed: &Handed, pem: &Pem) -> Result<(), String> {
    handed.hand(
        pem.certificate.reveal().as_bytes(),
        pem.key.reveal().as_bytes(),
    )
}

/// A plugin as a bearer of tokens, or only to renew its certificate.
pub struct Renewed {
    pub plugin: Arc<Plugin>,
    pub with_token: bool,
}

#[async_trait]
impl Bearer for Renewed {
    async fn token(&self) -> Result<Option<String>, String> {
        let mut held = self.plugin.held.lock().await;
        self.plugin.renew(&mut held).await?;
        let token = held.token.as_ref().filter(|_| self.with_token);
        Ok(token.map(|token| token.reveal().to_owned()))
    }
}
