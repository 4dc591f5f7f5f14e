//! `dm createregistry`: gives a template registry a name, which references may begin with.

use clap::Args;
use common::model::{CredentialName, RegistryDefinition, RegistryName, RegistryType};

use super::registries;
use crate::error::Failure;
use crate::session::Session;

/// Register a template registry; references to its templates begin with its name.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm createregistry shop https://github.com/my-org/my-repo
  dm createregistry shop https://github.example.com/my-org/my-repo --credential shop-token --ref stable
  dm createregistry shop https://templates.example.com/shop --type http
  dm createregistry shop oci://ghcr.io/my-org/templates
  dm deploy shop/redis:v1")]
pub struct CreateRegistry {
    pub name: RegistryName,
    /// Where it is; of a directory, its path on the manager's machine.
    pub url: String,
    /// directory, git, github, http or oci; told from the URL if absent.
    #[arg(long = "type", value_name = "TYPE")]
    pub registry_type: Option<RegistryType>,
    /// What references without a collection mean.
    #[arg(long)]
    pub collection: Option<String>,
    /// The credential that opens it, as set with setcredential.
    #[arg(long)]
    pub credential: Option<CredentialName>,
    /// Of a repository, the branch or the tag.
    #[arg(long = "ref", value_name = "REF")]
    pub reference: Option<String>,
    /// Of GitHub Enterprise, where its REST API is, if not at /api/v3.
    #[arg(long, value_name = "URL")]
    pub api_url: Option<String>,
}

impl CreateRegistry {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let told = self.registry_type.or_else(|| guess(&self.url));
        let registry_type = told.ok_or_else(|| {
            let reason = format!("what {:?} is cannot be told; say so with --type", self.url);
            Failure::Usage(reason)
        })?;
        let definition = RegistryDefinition {
            registry_type,
            url: self.url,
            collection: self.collection,
            credential: self.credential,
            reference: self.reference,
            api_url: self.api_url,
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

/// What a URL says of itself; an ordinary `https://` one could be anything.
fn guess(url: &str) -> Option<RegistryType> {
    let host = url.strip_prefix("https://").unwrap_or(url);
    if host.starts_with("github.com/") {
        return Some(RegistryType::Github);
    }
    if url.starts_with("oci://") || url.starts_with("oci+http://") {
        return Some(RegistryType::Oci);
    }
    if url.starts_with("git@") || url.starts_with("ssh://") || url.ends_with(".git") {
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
            ("https://host/r.git", Some(RegistryType::Git)),
            ("oci://ghcr.io/o/r", Some(RegistryType::Oci)),
            ("/srv/templates", Some(RegistryType::Directory)),
            ("https://host/r", None),
        ] {
            assert_eq!(guess(url), kind, "{url}");
        }
    }
}
