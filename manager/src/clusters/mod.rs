//! The deployer of each cluster: the manager's own, and those that are registered.
//!
//! It reads the cluster and its credential again for each call, so a change counts from the next call on.

mod remote;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use common::api::error::{ErrorBody, ErrorCode};
use common::client::{Bearer, ClientAccess};
use common::model::cluster::quantity;
use common::model::limits::{LABEL_CHARS, LABELS};
use common::model::{Capacity, Cluster, ClusterName, Credential, CredentialType, Secret};
use common::server::answer::error::chain;
use jiff::Timestamp;
use url::Url;

use self::remote::Remote;
use crate::credentials::{Vault, VaultError};
use crate::dependency::CallError;
use crate::deployer::{Deployer, Deployers, HttpDeployer};
use crate::store::Store;
use crate::store::deployments::clusters;

/// The largest CA bundle of a machine has half a megabyte. One authority has two kilobytes.
const CA_BYTES: usize = 64 * 1024;

pub struct Clusters {
    own: Arc<dyn Deployer>,
    registered: Arc<Registered>,
}

impl Clusters {
    pub fn new(own: Arc<dyn Deployer>, store: Store, vault: Arc<Vault>) -> Self {
        let registered = Registered {
            store,
            vault,
            open: Mutex::default(),
        };
        Self {
            own,
            registered: Arc::new(registered),
        }
    }
}

impl Deployers for Clusters {
    fn of(&self, cluster: &ClusterName) -> Arc<dyn Deployer> {
        match cluster.is_default() {
            true => self.own.clone(),
            false => Arc::new(Remote {
                cluster: cluster.clone(),
                registered: self.registered.clone(),
            }),
        }
    }
}

/// The registered clusters, with the clients that are open.
struct Registered {
    store: Store,
    vault: Arc<Vault>,
    open: Mutex<HashMap<ClusterName, Open>>,
}

struct Open {
    cluster: Cluster,
    /// When its credential was set.
    credential: Option<Timestamp>,
    deployer: Arc<HttpDeployer>,
}

impl Registered {
    async fn deployer(&self, name: &ClusterName) -> Result<Arc<HttpDeployer>, CallError> {
        let found = clusters::find(&self.store, name).await;
        let found = found.map_err(|error| unusable(name, &chain(&error)))?;
        let cluster = found.ok_or_else(|| unknown(name))?.record.cluster;
        let credential = self.credential(&cluster).await;
        let credential = credential.map_err(|error| unusable(name, &chain(&error)))?;
        let (secret, set_at) = credential.unzip();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = open.get(name)
            && open.cluster == cluster
            && open.credential == set_at
        {
            return Ok(open.deployer.clone());
        }
        let access = access(&cluster, secret).map_err(|reason| unusable(name, &reason))?;
        let deployer = HttpDeployer::new(&cluster.url, &access);
        let deployer = Arc::new(deployer.map_err(|error| unusable(name, &chain(&error)))?);
        let opened = Open {
            deployer: deployer.clone(),
            credential: set_at,
            cluster,
        };
        open.insert(name.clone(), opened);
        Ok(deployer)
    }

    async fn credential(
        &self,
        cluster: &Cluster,
    ) -> Result<Option<(Credential, Timestamp)>, VaultError> {
        match &cluster.credential {
            Some(name) => self.vault.reveal(name).await.map(Some),
            None => Ok(None),
        }
    }
}

/// The token of a cluster's credential.
struct Token(Secret);

#[async_trait]
impl Bearer for Token {
    async fn token(&self) -> Result<Option<String>, String> {
        Ok(Some(self.0.reveal().trim().to_owned()))
    }
}

fn access(cluster: &Cluster, credential: Option<Credential>) -> Result<ClientAccess, String> {
    let access = ClientAccess::trusting(cluster.ca.as_deref()).map_err(|error| chain(&error))?;
    match credential {
        None => Ok(access),
        Some(Credential::Token(token)) => Ok(access.with_bearer(Arc::new(Token(token)))),
        Some(other) => Err(not_a_token(other.kind())),
    }
}

fn not_a_token(kind: CredentialType) -> String {
    let kind = kind.as_str();
    format!("its credential is of type {kind}, and a cluster takes a token")
}

