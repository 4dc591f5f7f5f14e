//! The registries that are open: the default one, those on GitHub, and the registered ones.

mod charts;
mod unknown;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use common::api::manager::RegistrySummary;
use common::model::registry::scope::is_part;
use common::model::{RegistryDefinition, RegistryName};
use jiff::Timestamp;

use crate::RegistryError;
use crate::adapter::directory::Directory;
use crate::adapter::github::{Api, Repository};
use crate::adapter::open::{CheckedDefinition, OpenContext};
use crate::adapter::{Registry, git};
use crate::cache::{DiskCache, MemoryCache};
use crate::options::{self, Options};
use crate::registrations::Registrations;
use crate::transport::{Reach, Shared, Web};
use crate::trust::Trust;

/// The name of the default registry in references and in the API.
pub const DEFAULT: &str = "default";

/// Unregistered registries that stay open.
const NAMED: u64 = 32;

/// A registry, and the collection of references that name none.
#[derive(Clone)]
pub struct OpenRegistry {
    pub registry: Arc<dyn Registry>,
    pub collection: Option<String>,
    /// The keys that must have signed its templates.
    pub trust: Arc<Trust>,
}

enum Default {
    Opened(OpenRegistry),
    Registered(RegistryName),
    /// The folders that have no bundled registry.
    Missing(Vec<String>),
}

/// A registered registry that is open, with the definition and the credential that opened it.
struct Open {
    definition: RegistryDefinition,
    /// The time when its credential was set.
    credential: Option<Timestamp>,
    registry: OpenRegistry,
}

pub struct OpenRegistries {
    default: Default,
    github: Arc<Api>,
    /// For registered registries.
    context: OpenContext,
    /// For registries that references name by their URL.
    public: OpenContext,
    options: Options,
    registrations: Arc<dyn Registrations>,
    open: Mutex<HashMap<RegistryName, Open>>,
    /// Registries that are not registered, by their name in references.
    named: MemoryCache<String, OpenRegistry>,
}

impl OpenRegistries {
    pub fn new(
        options: &Options,
        registrations: Arc<dyn Registrations>,
        (shared, files): (&Shared, Arc<DiskCache>),
    ) -> Result<Self, RegistryError> {
        // The operator chooses the address of the API, so it may be private, as with GitHub Enterprise.
        let anywhere = Web::with_shared(Reach::Any, shared)?;
        let github = Api::new(anywhere, &options.github_api_url, options.registry_refresh)?;
        let github = Arc::new(github);
        let default = match &options.registry {
            Some(text) => opened(options::DefaultRegistry::parse(text)?, &github)?,
            None => bundled(),
        };
        let reach = match options.allow_private_registries {
            true => Reach::Any,
            false => Reach::NotLinkLocal,
        };
        let public = match options.allow_private_registries {
            true => Reach::Any,
            false => Reach::PublicOnly,
        };
        let outside = Web::with_shared(public, shared)?;
        let context = OpenContext {
            web: Web::with_shared(reach, shared)?,
            outside: outside.clone(),
            files,
            room: options.registry_cache_size.0,
            git: git::Trust::new(options)?,
            refresh: options.registry_refresh,
            cache: options.registry_cache.clone(),
        };
        let public = OpenContext {
            web: outside,
            ..context.clone()
        };
        Ok(Self {
            default,
            github,
            context,
            public,
            options: options.clone(),
            registrations,
            open: Mutex::default(),
            named: MemoryCache::new(NAMED),
        })
    }

    /// Rejects a definition that can never be opened.
    pub fn check(&self, definition: &RegistryDefinition) -> Result<(), RegistryError> {
        CheckedDefinition::new(definition, &self.options).map(|_| ())
    }

    pub async fn default(&self) -> Result<OpenRegistry, RegistryError> {
        match &self.default {
            Default::Opened(open) => Ok(open.clone()),
            Default::Registered(name) => self.registered(name).await,
            Default::Missing(tried) => Err(RegistryError::NoDefault {
                tried: tried.clone(),
            }),
        }
    }

    /// A repository stays open for the next reference to it.
    pub fn github(&self, owner: &str, repository: &str) -> OpenRegistry {
        let name = format!("github.com/{owner}/{repository}");
        if let Some(open) = self.named.get(&name) {
            return open;
        }
        let registry = Repository::new(self.github.clone(), name.clone(), owner, repository);
        let open = OpenRegistry {
            registry: Arc::new(registry),
            collection: None,
            trust: Arc::default(),
        };
        self.named.put(name, open.clone(), 1);
        open
    }

    /// A registry by its name.
    pub async fn by_name(&self, name: &str) -> Result<OpenRegistry, RegistryError> {
        if name == DEFAULT {
            return self.default().await;
        }
        let parts: Vec<_> = name.split('/').collect();
        match parts[..] {
            ["github.com", owner, repository] if is_part(owner) && is_part(repository) => {
                Ok(self.github(owner, repository))
            }
            [name] => match RegistryName::parse(name) {
                Ok(name) => self.registered(&name).await,
                Err(_) => Err(self.unknown(name).await),
            },
            _ => Err(self.unknown(name).await),
        }
    }

