//! What the operator sets, and where the default registry is.

use std::path::{Path, PathBuf};

use common::model::scope::is_part;

use super::RegistryError;

/// Flags and environment of the registries.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub struct Options {
    /// Default template registry: a folder, or [github.com/]OWNER/REPOSITORY[/COLLECTION] [default: the bundled charts/]
    #[arg(long, env = "DM_REGISTRY", value_name = "REGISTRY")]
    pub registry: Option<String>,
    /// GitHub's REST API
    #[arg(long, env = "DM_GITHUB_API_URL", value_name = "URL", default_value = GITHUB_API)]
    pub github_api_url: String,
    /// Let template references lead to private, loopback and link-local addresses
    #[arg(long, env = "DM_ALLOW_PRIVATE_REGISTRIES")]
    pub allow_private_registries: bool,
}

const GITHUB_API: &str = "https://api.github.com";
const INSTALLED: &str = "/usr/share/deployment-manager/charts";

impl Default for Options {
    fn default() -> Self {
        Self {
            registry: None,
            github_api_url: GITHUB_API.to_owned(),
            allow_private_registries: false,
        }
    }
}

/// Where a default registry is said to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Directory(PathBuf),
    Github {
        owner: String,
        repository: String,
        collection: Option<String>,
    },
}

impl Place {
    /// A folder that exists is meant before a repository of the same name.
    pub fn parse(text: &str) -> Result<Self, RegistryError> {
        let refused = || RegistryError::Setting {
            text: text.to_owned(),
        };
        if Path::new(text).is_dir() {
            return Ok(Self::Directory(PathBuf::from(text)));
        }
        let parts: Vec<_> = text
            .strip_prefix("github.com/")
            .unwrap_or(text)
            .split('/')
            .collect();
        if !parts.iter().all(|part| is_part(part)) {
            return Err(refused());
        }
        let (owner, repository, collection) = match parts[..] {
            [owner, repository] => (owner, repository, None),
            [owner, repository, collection] => (owner, repository, Some(collection.to_owned())),
            _ => return Err(refused()),
        };
        Ok(Self::Github {
            owner: owner.to_owned(),
            repository: repository.to_owned(),
            collection,
        })
    }
}

/// Where the bundled registry may be: beside the program, in the checkout that it was built in, installed.
pub fn bundled() -> Vec<PathBuf> {
    let program = std::env::current_exe().ok();
    let folder = program.as_deref().and_then(Path::parent);
    let near = folder
        .into_iter()
        .flat_map(|folder| [folder.join("charts"), folder.join("../../charts")]);
    near.chain([PathBuf::from(INSTALLED)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_is_a_folder_or_a_repository() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().to_str().unwrap();
        assert_eq!(
            Place::parse(text).unwrap(),
            Place::Directory(folder.path().into())
        );
        let github = |collection: Option<&str>| Place::Github {
            owner: "my-org".to_owned(),
            repository: "my-repo".to_owned(),
            collection: collection.map(str::to_owned),
        };
        assert_eq!(Place::parse("my-org/my-repo").unwrap(), github(None));
        assert_eq!(
            Place::parse("github.com/my-org/my-repo/c").unwrap(),
            github(Some("c"))
        );
        for bad in [
            "",
            "/no/such/folder",
            "one",
            "a/b/c/d",
            "https://github.com/a/b",
        ] {
            assert!(Place::parse(bad).is_err(), "{bad}");
        }
    }
}