/// Why the definition of a cluster is refused.
pub fn fault(cluster: &Cluster, credential: Option<CredentialType>) -> Option<String> {
    if let Some(fault) = cluster.url.split(',').find_map(bad_url) {
        return Some(fault);
    }
    if cluster.ca.as_ref().is_some_and(|ca| ca.len() > CA_BYTES) {
        return Some("its authority has more than 64 KiB".to_owned());
    }
    if let Err(error) = ClientAccess::trusting(cluster.ca.as_deref()) {
        return Some(chain(&error));
    }
    let other = credential.filter(|kind| *kind != CredentialType::Token);
    other
        .map(not_a_token)
        .or_else(|| bad_label(&cluster.labels))
        .or_else(|| bad_capacity(cluster.capacity.as_ref()))
}

/// A cluster's resourcifier may have several instances.
fn bad_url(url: &str) -> Option<String> {
    let url = Url::parse(url.trim()).ok();
    let is_web = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
    let Some(url) = url.filter(is_web) else {
        return Some(
            "its URL is not one of a resourcifier: write it like https://HOST:8082".into(),
        );
    };
    let has_password = !url.username().is_empty() || url.password().is_some();
    has_password.then(|| {
        "its URL contains a password: set it with dm setcredential, and name the credential".into()
    })
}

fn bad_label(labels: &BTreeMap<String, String>) -> Option<String> {
    let fits =
        |text: &String| text.chars().count() <= LABEL_CHARS && !text.chars().any(char::is_control);
    let bad = |(key, value): &(&String, &String)| key.is_empty() || !fits(key) || !fits(value);
    match labels.iter().find(bad) {
        Some((key, _)) => {
            let key: String = key.chars().take(80).collect();
            Some(format!("its label {key:?} is not valid"))
        }
        None if labels.len() > LABELS => Some(format!("it has more than {LABELS} labels")),
        None => None,
    }
}

fn bad_capacity(capacity: Option<&Capacity>) -> Option<String> {
    let capacity = capacity?;
    let mut given = capacity.cpu.iter().chain(&capacity.memory);
    given.find_map(|text| quantity(text).err().map(|error| error.to_string()))
}

fn unknown(name: &ClusterName) -> CallError {
    let message = format!("there is no cluster '{name}'; dm clusters lists those that there are");
    CallError::Refused(Box::new(ErrorBody::new(ErrorCode::InvalidRequest, message)))
}

fn unusable(name: &ClusterName, reason: &str) -> CallError {
    let message = format!("cluster '{name}' cannot be used: {reason}");
    let error = ErrorBody::new(ErrorCode::DeployerUnavailable, message);
    CallError::Refused(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_refused_with_the_reason() {
        let (token, basic) = (CredentialType::Token, CredentialType::Basic);
        let base: Cluster = serde_json::from_str(r#"{"name":"b","url":"https://b:8082"}"#).unwrap();
        assert_eq!(fault(&base, Some(token)), None);
        let with = |change: &dyn Fn(&mut Cluster)| {
            let mut cluster = base.clone();
            change(&mut cluster);
            fault(&cluster, None).unwrap_or_default()
        };
        let cases = [
            (
                fault(&base, Some(basic)).unwrap_or_default(),
                "takes a token",
            ),
            (with(&|it| it.url = "b:8082".into()), "write it like https"),
            (
                with(&|it| it.url = "file:///etc".into()),
                "write it like https",
            ),
            (
                with(&|it| it.url = "https://u:p@b".into()),
                "contains a password",
            ),
            (
                with(&|it| it.url = "https://a:1, file:///etc".into()),
                "write it like https",
            ),
            (with(&|it| it.ca = Some("no".into())), "no certificate"),
            (with(&|it| it.ca = Some("x".repeat(CA_BYTES + 1))), "64 KiB"),
            (
                with(&|it| drop(it.labels.insert("".into(), "".into()))),
                "label",
            ),
            (
                with(&|it| {
                    it.capacity = Some(Capacity {
                        cpu: Some("many".into()),
                        memory: None,
                    })
                }),
                "\"many\" is not a quantity",
            ),
        ];
        for (found, expected) in cases {
            assert!(found.contains(expected), "{expected}: {found:?}");
        }
    }
}