    /// Whether references may begin with this name.
    pub async fn knows(&self, name: &str) -> Result<bool, RegistryError> {
        match RegistryName::parse(name) {
            _ if name == DEFAULT => Ok(true),
            Ok(name) => Ok(self.definition(&name).await?.is_some()),
            Err(_) => Ok(false),
        }
    }

    /// The default registry and the registered ones, by name.
    pub async fn list(&self) -> Result<Vec<RegistrySummary>, RegistryError> {
        let mut all = Vec::new();
        match &self.default {
            Default::Opened(open) => all.push(open.registry.summary()),
            Default::Registered(_) | Default::Missing(_) => {}
        }
        let registered = self.registrations.definitions().await;
        let registered = registered.map_err(RegistryError::Registrations)?;
        all.extend(
            registered
                .into_iter()
                .map(|(name, definition)| RegistrySummary {
                    name: name.into(),
                    definition,
                }),
        );
        all.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    async fn registered(&self, name: &RegistryName) -> Result<OpenRegistry, RegistryError> {
        let Some(definition) = self.definition(name).await? else {
            return Err(self.unknown(name.as_str()).await);
        };
        let credential = match &definition.credential {
            Some(credential) => {
                let found = self.registrations.credential(credential).await;
                Some(found.map_err(|source| RegistryError::Credential {
                    registry: name.to_string(),
                    source,
                })?)
            }
            None => None,
        };
        let set = credential.as_ref().map(|(_, set)| *set);
        if let Some(open) = self.kept(name, &definition, set) {
            return Ok(open);
        }
        let mut context = self.context.clone();
        if let (Some(credential), Some(set)) = (&definition.credential, set) {
            // A new credential applies immediately, and does not find entries of the previous one in the cache.
            context.web = context.web.in_realm(&format!("{credential} {set}"));
        }
        let opened = CheckedDefinition::new(&definition, &self.options)?.open(
            name.as_str(),
            credential.as_ref().map(|(credential, _)| credential),
            &context,
        );
        let trust = Trust::parse(&definition.public_keys);
        let trust = trust.map_err(|reason| RegistryError::Definition {
            registry_type: definition.registry_type,
            url: definition.url.clone(),
            reason,
        })?;
        let open = OpenRegistry {
            registry: opened?,
            collection: definition.collection.clone(),
            trust: Arc::new(trust),
        };
        let entry = Open {
            definition,
            credential: set,
            registry: open.clone(),
        };
        self.opened().insert(name.clone(), entry);
        Ok(open)
    }

    async fn definition(
        &self,
        name: &RegistryName,
    ) -> Result<Option<RegistryDefinition>, RegistryError> {
        let found = self.registrations.definition(name).await;
        found.map_err(RegistryError::Registrations)
    }

    /// The open registry, unless its definition or its credential has changed.
    fn kept(
        &self,
        name: &RegistryName,
        definition: &RegistryDefinition,
        credential: Option<Timestamp>,
    ) -> Option<OpenRegistry> {
        let open = self.opened();
        let same = |open: &&Open| open.definition == *definition && open.credential == credential;
        open.get(name)
            .filter(same)
            .map(|open| open.registry.clone())
    }

    fn opened(&self) -> std::sync::MutexGuard<'_, HashMap<RegistryName, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn opened(default: options::DefaultRegistry, github: &Arc<Api>) -> Result<Default, RegistryError> {
    Ok(match default {
        options::DefaultRegistry::Directory(path) => {
            let opened = directory(&path).map_err(|source| RegistryError::Io {
                path: path.display().to_string(),
                source,
            });
            Default::Opened(opened?)
        }
        options::DefaultRegistry::Github {
            owner,
            repository,
            collection,
        } => {
            let registry = Repository::new(github.clone(), DEFAULT.to_owned(), &owner, &repository);
            Default::Opened(OpenRegistry {
                registry: Arc::new(registry),
                collection,
                trust: Arc::default(),
            })
        }
        options::DefaultRegistry::Registered(name) => Default::Registered(name),
    })
}

/// The first bundled registry that exists.
fn bundled() -> Default {
    let places = options::bundled();
    match places.iter().find_map(|place| directory(place).ok()) {
        Some(open) => Default::Opened(open),
        None => {
            let tried = places.iter().map(|place| place.display().to_string());
            Default::Missing(tried.collect())
        }
    }
}

fn directory(path: &Path) -> std::io::Result<OpenRegistry> {
    Ok(OpenRegistry {
        registry: Arc::new(Directory::open(DEFAULT, path)?),
        collection: None,
        trust: Arc::default(),
    })
}
