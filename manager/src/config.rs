//! The operator's settings: flags, each also an environment variable.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Parser;
use common::client::ServiceFlags;
use common::server::Listen;
use url::Url;

use crate::auth;
use crate::keys::KeyPlace;
use crate::page::Page;
use crate::service::writes::quota::Quotas;
use crate::store::kv::{AddressError, EtcdAddress, StoreAccess};
use crate::workflow::Capacity;

/// Deployment Manager's API and workflow engine.
#[derive(Debug, Clone, Parser)]
#[command(name = "manager", version, about)]
pub struct Config {
    #[command(flatten)]
    pub listen: Listen,
    /// Where all state is stored: sled:FOLDER, etcd:https://HOST:2379,https://HOST:2379/PREFIX, or memory: (lost when the
    /// process ends).
    #[arg(
        long,
        env = "DM_STORE",
        value_name = "STORE",
        default_value = "sled:./dm-data"
    )]
    pub store: StorePlace,
    /// With a store on etcd that has no state yet: the store in a folder whose state it takes over, as sled:FOLDER. The
    /// manager of that folder must stop for it. A store that has state ignores this flag.
    #[arg(long, env = "DM_STORE_FROM", value_name = "STORE", value_parser = folder)]
    pub store_from: Option<PathBuf>,
    #[command(flatten)]
    pub store_access: StoreAccess,
    /// With a store on etcd: URL at which the other managers on it reach this one. They pass requests on to it while it has the store [default: the address that it listens on].
    #[arg(long, env = "DM_ADVERTISE", value_name = "URL")]
    pub advertise: Option<Url>,
    /// Start once on a damaged store with what is left of it, or on a store on etcd in another cluster. The error of the refused start names the token. Restore a
    /// backup instead if you have one. Afterwards run dm admin verify, and remove this flag.
    #[arg(long, env = "DM_ACCEPT_LOSS", value_name = "TOKEN")]
    pub accept_loss: Option<String>,
    /// Address of expandybird. Several with commas between them are instances that share the work.
    #[arg(
        long,
        env = "DM_EXPANDER_URL",
        value_name = "URL",
        default_value = "http://127.0.0.1:8081"
    )]
    pub expander_url: String,
    /// Address of resourcifier. Several with commas between them are instances that share the work.
    #[arg(
        long,
        env = "DM_DEPLOYER_URL",
        value_name = "URL",
        default_value = "http://127.0.0.1:8082"
    )]
    pub deployer_url: String,
    #[command(flatten)]
    pub services: ServiceFlags,
    /// Timeout of operations whose request sets none, such as 90s or 10m.
    #[arg(long, env = "DM_OPERATION_TIMEOUT", value_name = "TIME", default_value = "10m", value_parser = duration)]
    pub operation_timeout: Duration,
    #[command(flatten)]
    pub capacity: Capacity,
    /// File with the keys that seal the store and its credentials. A new store makes it. Required with a store on etcd
    /// [default: the store's folder with .key appended]
    #[arg(long, env = "DM_CREDENTIAL_KEY", value_name = "FILE")]
    pub credential_key: Option<PathBuf>,
    /// Number of manifests to keep of each deployment. Older ones are deleted, and cannot be rolled back to [default:
    /// all]
    #[arg(long, env = "DM_KEEP_MANIFESTS", value_name = "NUMBER")]
    pub keep_manifests: Option<NonZeroUsize>,
    /// Interval of the drift checks of all deployments, such as 10m [default: no checks]
    #[arg(long, env = "DM_DRIFT_INTERVAL", value_name = "TIME", value_parser = duration)]
    pub drift_interval: Option<Duration>,
    #[command(flatten)]
    pub quotas: Quotas,
    #[command(flatten)]
    pub registry: manager_registry::Options,
    #[command(flatten)]
    pub auth: auth::Options,
    /// Whether the page is served at /ui/.
    #[arg(
        long,
        env = "DM_UI",
        value_name = "WHETHER",
        value_enum,
        default_value_t
    )]
    pub ui: Page,
    /// Print the description of the API (OpenAPI 3.1), and exit.
    #[arg(long)]
    pub print_openapi: bool,
    #[command(flatten)]
    pub broker: manager_broker::BrokerOptions,
}

