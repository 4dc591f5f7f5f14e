//! The hosts and authorities that git trusts, and how git is limited to the checked address.
//!
//! A host name could get another address between the check and the connection, so each transport receives the checked
//! address: libcurl in its own list of names, ssh as the name that it connects to (with the host key of the real name),
//! and git's own protocol in the URL.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::redact::Redactor;
use reqwest::header::HeaderValue;
use serde_json::Value;
use url::Url;

use crate::{Options, RegistryError};

const SSH: &str = "ssh -o BatchMode=yes -o ConnectTimeout=5 -o StrictHostKeyChecking=yes";
/// The usual files with a system's authorities. git uses one file instead of its own, not in addition.
const SYSTEM: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// How many addresses of a host are tried.
const WAYS: usize = 4;

/// The settings of the operator.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// The authorities of the system and of the operator, in one file.
    authorities: Option<PathBuf>,
    ssh_key: Option<PathBuf>,
    ssh_known_hosts: Option<PathBuf>,
}

/// How one URL is fetched.
#[derive(Debug, PartialEq, Eq)]
pub struct Way {
    pub url: String,
    pub settings: Vec<(String, String)>,
    pub environment: Vec<(&'static str, String)>,
    authorization: Option<Authorization>,
}

/// The header with the credential, and the origin that receives it.
#[derive(PartialEq, Eq)]
struct Authorization {
    origin: String,
    header: String,
}

/// Without the credential.
impl std::fmt::Debug for Authorization {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Authorization for {}", self.origin)
    }
}

impl Trust {
    pub fn new(options: &Options) -> Result<Self, RegistryError> {
        let authorities = match &options.registry_ca {
            Some(file) => Some(together(file, &options.registry_cache).map_err(|error| {
                RegistryError::Authorities {
                    file: file.display().to_string(),
                    reason: error.to_string(),
                }
            })?),
            None => None,
        };
        Ok(Self {
            authorities,
            ssh_key: options.registry_ssh_key.clone(),
            ssh_known_hosts: options.registry_ssh_known_hosts.clone(),
        })
    }

    /// The attempts, one after another. `addresses` are the checked addresses of the host.
    pub fn ways(&self, url: &Url, auth: Option<&HeaderValue>, addresses: &[IpAddr]) -> Vec<Way> {
        let one = |address| match url.scheme() {
            "ssh" => self.ssh(url, address),
            _ => git(url, address),
        };
        match url.scheme() {
            "ssh" | "git" => addresses.iter().take(WAYS).map(one).collect(),
            _ => vec![self.web(url, auth, addresses)],
        }
    }

    fn web(&self, url: &Url, auth: Option<&HeaderValue>, addresses: &[IpAddr]) -> Way {
        let mut way = Way::to(url);
        if let Some(file) = &self.authorities {
            let file = file.display().to_string();
            way.settings.push(("http.sslCAInfo".to_owned(), file));
        }
        way.authorization = auth.and_then(|auth| {
            Some(Authorization {
                origin: url.origin().ascii_serialization(),
                header: auth.to_str().ok()?.to_owned(),
            })
        });
        if let (Some(host), Some(port)) = (url.domain(), url.port_or_known_default()) {
            let list: Vec<_> = addresses.iter().map(ToString::to_string).collect();
            let pinned = format!("{host}:{port}:{}", list.join(","));
            way.settings
                .push(("http.curloptResolve".to_owned(), pinned));
        }
        way
    }

    /// From words that need no quoting for a shell or ssh: paths and hosts are checked when they are set.
    fn ssh(&self, url: &Url, address: &IpAddr) -> Way {
        let mut command = SSH.to_owned();
        let mut option = |name: &str, value: &str| command.push_str(&format!(" -o {name}={value}"));
        if let Some(key) = &self.ssh_key {
            option("IdentitiesOnly", "yes");
            option("IdentityFile", &key.display().to_string());
        }
        if let Some(hosts) = &self.ssh_known_hosts {
            option("UserKnownHostsFile", &hosts.display().to_string());
        }
        option("HostName", &address.to_string());
        let host = url.host_str().unwrap_or_default();
        // ssh's own notation for another port.
        let alias = match url.port() {
            Some(port) if port != 22 => format!("'[{host}]:{port}'"),
            _ => format!("'{host}'"),
        };
        option("HostKeyAlias", &alias);
        let mut way = Way::to(url);
        way.environment.push(("GIT_SSH_COMMAND", command));
        way
    }
}

