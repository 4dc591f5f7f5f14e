//! All registries that the manager knows, and what it asks of them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use common::api::manager::{RegistrySummary, TemplateDescription, TemplateSummary};
use common::model::scope::is_part;
use common::model::{Import, ResolvedType, Scope, TypeName};
use common::server::health::Check;
use serde_json::Value;

use super::cache::{Cache, Key};
use super::catalog;
use super::directory::Directory;
use super::fetch::{self, TemplateFile};
use super::github::{Api, Repository};
use super::http::UrlFolder;
use super::options::{Options, Place, bundled};
use super::path::FilePath;
use super::reference::{Reference, TemplateVersion};
use super::web::{Reach, Web};
use super::{Files, Registry, RegistryError};

/// What the default registry is called in references and in the API.
const DEFAULT: &str = "default";
const REGISTERED: [&str; 1] = [DEFAULT];
const EXAMPLE: &str = "example.yaml";
/// Resolving one reference, or listing one registry.
const DEADLINE: Duration = Duration::from_secs(60);
const PATTERN_BYTES: usize = 1024 * 1024;

/// The registered registries, and the way to those that references name in full.
pub struct Registries {
    default: Result<DefaultRegistry, Vec<String>>,
    github: Arc<Api>,
    web: Web,
    cache: Cache,
}

struct DefaultRegistry {
    registry: Arc<dyn Registry>,
    /// What references without a collection mean.
    collection: Option<String>,
}

/// A reference, with the files that it stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedTemplate {
    pub resolved: ResolvedType,
    /// The template, named as the reference; its schema, named as the reference and `.schema`; then what the schema imports,
    /// each named by its path.
    pub imports: Vec<Import>,
    /// Where short references in the template lead, if not where they lead in a caller's configuration.
    pub scope: Option<Scope>,
}

/// Where a reference leads.
struct Found {
    files: Arc<dyn Files>,
    template: FilePath,
    version: Option<String>,
    scope: Option<Scope>,
    key: Option<Key>,
}

impl Registries {
    /// Without the bundled registry it starts all the same: references in full still lead somewhere. A registry
    /// that was set must be there.
    pub fn new(options: &Options) -> Result<Self, RegistryError> {
        let reach = if options.allow_private_registries {
            Reach::Any
        } else {
            Reach::PublicOnly
        };
        // The API's address is the operator's choice, not a caller's: GitHub Enterprise may well be inside.
        let github = Arc::new(Api::new(Web::new(Reach::Any)?, &options.github_api_url)?);
        let default = match &options.registry {
            Some(text) => Ok(DefaultRegistry::at(Place::parse(text)?, &github)?),
            None => DefaultRegistry::bundled(),
        };
        let (web, cache) = (Web::new(reach)?, Cache::default());
        Ok(Self {
            default,
            github,
            web,
            cache,
        })
    }

    /// Whether a type is a template reference by its form, well or malformed; else it is a Kubernetes kind.
    pub fn recognises(&self, type_name: &str) -> bool {
        Reference::is_meant(type_name)
    }

    /// The files of the very version that a reference means now.
    pub async fn resolve(&self, type_name: &TypeName) -> Result<ResolvedTemplate, RegistryError> {
        let resolving = async {
            let found = self.find(type_name).await?;
            let files = self.fetch(&found).await?;
            Ok(found.resolved(type_name, &files))
        };
        in_time(type_name.as_str(), resolving).await
    }

    pub async fn describe(
        &self,
        type_name: &TypeName,
    ) -> Result<TemplateDescription, RegistryError> {
        let describing = async {
            let found = self.find(type_name).await?;
            let files = self.fetch(&found).await?;
            let example = found.template.parent().join_text(EXAMPLE)?;
            let example = fetch::text(&*found.files, &example).await?;
            let schema = found.schema(&files)?;
            Ok(TemplateDescription {
                resolved: found.resolved(type_name, &files).resolved,
                title: info(schema.as_ref(), "title"),
                description: info(schema.as_ref(), "description"),
                schema,
                example: example.map(|file| file.content),
            })
        };
        in_time(type_name.as_str(), describing).await
    }

    /// The registered registries.
    pub async fn list(&self) -> Vec<RegistrySummary> {
        self.default
            .iter()
            .map(|default| default.registry.summary())
            .collect()
    }