impl Config {
    /// Beside the store and not in it, so that a copy of the store alone opens no credential.
    pub fn credential_key(&self) -> Result<KeyPlace, NoKey> {
        match (&self.credential_key, &self.store) {
            (Some(file), _) => Ok(KeyPlace::File(file.clone())),
            (None, StorePlace::Sled(folder)) => {
                Ok(KeyPlace::File(folder.with_added_extension("key")))
            }
            (None, StorePlace::Etcd(_)) => Err(NoKey),
            (None, StorePlace::Memory) => Ok(KeyPlace::Memory),
        }
    }
}

/// The kind of the store, and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StorePlace {
    Sled(PathBuf),
    Etcd(EtcdAddress),
    Memory,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StorePlaceError {
    #[error("{0:?} is not a store: write sled:FOLDER, etcd:https://HOST:2379/PREFIX, or memory:")]
    Kind(String),
    #[error(transparent)]
    Etcd(#[from] AddressError),
}

/// All managers on one store need the same keys, so there is no default for a store that is a service.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a store on etcd needs --credential-key FILE: the same file for every manager on it")]
pub struct NoKey;

impl FromStr for StorePlace {
    type Err = StorePlaceError;

    fn from_str(text: &str) -> Result<Self, StorePlaceError> {
        match text.split_once(':') {
            // Without the colon, as earlier managers had it.
            None if text == "memory" => Ok(Self::Memory),
            Some(("memory", "")) => Ok(Self::Memory),
            Some(("sled", folder)) if !folder.is_empty() => Ok(Self::Sled(PathBuf::from(folder))),
            Some(("etcd", address)) => Ok(Self::Etcd(address.parse()?)),
            _ => Err(StorePlaceError::Kind(text.to_owned())),
        }
    }
}

impl fmt::Display for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sled(folder) => write!(f, "sled:{}", folder.display()),
            Self::Etcd(address) => write!(f, "etcd:{address}"),
            Self::Memory => f.write_str("memory:"),
        }
    }
}

/// The folder of a store on a disk.
fn folder(text: &str) -> Result<PathBuf, String> {
    match text
        .parse()
        .map_err(|error: StorePlaceError| error.to_string())?
    {
        StorePlace::Sled(folder) => Ok(folder),
        StorePlace::Etcd(_) | StorePlace::Memory => Err(
            "it must be a store in a folder: sled:FOLDER; move other stores by a backup".to_owned(),
        ),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let span: jiff::SignedDuration = text
        .parse()
        .map_err(|error: jiff::Error| error.to_string())?;
    let duration = Duration::try_from(span).map_err(|error| error.to_string())?;
    if duration < Duration::from_secs(1) {
        return Err("it must be a second or more".to_owned());
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_a_kind_and_a_place() {
        assert_eq!(
            "sled:./dm-data".parse(),
            Ok(StorePlace::Sled("./dm-data".into()))
        );
        for memory in ["memory:", "memory"] {
            let parsed: StorePlace = memory.parse().unwrap();
            assert_eq!(parsed.to_string(), "memory:");
        }
        let etcd = "etcd:https://a:2379,https://b:2379/dm";
        let parsed: StorePlace = etcd.parse().unwrap();
        assert_eq!(parsed.to_string(), etcd);
        for bad in ["", "sled", "sled:", "memory:x", "etcd:x"] {
            assert!(bad.parse::<StorePlace>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_store_on_etcd_needs_a_key_file() {
        let flags = ["manager", "--store", "etcd:https://a:2379/dm"];
        let config = Config::try_parse_from(flags).unwrap();
        assert_eq!(config.credential_key(), Err(NoKey));
        let with_key = flags.into_iter().chain(["--credential-key", "key"]);
        let config = Config::try_parse_from(with_key).unwrap();
        assert_eq!(config.credential_key(), Ok(KeyPlace::File("key".into())));
    }

    #[test]
    fn a_time_has_a_unit() {
        assert_eq!(duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        for bad in ["", "10", "-5s", "0s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_git_is_told_of_is_found_from_every_folder() {
        let flags = [
            "manager",
            "--registry-cache",
            "kept",
            "--registry-ssh-key",
            "key",
        ];
        for config in [&flags[..1], &flags].map(Config::try_parse_from) {
            let registry = config.unwrap().registry;
            assert!(registry.registry_cache.is_absolute(), "{registry:?}");
            let key = registry.registry_ssh_key;
            assert!(key.is_none_or(|key| key.is_absolute()));
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_contract() {
        let config = Config::try_parse_from(["manager"]).unwrap();
        assert_eq!(config.store.to_string(), "sled:./dm-data");
        assert_eq!(config.operation_timeout, Duration::from_secs(600));
    }
}