impl Way {
    fn to(url: &Url) -> Self {
        Self {
            url: url.to_string(),
            settings: Vec::new(),
            environment: Vec::new(),
            authorization: None,
        }
    }

    /// What must not be seen, in git's format of configuration files.
    pub fn configuration(&self) -> Option<String> {
        let Authorization { origin, header } = self.authorization.as_ref()?;
        let [origin, header] = [origin, header].map(|text| escaped(text));
        Some(format!(
            "[http \"{origin}\"]\n\textraHeader = \"Authorization: {header}\"\n"
        ))
    }

    /// The credential for git, in full and in parts.
    pub fn secrets(&self) -> Redactor {
        let header = self.authorization.as_ref().map(|auth| &auth.header);
        let coded = header.and_then(|header| header.split_whitespace().last());
        let mut secrets = Vec::new();
        if let Some(coded) = coded {
            let pair = STANDARD.decode(coded).unwrap_or_default();
            let pair = String::from_utf8(pair).unwrap_or_default();
            let password = pair.split_once(':').map(|(_, password)| password);
            secrets.extend([coded, password.unwrap_or_default()].map(Value::from));
        }
        Redactor::new(&secrets)
    }
}

/// For quotes of git's configuration files. A header has no line break.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', "\\\"")
}

fn git(url: &Url, address: &IpAddr) -> Way {
    let literal = match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    };
    let (mut pinned, host) = (url.clone(), url.host_str().unwrap_or_default());
    // It fails only for URLs without a host, which no registry has.
    let _ = pinned.set_host(Some(&literal));
    let named = match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    let mut way = Way::to(&pinned);
    way.environment.push(("GIT_OVERRIDE_VIRTUAL_HOST", named));
    way
}

/// Writes the system's and these authorities into one file of the cache.
#[expect(
    clippy::disallowed_methods,
    reason = "the variable is a rule of OpenSSL"
)]
fn together(file: &Path, cache: &Path) -> std::io::Result<PathBuf> {
    let set = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let system = set.into_iter().chain(SYSTEM.map(PathBuf::from));
    let system = system.into_iter().find_map(|file| std::fs::read(file).ok());
    let mut all = system.unwrap_or_default();
    all.push(b'\n');
    all.extend(std::fs::read(file)?);
    std::fs::create_dir_all(cache)?;
    let place = cache.canonicalize()?.join("authorities.pem");
    std::fs::write(&place, all)?;
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    #[test]
    fn a_credential_is_for_its_host_and_an_address_for_its_name() {
        let auth = HeaderValue::from_static("Basic x");
        let address = ["1.2.3.4".parse().unwrap()];
        let url = url("https://host.example/o/r.git");
        let ways = Trust::default().ways(&url, Some(&auth), &address);
        let has = |key: &str, value: &str| {
            ways[0]
                .settings
                .contains(&(key.to_owned(), value.to_owned()))
        };
        let file = "[http \"https://host.example\"]\n\textraHeader = \"Authorization: Basic x\"\n";
        assert_eq!(ways[0].configuration().as_deref(), Some(file));
        assert!(has("http.curloptResolve", "host.example:443:1.2.3.4"));
    }

    #[test]
    fn every_transport_connects_to_the_address_that_was_checked() {
        let address = ["::1".parse().unwrap()];
        let ways = Trust::default().ways(&url("git://host.example:9418/r"), None, &address);
        assert_eq!(ways[0].url, "git://[::1]:9418/r");
        let named = "host.example:9418".to_owned();
        assert_eq!(ways[0].environment, [("GIT_OVERRIDE_VIRTUAL_HOST", named)]);
        let ssh = |text: &str| {
            let ways = Trust::default().ways(&url(text), None, &address);
            ways[0].environment[0].1.clone()
        };
        let usual = ssh("ssh://git@host.example/r");
        assert!(
            usual.ends_with("-o HostName=::1 -o HostKeyAlias='host.example'"),
            "{usual}"
        );
        let unusual = ssh("ssh://git@host.example:2222/r");
        assert!(
            unusual.ends_with("HostKeyAlias='[host.example]:2222'"),
            "{unusual}"
        );
    }
}
