//! Opens the adapter of a registered registry.
//!
//! A definition decides what the manager reads, so each type has limits: a folder must be below the operator's folder,
//! a URL has no credentials, and no address is link-local.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use common::address::without_user;
use common::model::registry::scope::is_part;
use common::model::{Credential, RegistryDefinition, RegistryType};
use url::Url;

use crate::RegistryError;
use crate::adapter::directory::Directory;
use crate::adapter::github::{Api, Repository};
use crate::adapter::web_folder::WebFolder;
use crate::adapter::{Registry, git, helm, oci};
use crate::cache::DiskCache;
use crate::options::Options;
use crate::transport::Web;
use crate::transport::auth::{Auth, AuthError};
use crate::trust::Trust;

const PUBLIC_GITHUB: &str = "github.com";
const REF_CHARS: usize = 200;

/// A definition that passed all checks that need no request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedDefinition<'a> {
    definition: &'a RegistryDefinition,
    location: RegistryLocation,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum RegistryLocation {
    Folder(PathBuf),
    Github {
        api: String,
        owner: String,
        repository: String,
    },
    /// Ends with a `/`.
    Web(Url),
    Git(Url),
    Oci(oci::OciLocation),
    /// Ends with a `/`.
    Helm(Url),
}

/// The context for opening adapters.
#[derive(Debug, Clone)]
pub struct OpenContext {
    /// Without a credential.
    pub web: Web,
    /// For addresses that a registry names, on other hosts.
    pub outside: Web,
    pub refresh: Duration,
    /// The folder of all registries' caches.
    pub cache: PathBuf,
    /// The responses of all registries.
    pub files: Arc<DiskCache>,
    /// The largest size of all git repositories in the cache, in bytes.
    pub room: u64,
    pub git: git::Trust,
}

impl<'a> CheckedDefinition<'a> {
    pub fn new(
        definition: &'a RegistryDefinition,
        options: &Options,
    ) -> Result<Self, RegistryError> {
        let location = fields(definition)
            .and_then(|()| location(definition, options))
            .map_err(|reason| RegistryError::Definition {
                registry_type: definition.registry_type,
                url: without_user(&definition.url).chars().take(200).collect(),
                reason,
            })?;
        Ok(Self {
            definition,
            location,
        })
    }

    pub fn open(
        self,
        name: &str,
        credential: Option<&Credential>,
        context: &OpenContext,
    ) -> Result<Arc<dyn Registry>, RegistryError> {
        let refused = |source: AuthError| RegistryError::Credential {
            registry: name.to_owned(),
            source: source.into(),
        };
        let web = match credential {
            Some(credential) => {
                let auth = Auth::new(credential, &context.web).map_err(refused)?;
                context.web.with_auth(auth)
            }
            None => context.web.clone(),
        };
        Ok(match self.location {
            RegistryLocation::Folder(path) => {
                let opened = Directory::open(name, &path);
                Arc::new(opened.map_err(|source| RegistryError::Io {
                    path: path.display().to_string(),
                    source,
                })?)
            }
            RegistryLocation::Github {
                api,
                owner,
                repository,
            } => {
                let api = Arc::new(Api::new(web, &api, context.refresh)?);
                let opened = Repository::new(api, name.to_owned(), &owner, &repository);
                Arc::new(opened.defined(self.definition.clone()))
            }
            RegistryLocation::Web(base) => {
                let definition = self.definition.clone();
                Arc::new(WebFolder::new(name, definition, base, web, context.refresh))
            }
            RegistryLocation::Oci(location) => {
                let auth = credential.map(|credential| Auth::for_oci(credential, &context.web));
                let auth = auth.transpose().map_err(refused)?;
                Arc::new(oci::Artifacts::new(
                    name,
                    self.definition.clone(),
                    location,
                    auth,
                    context,
                ))
            }
            RegistryLocation::Helm(base) => {
                let (definition, refresh) = (self.definition.clone(), context.refresh);
                let webs = (web, context.outside.clone());
                Arc::new(helm::Repository::new(name, definition, base, webs, refresh))
            }
            RegistryLocation::Git(url) => {
                let auth = credential.map(|credential| Auth::for_git(credential, &context.web));
                let auth = auth.transpose().map_err(refused)?;
                Arc::new(git::Repository::new(
                    name,
                    self.definition.clone(),
                    url,
                    auth,
                    context,
                ))
            }
        })
    }
}

/// The checks of every type.
fn fields(definition: &RegistryDefinition) -> Result<(), String> {
    let is_repository = matches!(
        definition.registry_type,
        RegistryType::Git | RegistryType::Github
    );
    if let Some(collection) = &definition.collection
        && !is_part(collection)
    {
        return Err(format!("{collection:?} is not a name of a collection"));
    }
    if let Some(reference) = &definition.reference {
        if !is_repository {
            return Err("only a repository has a ref".to_owned());
        }
        if !is_ref(reference) {
            return Err(format!("{reference:?} is not a branch or tag"));
        }
    }
    if definition.api_url.is_some() && definition.registry_type != RegistryType::Github {
        return Err("only github has an apiUrl".to_owned());
    }
    Trust::parse(&definition.public_keys)?;
    if definition.registry_type == RegistryType::Helm {
        if !definition.public_keys.is_empty() {
            return Err("charts of a chart repository have no signatures that keys can check; publish them in a registry of another type".to_owned());
        }
        if definition.collection.is_some() {
            return Err("a chart repository has no collections".to_owned());
        }
    }
    if definition.registry_type == RegistryType::Directory && definition.credential.is_some() {
        return Err("a folder needs no credential".to_owned());
    }
    Ok(())
}

