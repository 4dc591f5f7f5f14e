//! The settings of the operator, and the location of the default registry.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use common::model::RegistryName;
use common::model::registry::scope::is_part;
use reqwest::Certificate;

use crate::RegistryError;

/// Flags and environment of the registries.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub struct Options {
    /// Default template registry: a folder, [github.com/]OWNER/REPOSITORY[/COLLECTION], or the name of a registered one [default: the bundled charts/]
    #[arg(long, env = "DM_REGISTRY", value_name = "REGISTRY")]
    pub registry: Option<String>,
    /// URL of GitHub's REST API
    #[arg(long, env = "DM_GITHUB_API_URL", value_name = "URL", default_value = GITHUB_API)]
    pub github_api_url: String,
    /// Allow template references to private, loopback and link-local addresses
    #[arg(long, env = "DM_ALLOW_PRIVATE_REGISTRIES")]
    pub allow_private_registries: bool,
    /// Folder for files fetched from registries; it may be removed while the manager is stopped
    #[arg(long, env = "DM_REGISTRY_CACHE", value_name = "FOLDER", default_value = CACHE, value_parser = whole_path)]
    pub registry_cache: PathBuf,
    /// Maximum size of files and answers in that folder, such as 256MiB; git repositories may use as much again
    #[arg(
        long,
        env = "DM_REGISTRY_CACHE_SIZE",
        value_name = "SIZE",
        default_value = "256MiB"
    )]
    pub registry_cache_size: Size,
    /// PEM file with authorities for the certificates of registries, in addition to the system's
    #[arg(long, env = "DM_REGISTRY_CA", value_name = "FILE")]
    pub registry_ca: Option<PathBuf>,
    /// Private key for git registries over ssh [default: the keys and the agent of the manager's user]
    #[arg(long, env = "DM_REGISTRY_SSH_KEY", value_name = "FILE", value_parser = plain_path)]
    pub registry_ssh_key: Option<PathBuf>,
    /// Host keys of git registries over ssh, in the format of ssh-keyscan [default: the known_hosts of the manager's user]
    #[arg(long, env = "DM_REGISTRY_SSH_KNOWN_HOSTS", value_name = "FILE", value_parser = plain_path)]
    pub registry_ssh_known_hosts: Option<PathBuf>,
    /// How long the list of a registry is used before it is requested again, such as 1m or 0s
    #[arg(long, env = "DM_REGISTRY_REFRESH", value_name = "TIME", default_value = "1m", value_parser = duration)]
    pub registry_refresh: Duration,
    /// Folder for registries of type directory; only folders below it may be registered [default: none]
    #[arg(long, env = "DM_REGISTRY_FOLDER", value_name = "FOLDER")]
    pub registry_folder: Option<PathBuf>,
}

const GITHUB_API: &str = "https://api.github.com";
const CACHE_SIZE: Size = Size(256 * 1024 * 1024);
const CACHE: &str = "./dm-registry-cache";
/// A new patch of a template is used within this time. A template that is not found is requested at once.
const REFRESH: Duration = Duration::from_secs(60);
const INSTALLED: &str = "/usr/share/deployment-manager/charts";

impl Default for Options {
    fn default() -> Self {
        Self {
            registry: None,
            github_api_url: GITHUB_API.to_owned(),
            allow_private_registries: false,
            registry_folder: None,
            registry_cache: PathBuf::from(CACHE),
            registry_cache_size: CACHE_SIZE,
            registry_ca: None,
            registry_ssh_key: None,
            registry_ssh_known_hosts: None,
            registry_refresh: REFRESH,
        }
    }
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = String;

    /// For example `256MiB`. Without a unit, bytes.
    fn from_str(text: &str) -> Result<Self, String> {
        let end = text.find(|c: char| !c.is_ascii_digit());
        let (number, unit) = text.split_at(end.unwrap_or(text.len()));
        let factor: u64 = match unit {
            "" | "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return Err("write it like 256MiB or 1GiB".to_owned()),
        };
        let number: u64 = number.parse().map_err(|_| "it begins with no number")?;
        let bytes = number.checked_mul(factor);
        Ok(Self(bytes.ok_or("it is too large")?))
    }
}

impl Options {
    /// The authorities that are trusted in addition to those of the system.
    pub(crate) fn authorities(&self) -> Result<Vec<Certificate>, RegistryError> {
        let Some(file) = &self.registry_ca else {
            return Ok(Vec::new());
        };
        let refused = |reason: String| RegistryError::Authorities {
            file: file.display().to_string(),
            reason,
        };
        let pem = std::fs::read(file).map_err(|error| refused(error.to_string()))?;
        let found = Certificate::from_pem_bundle(&pem);
        let found = found.map_err(|error| refused(error.to_string()))?;
        match found.is_empty() {
            true => Err(refused("it contains no certificate".to_owned())),
            false => Ok(found),
        }
    }
}

/// A path that needs no quoting in a command.
fn plain_path(text: &str) -> Result<PathBuf, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@".contains(c);
    if !text.chars().all(plain) {
        return Err("it may have letters, digits and /._-+@".to_owned());
    }
    whole_path(text)
}

/// Makes the path absolute: programs that run in another folder use it too.
fn whole_path(text: &str) -> Result<PathBuf, String> {
    std::path::absolute(text).map_err(|error| error.to_string())
}

fn duration(text: &str) -> Result<Duration, String> {
    let span: jiff::SignedDuration = text
        .parse()
        .map_err(|error: jiff::Error| error.to_string())?;
    Duration::try_from(span).map_err(|error| error.to_string())
}

/// The default registry, as the operator names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultRegistry {
    Directory(PathBuf),
    Github {
        owner: String,
        repository: String,
        collection: Option<String>,
    },
    Registered(RegistryName),
}

impl DefaultRegistry {
    /// An existing folder has precedence over a repository of the same name.
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
            [name] => {
                return RegistryName::parse(name)
                    .map(Self::Registered)
                    .map_err(|_| refused());
            }
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

/// The possible folders of the bundled registry: beside the program, in its checkout, and the installation folder of
/// packages.
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
    fn a_size_has_a_unit_or_is_one_of_bytes() {
        for (text, bytes) in [("0", 0), ("10", 10), ("2KiB", 2048), ("1GiB", 1 << 30)] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
        for bad in ["", "MiB", "1MB", "-1", "1.5MiB", "99999999999GiB"] {
            assert!(bad.parse::<Size>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_registry_is_a_folder_or_a_repository() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().to_str().unwrap();
        assert_eq!(
            DefaultRegistry::parse(text).unwrap(),
            DefaultRegistry::Directory(folder.path().into())
        );
        let github = |collection: Option<&str>| DefaultRegistry::Github {
            owner: "my-org".to_owned(),
            repository: "my-repo".to_owned(),
            collection: collection.map(str::to_owned),
        };
        assert_eq!(
            DefaultRegistry::parse("my-org/my-repo").unwrap(),
            github(None)
        );
        assert_eq!(
            DefaultRegistry::parse("github.com/my-org/my-repo/c").unwrap(),
            github(Some("c"))
        );
        let own = RegistryName::parse("own").unwrap();
        assert_eq!(
            DefaultRegistry::parse("own").unwrap(),
            DefaultRegistry::Registered(own)
        );
        for bad in [
            "",
            "/no/such/folder",
            "One",
            "a/b/c/d",
            "https://github.com/a/b",
        ] {
            assert!(DefaultRegistry::parse(bad).is_err(), "{bad}");
        }
    }
}
