//! The operator's flags of the service broker.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use common::model::identity::{IdentityError, Parts};
use common::model::{Identity, NameError, Namespace};

use crate::catalog::source::Address;

/// Without `--broker-listen` there is no service broker.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Service broker")]
pub struct BrokerOptions {
    /// Address and port of the Open Service Broker API; port 0 means any free port. It has the TLS of the API. It needs
    /// --broker-config, and --broker-basic-file or --broker-token-file.
    #[arg(
        long,
        env = "DM_BROKER_LISTEN",
        value_name = "ADDR:PORT",
        requires = "broker_config"
    )]
    pub broker_listen: Option<SocketAddr>,
    /// File to write the port of the service broker to, when it accepts connections
    #[arg(long, env = "DM_BROKER_PORT_FILE", value_name = "PATH")]
    pub broker_port_file: Option<PathBuf>,
    /// Services and plans of the broker; may be repeated. A file, registry:REFERENCE, cluster:APIVERSION/KIND/NAMESPACE[/NAME]
    /// for objects of the cluster, or templates:NAMESPACE for stored Templates. It is read again when it changes. While it is
    /// not valid, the broker answers 503.
    #[arg(
        long,
        env = "DM_BROKER_CONFIG",
        value_name = "SOURCE",
        value_delimiter = ','
    )]
    pub broker_config: Vec<Address>,
    /// User in whose name objects of the cluster are read for the catalog, such as system:serviceaccount:NAMESPACE:NAME
    /// [default: resourcifier itself]
    #[arg(
        long,
        env = "DM_BROKER_CONFIG_USER",
        value_name = "USER",
        value_parser = user
    )]
    pub broker_config_user: Option<Identity>,
    /// File with the users that may call the broker, USER:PASSWORD a line. It is read again when it changes.
    #[arg(long, env = "DM_BROKER_BASIC_FILE", value_name = "FILE")]
    pub broker_basic_file: Option<PathBuf>,
    /// File with a bearer token that may call the broker, as user broker. It is read again when it changes.
    #[arg(long, env = "DM_BROKER_TOKEN_FILE", value_name = "FILE")]
    pub broker_token_file: Option<PathBuf>,
    /// The lowest version of the Open Service Broker API that platforms may use
    #[arg(
        long,
        env = "DM_BROKER_MIN_VERSION",
        value_name = "VERSION",
        default_value_t
    )]
    pub broker_min_version: ApiVersion,
    /// Namespace of instances, if neither the plan nor the platform's context names one [default: default, and one of its own for each instance of the Inter-operator]
    #[arg(
        long,
        env = "DM_BROKER_NAMESPACE",
        value_name = "NAMESPACE",
        value_parser = namespace
    )]
    pub broker_namespace: Option<Namespace>,
    /// Accept requests without organization_guid and space_guid, and answer 400 instead of 412 to requests without a
    /// version
    #[arg(long, env = "DM_BROKER_LENIENT")]
    pub broker_lenient: bool,
}

/// Where instances are if nothing says it.
pub const NAMESPACE: &str = "default";

fn namespace(text: &str) -> Result<Namespace, NameError> {
    Namespace::parse(text)
}

/// A user without groups, or a service account with those that all have.
fn user(text: &str) -> Result<Identity, IdentityError> {
    let account = text.strip_prefix("system:serviceaccount:");
    let account = account.and_then(|account| account.split_once(':'));
    match account.map(|(namespace, name)| (Namespace::parse(namespace), name)) {
        Some((Ok(namespace), name)) => Identity::of_service_account(&namespace, name),
        _ => Identity::parse(Parts {
            user: text.to_owned(),
            ..Parts::default()
        }),
    }
}

/// A version of the API, compared number by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApiVersion {
    pub major: u32,
    pub minor: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a version such as 2.17")]
pub struct ApiVersionError(String);

impl Default for ApiVersion {
    /// Platforms with an older version have no generic asynchronous bindings.
    fn default() -> Self {
        Self {
            major: 2,
            minor: 13,
        }
    }
}

impl ApiVersion {
    /// Whether a platform of this version can use a broker that needs `minimum`.
    pub fn fits(self, minimum: Self) -> bool {
        self.major == minimum.major && self >= minimum
    }
}

impl FromStr for ApiVersion {
    type Err = ApiVersionError;

    fn from_str(text: &str) -> Result<Self, ApiVersionError> {
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse().ok()).flatten()
        };
        let parts = text.split_once('.');
        let parsed = parts.and_then(|(major, minor)| Some((number(major)?, number(minor)?)));
        let parsed = parsed.map(|(major, minor)| Self { major, minor });
        parsed.ok_or_else(|| ApiVersionError(text.to_owned()))
    }
}

impl std::fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