    /// The registry that holds a template, whether or not it has that version.
    pub async fn registry_of(
        &self,
        type_name: &TypeName,
    ) -> Result<RegistrySummary, RegistryError> {
        match Reference::parse(type_name.as_str(), &REGISTERED)? {
            Reference::Url { base, .. } => Ok(UrlFolder::new(self.web.clone(), base).summary()),
            Reference::Github {
                owner, repository, ..
            } => Ok(self.repository(&owner, &repository).summary()),
            Reference::Registered { .. } => Ok(self.default()?.registry.summary()),
        }
    }

    /// The templates of a registry, in the order of their names; `pattern` is a regular expression that names must match.
    pub async fn templates(
        &self,
        registry: &str,
        pattern: Option<&str>,
    ) -> Result<Vec<TemplateSummary>, RegistryError> {
        let pattern = pattern.map(compile).transpose()?;
        let (found, collection) = self.named(registry)?;
        let mut templates =
            in_time(registry, catalog::templates(&*found, collection.as_deref())).await?;
        templates.retain(|template| {
            pattern
                .as_ref()
                .is_none_or(|pattern| pattern.is_match(&template.name))
        });
        templates.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(templates)
    }

    /// One file of a registry.
    pub async fn download(&self, registry: &str, file: &str) -> Result<Vec<u8>, RegistryError> {
        let path = FilePath::parse(file)?;
        let (registry, _) = self.named(registry)?;
        let bytes = in_time(file, registry.read(&path)).await?;
        bytes.ok_or_else(|| RegistryError::FileNotFound {
            file: registry.path_of(&path),
        })
    }

    /// For `/readyz`. A missing bundled registry is told but does not make the manager unready: all else works. It asks
    /// nothing of the network.
    pub async fn health(&self) -> Check {
        const NAME: &str = "registry";
        let default = match self.default() {
            Ok(default) => default,
            Err(error) => return Check::ready(NAME, error.to_string()),
        };
        let summary = default.registry.summary();
        if summary.registry_type != "directory" {
            return Check::ready(NAME, summary.url);
        }
        match default.registry.entries(&FilePath::root()).await {
            Ok(_) => Check::ready(NAME, summary.url),
            Err(error) => Check::down(NAME, error.to_string()),
        }
    }

    fn default(&self) -> Result<&DefaultRegistry, RegistryError> {
        self.default
            .as_ref()
            .map_err(|tried| RegistryError::NoDefault {
                tried: tried.clone(),
            })
    }

    fn repository(&self, owner: &str, repository: &str) -> Arc<dyn Registry> {
        let name = format!("github.com/{owner}/{repository}");
        Arc::new(Repository::new(
            self.github.clone(),
            name,
            owner,
            repository,
        ))
    }

    /// A registry by its name, with the collection that it is limited to.
    fn named(&self, name: &str) -> Result<(Arc<dyn Registry>, Option<String>), RegistryError> {
        if name == DEFAULT {
            let default = self.default()?;
            return Ok((default.registry.clone(), default.collection.clone()));
        }
        let parts: Vec<_> = name.split('/').collect();
        match parts[..] {
            ["github.com", owner, repository] if is_part(owner) && is_part(repository) => {
                Ok((self.repository(owner, repository), None))
            }
            _ => Err(RegistryError::UnknownRegistry {
                name: name.chars().take(80).collect(),
            }),
        }
    }

    async fn find(&self, type_name: &TypeName) -> Result<Found, RegistryError> {
        match Reference::parse(type_name.as_str(), &REGISTERED)? {
            Reference::Url { base, file } => Ok(Found {
                files: Arc::new(UrlFolder::new(self.web.clone(), base)),
                template: FilePath::parse(&file)?,
                version: None,
                scope: None,
                key: None,
            }),
            Reference::Github {
                owner,
                repository,
                template,
            } => {
                let registry = self.repository(&owner, &repository);
                let scope = Scope {
                    registry: registry.summary().name,
                    collection: template.collection.clone(),
                };
                self.find_version(registry, &template, Some(scope)).await
            }
            Reference::Registered { mut template, .. } => {
                let default = self.default()?;
                template.collection = template.collection.or_else(|| default.collection.clone());
                let scope = template.collection.clone().map(|collection| Scope {
                    registry: DEFAULT.to_owned(),
                    collection: Some(collection),
                });
                self.find_version(default.registry.clone(), &template, scope)
                    .await
            }
        }
    }

