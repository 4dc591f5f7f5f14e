//! `dm createregistry`: registers a template registry under a name.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::Args;
use common::model::{CredentialName, RegistryDefinition, RegistryName, RegistryType};

use super::registries;
use crate::bundle::files::{self, ReadError};
use crate::client::session::Session;
use crate::error::Failure;

/// Register a template registry under a name; references to its templates begin with the name.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm createregistry shop https://github.com/my-org/my-repo
  dm createregistry shop https://github.example.com/my-org/my-repo --credential shop-token
  dm createregistry shop https://github.com/my-org/my-repo --ref stable
  dm createregistry shop https://templates.example.com/shop --type http
  dm createregistry charts https://charts.example.com --type helm
  dm createregistry shop oci://ghcr.io/my-org/templates --public-key publisher.pub
  dm deploy shop/redis:v1")]
pub struct CreateRegistry {
    /// Name of the registry.
    pub name: RegistryName,
    /// URL of the registry; for a directory, its path on the manager's machine.
    pub url: String,
    /// Kind of registry: directory, git, github, http, oci or helm [default: from the URL].
    #[arg(long = "type", value_name = "TYPE")]
    pub registry_type: Option<RegistryType>,
    /// Collection for references that name none.
    #[arg(long)]
    pub collection: Option<String>,
    /// Credential for the registry, as set with setcredential.
    #[arg(long)]
    pub credential: Option<CredentialName>,
    /// Branch or tag of a repository.
    #[arg(long = "ref", value_name = "REF")]
    pub reference: Option<String>,
    /// URL of the REST API of GitHub Enterprise, if it is not at /api/v3.
    #[arg(long, value_name = "URL")]
    pub api_url: Option<String>,
    /// Accept only templates that this key has signed: a minisign key, or a P-256 key in PEM; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub public_key: Vec<PathBuf>,
}

impl CreateRegistry {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let known = self.registry_type.or_else(|| guess(&self.url));
        let registry_type = known.ok_or_else(|| {
            let reason = format!(
                "the URL {:?} does not show what kind of registry it is: give --type directory, git, github, http, oci or helm",
                self.url
            );
            Failure::usage(reason)
        })?;
        let keys = self.public_key.iter().map(|file| read_key(file)).collect();
        let keys: Result<Vec<String>, Failure> = keys;
        let definition = RegistryDefinition {
            registry_type,
            url: self.url,
            collection: self.collection,
            credential: self.credential,
            reference: self.reference,
            api_url: self.api_url,
            public_keys: keys?,
        };
        let created = session
            .client
            .create_registry(&self.name, &definition)
            .await?;
        let width = session.terminal.width;
        session.show(&created, |created| {
            registries::table(std::slice::from_ref(created)).render(width)
        })
    }
}

fn read_key(file: &Path) -> Result<String, Failure> {
    let read = File::open(file).map_err(|error| ReadError::Other(error.to_string()));
    let text = read.and_then(files::text).map_err(|reason| {
        Failure::failed(format!("{} cannot be read: {reason}", file.display()))
    })?;
    Ok(text.trim_end().to_owned())
}

/// The kind of registry that a URL shows. An ordinary `https://` URL could be any kind.
fn guess(url: &str) -> Option<RegistryType> {
    let host = url.strip_prefix("https://").unwrap_or(url);
    // A GitHub Enterprise too.
    if host.starts_with("github.") {
        return Some(RegistryType::Github);
    }
    if url.starts_with("oci://") || url.starts_with("oci+http://") {
        return Some(RegistryType::Oci);
    }
    let is_git = ["git@", "git://", "ssh://"]
        .iter()
        .any(|start| url.starts_with(start));
    if is_git || url.ends_with(".git") {
        return Some(RegistryType::Git);
    }
    (url.starts_with(['/', '.']) || url.starts_with("file://")).then_some(RegistryType::Directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_told_from_the_url_only_where_it_is_certain() {
        for (url, kind) in [
            ("https://github.com/o/r", Some(RegistryType::Github)),
            ("github.com/o/r", Some(RegistryType::Github)),
            ("git@host:o/r", Some(RegistryType::Git)),
            ("git://host/r", Some(RegistryType::Git)),
            ("https://host/r.git", Some(RegistryType::Git)),
            ("oci://ghcr.io/o/r", Some(RegistryType::Oci)),
            ("/srv/templates", Some(RegistryType::Directory)),
            ("https://host/r", None),
        ] {
            assert_eq!(guess(url), kind, "{url}");
        }
    }
}