/// A name that git reads as a branch or a tag, and never as an option or an expression.
fn is_ref(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    (1..=REF_CHARS).contains(&text.len())
        && text.chars().all(plain)
        && !text.starts_with(['-', '/', '.'])
        && !text.ends_with(['/', '.'])
        && !text.contains("..")
        && !text.contains("//")
}

fn location(
    definition: &RegistryDefinition,
    options: &Options,
) -> Result<RegistryLocation, String> {
    match definition.registry_type {
        RegistryType::Directory => folder(&definition.url, options.registry_folder.as_deref()),
        RegistryType::Github => github(definition, options),
        RegistryType::Git => git_url(&definition.url).map(RegistryLocation::Git),
        RegistryType::Http => folder_url(&definition.url).map(RegistryLocation::Web),
        RegistryType::Helm => folder_url(&definition.url).map(RegistryLocation::Helm),
        RegistryType::Oci => oci::OciLocation::parse(&definition.url).map(RegistryLocation::Oci),
    }
}

/// Links are resolved before the check that the folder is below the operator's folder.
fn folder(path: &str, allowed: Option<&Path>) -> Result<RegistryLocation, String> {
    let allowed =
        allowed.ok_or("the manager does not allow it: the operator must set --registry-folder")?;
    let path = Path::new(path.strip_prefix("file://").unwrap_or(path));
    let canonical = |path: &Path| {
        let found = path.canonicalize();
        found.map_err(|error| format!("{} cannot be opened: {error}", path.display()))
    };
    let (allowed, found) = (canonical(allowed)?, canonical(&allowed.join(path))?);
    if !found.starts_with(&allowed) {
        return Err("it is not below the manager's --registry-folder".to_owned());
    }
    if !found.is_dir() {
        return Err("it is not a folder".to_owned());
    }
    Ok(RegistryLocation::Folder(found))
}

fn folder_url(text: &str) -> Result<Url, String> {
    let mut url = web_url(text)?;
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().push("");
    }
    Ok(url)
}

fn web_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("it must begin with https:// or http://".to_owned());
    }
    without_credentials(&url)?;
    Ok(url)
}

/// It may also have the form of ssh, `git@host:path`.
fn git_url(text: &str) -> Result<Url, String> {
    let scp = text
        .split_once(':')
        .filter(|(host, path)| !path.starts_with('/') && host.contains('@') && !host.contains('/'));
    let url = match (text.contains("://"), scp) {
        (false, Some((host, path))) => Url::parse(&format!("ssh://{host}/{path}")),
        _ => Url::parse(text),
    };
    let url = url.map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https" | "ssh" | "git") || url.host().is_none() {
        return Err(
            "write it like https://host/path.git, ssh://git@host/path.git or git://host/path.git"
                .to_owned(),
        );
    }
    // These become words of a command.
    let plain = |part: &str| {
        part.chars()
            .all(|c| c.is_ascii_alphanumeric() || ".-_[]:".contains(c))
    };
    if !plain(url.username()) || !url.host_str().is_some_and(plain) {
        return Err("its user or host contains an invalid character".to_owned());
    }
    // ssh would read such a user or host as an option.
    let is_option = |part: &str| part.starts_with('-');
    if is_option(url.username()) || url.host_str().is_some_and(is_option) {
        return Err("its user or host begins with '-'".to_owned());
    }
    without_credentials(&url)?;
    Ok(url)
}

fn without_credentials(url: &Url) -> Result<(), String> {
    if url.password().is_some() || (url.scheme() != "ssh" && !url.username().is_empty()) {
        return Err("the URL must not contain credentials; name one as its credential".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it must have no '?' and no '#'".to_owned());
    }
    Ok(())
}

fn github(definition: &RegistryDefinition, options: &Options) -> Result<RegistryLocation, String> {
    let text = match definition.url.starts_with("github.com/") {
        true => format!("https://{}", definition.url),
        false => definition.url.clone(),
    };
    let url = web_url(&text)?;
    let path = url.path().trim_matches('/');
    let (owner, repository) = path
        .strip_suffix(".git")
        .unwrap_or(path)
        .split_once('/')
        .filter(|(owner, repository)| is_part(owner) && is_part(repository))
        .ok_or("write it like https://github.com/<owner>/<repository>")?;
    let api = match &definition.api_url {
        Some(api) => web_url(api)
            .map_err(|reason| format!("its apiUrl: {reason}"))?
            .into(),
        None if url.host_str() == Some(PUBLIC_GITHUB) => options.github_api_url.clone(),
        None => format!("{}/api/v3", url.origin().ascii_serialization()),
    };
    Ok(RegistryLocation::Github {
        api,
        owner: owner.to_owned(),
        repository: repository.to_owned(),
    })
}

#[cfg(test)]
mod tests;