    async fn find_version(
        &self,
        registry: Arc<dyn Registry>,
        wanted: &TemplateVersion,
        scope: Option<Scope>,
    ) -> Result<Found, RegistryError> {
        let located = catalog::locate(&*registry, wanted).await?;
        let key = located
            .revision
            .map(|revision| (registry.path_of(&located.folder), revision));
        let known = key.as_ref().and_then(|key| self.cache.get(key));
        let template = match known.as_deref().and_then(|files| files.first()) {
            Some(template) => template.path.clone(),
            None => catalog::template_file(&*registry, &located.folder, &wanted.template).await?,
        };
        Ok(Found {
            files: registry,
            template,
            version: Some(located.version),
            scope,
            key,
        })
    }

    async fn fetch(&self, found: &Found) -> Result<Arc<Vec<TemplateFile>>, RegistryError> {
        if let Some(files) = found.key.as_ref().and_then(|key| self.cache.get(key)) {
            return Ok(files);
        }
        let files = fetch::template(&*found.files, &found.template).await?;
        let files = Arc::new(files.ok_or_else(|| RegistryError::UrlNotFound {
            url: found.files.url_of(&found.template),
        })?);
        if let Some(key) = found.key.clone() {
            self.cache.put(key, files.clone());
        }
        Ok(files)
    }
}

impl DefaultRegistry {
    fn at(place: Place, github: &Arc<Api>) -> Result<Self, RegistryError> {
        match place {
            Place::Directory(path) => Self::directory(&path).map_err(|source| RegistryError::Io {
                path: path.display().to_string(),
                source,
            }),
            Place::Github {
                owner,
                repository,
                collection,
            } => {
                let registry =
                    Repository::new(github.clone(), DEFAULT.to_owned(), &owner, &repository);
                Ok(Self {
                    registry: Arc::new(registry),
                    collection,
                })
            }
        }
    }

    /// The first bundled registry that is there, or where it was looked for.
    fn bundled() -> Result<Self, Vec<String>> {
        let places = bundled();
        let found = places.iter().find_map(|place| Self::directory(place).ok());
        found.ok_or_else(|| {
            places
                .iter()
                .map(|place| place.display().to_string())
                .collect()
        })
    }

    fn directory(path: &Path) -> std::io::Result<Self> {
        let registry = Arc::new(Directory::open(DEFAULT, path)?);
        Ok(Self {
            registry,
            collection: None,
        })
    }
}

impl Found {
    fn resolved(&self, type_name: &TypeName, files: &[TemplateFile]) -> ResolvedTemplate {
        let schema = self.template.with_ending(fetch::SCHEMA);
        let name = |path: &FilePath| match path {
            path if *path == self.template => type_name.to_string(),
            path if *path == schema => format!("{type_name}{}", fetch::SCHEMA),
            path => self.files.path_of(path),
        };
        let import = |file: &TemplateFile| Import {
            name: name(&file.path),
            path: Some(self.files.path_of(&file.path)),
            content: file.content.clone(),
        };
        ResolvedTemplate {
            resolved: ResolvedType {
                type_name: type_name.clone(),
                version: self.version.clone(),
                url: self.files.url_of(&self.template),
                sha256: fetch::sha256(files),
            },
            imports: files.iter().map(import).collect(),
            scope: self.scope.clone(),
        }
    }

    fn schema(&self, files: &[TemplateFile]) -> Result<Option<Value>, RegistryError> {
        let path = self.template.with_ending(fetch::SCHEMA);
        let schema = files.iter().find(|file| file.path == path);
        schema
            .map(|schema| fetch::parse_schema(&*self.files, schema))
            .transpose()
    }
}

/// `info.title`, or `title` as JSON Schema has it.
fn info(schema: Option<&Value>, key: &str) -> Option<String> {
    let schema = schema?;
    let text = schema
        .get("info")
        .and_then(|info| info.get(key))
        .or_else(|| schema.get(key));
    text.and_then(Value::as_str).map(str::to_owned)
}

fn compile(pattern: &str) -> Result<regex::Regex, RegistryError> {
    let compiled = regex::RegexBuilder::new(pattern)
        .size_limit(PATTERN_BYTES)
        .build();
    compiled.map_err(|error| RegistryError::Pattern {
        pattern: pattern.chars().take(80).collect(),
        reason: error.to_string(),
    })
}

async fn in_time<T>(
    what: &str,
    work: impl Future<Output = Result<T, RegistryError>>,
) -> Result<T, RegistryError> {
    let outcome = tokio::time::timeout(DEADLINE, work).await;
    outcome.unwrap_or_else(|_| {
        Err(RegistryError::TimedOut {
            what: what.to_owned(),
            seconds: DEADLINE.as_secs(),
        })
    })
}
