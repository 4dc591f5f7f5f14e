//! All registries that the manager knows, and the operations on them.

mod charts;
mod find;
mod found;

use std::sync::Arc;
use std::time::Duration;

use common::api::manager::{RegistrySummary, TemplateDescription, TemplateSummary};
use common::model::{
    Import, RegistryDefinition, RegistryType, ResolvedType, Scope, TypeName, Version,
};
use common::registry::FilePath;
use common::server::observe::health::Check;
use serde_json::Value;
use url::Url;

use crate::RegistryError;
use crate::adapter::url::UrlFolder;
use crate::cache::{DiskCache, MemoryCache};
use crate::catalog::fetch::{self, TemplateFile};
use crate::catalog::locate;
use crate::open_registries::{DEFAULT, OpenRegistries};
use crate::options::Options;
use crate::reference::{ChartReference, Identity, Reference};
use crate::registrations::Registrations;
use crate::transport::{MaxAge, Reach, Shared, Web};

const EXAMPLE: &str = "example.yaml";
/// The deadline for resolving one reference, or listing one registry.
const DEADLINE: Duration = Duration::from_secs(60);
const PATTERN_BYTES: usize = 1024 * 1024;

/// Enough for some thousand ordinary templates, or for eight of the largest.
const TEMPLATE_CACHE_BYTES: u64 = 64 * 1024 * 1024;

/// The path of a folder with its registry, and the revision of its contents.
type TemplateKey = (String, String);

/// All registries, and access to those that references name in full.
pub struct Registries {
    open: OpenRegistries,
    web: Web,
    /// How long a response of a full URL is used without a request.
    refresh: Duration,
    /// Templates that cannot change.
    templates: MemoryCache<TemplateKey, Arc<Vec<TemplateFile>>>,
}

/// A reference with its files.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedTemplate {
    pub resolved: ResolvedType,
    /// The template has the name of the reference. Its schema has that name with `.schema`. The imports of the schema
    /// follow, each with its path as its name.
    pub imports: Vec<Import>,
    /// The scope of short references in the template, if it differs from that of a user's configuration.
    pub scope: Option<Scope>,
    /// Reports that the registry is unreachable, and how old the used files are.
    pub warning: Option<String>,
}

impl Registries {
    /// A missing bundled registry is not an error, because full references work without it. A registry that the
    /// operator set must exist.
    pub fn new(
        options: &Options,
        registrations: Arc<dyn Registrations>,
    ) -> Result<Self, RegistryError> {
        let reach = if options.allow_private_registries {
            Reach::Any
        } else {
            Reach::PublicOnly
        };
        let size = options.registry_cache_size.0;
        let files = Arc::new(DiskCache::new(&options.registry_cache, size));
        let shared = Shared::new(files.clone(), options.authorities()?);
        Ok(Self {
            open: OpenRegistries::new(options, registrations, (&shared, files))?,
            web: Web::with_shared(reach, &shared)?,
            refresh: options.registry_refresh,
            templates: MemoryCache::new(TEMPLATE_CACHE_BYTES),
        })
    }

    /// Rejects a definition that no adapter can open.
    pub fn check(&self, definition: &RegistryDefinition) -> Result<(), RegistryError> {
        self.open.check(definition)
    }

    /// Whether a type has the form of a template reference. It may be malformed. Every other type is a Kubernetes kind.
    pub fn recognises(&self, type_name: &str) -> bool {
        Reference::is_meant(type_name)
    }

    /// The files of the version that a reference means now.
    pub async fn resolve(&self, type_name: &TypeName) -> Result<ResolvedTemplate, RegistryError> {
        let resolving = async {
            let found = self.find(type_name, None).await?;
            let files = self.fetch(&found).await?;
            Ok(found.resolved(type_name, &files))
        };
        in_time(type_name.as_str(), resolving).await
    }

    /// Resolves the reference as if it named another version. The result keeps the name of the reference.
    pub async fn resolve_at(
        &self,
        type_name: &TypeName,
        version: Version,
    ) -> Result<ResolvedTemplate, RegistryError> {
        let resolving = async {
            let found = self.find(type_name, Some(version)).await?;
            let files = self.fetch(&found).await?;
            Ok(found.resolved(type_name, &files))
        };
        in_time(type_name.as_str(), resolving).await
    }

    /// The template and the version that a reference means. `None` for a full URL, which has no version.
    pub async fn identity(
        &self,
        type_name: &TypeName,
    ) -> Result<Option<(Identity, Version)>, RegistryError> {
        let (open, wanted) = match self.parse(type_name).await? {
            Reference::Url { .. } => return Ok(None),
            Reference::Chart(reference) => return self.identity_of_chart(reference).await,
            Reference::Github {
                owner,
                repository,
                template,
            } => (self.open.github(&owner, &repository), template),
            Reference::Registered { registry, template } => {
                let name = registry.as_deref().unwrap_or(DEFAULT);
                (self.open.by_name(name).await?, template)
            }
        };
        let version = wanted.version;
        let definition = open.registry.summary().definition;
        let identity = Identity::new(definition, open.collection, wanted);
        Ok(Some((identity, version)))
    }

    /// A range of versions names no version.
    async fn identity_of_chart(
        &self,
        reference: ChartReference,
    ) -> Result<Option<(Identity, Version)>, RegistryError> {
        let Some(version) = reference.wanted.number() else {
            return Ok(None);
        };
        let (open, wanted) = self.open.of_chart(reference).await?;
        let definition = open.registry.summary().definition;
        Ok(Some((
            Identity::of_chart(definition, wanted.chart),
            version,
        )))
    }

    pub async fn describe(
        &self,
        type_name: &TypeName,
    ) -> Result<TemplateDescription, RegistryError> {
        let describing = async {
            let found = self.find(type_name, None).await?;
            let files = self.fetch(&found).await?;
            let example = found.template.parent().join_text(EXAMPLE)?;
            let example = fetch::text(&*found.files, &example).await?;
            let about = found.about(&files).await?;
            let of_chart = about.as_ref().and_then(|about| about.description.clone());
            let schema = match about {
                Some(about) => Some(about.schema),
                None => found.schema(&files).await?,
            };
            Ok(TemplateDescription {
                resolved: found.resolved(type_name, &files).resolved,
                title: info(schema.as_ref(), "title"),
                description: of_chart.or_else(|| info(schema.as_ref(), "description")),
                schema,
                example: match example {
                    Some(file) => Some(found.portable(file.content, type_name)),
                    None => found.example(type_name, &files),
                },
            })
        };
        in_time(type_name.as_str(), describing).await
    }

    /// The default registry and the registered ones.
    pub async fn list(&self) -> Result<Vec<RegistrySummary>, RegistryError> {
        self.open.list().await
    }

    /// The registry of a template. The version need not exist.
    pub async fn registry_of(
        &self,
        type_name: &TypeName,
    ) -> Result<RegistrySummary, RegistryError> {
        match self.parse(type_name).await? {
            Reference::Url { base, .. } => Ok(self.url_folder(base).summary()),
            Reference::Chart(reference) => {
                let (open, _) = self.open.of_chart(reference).await?;
                Ok(open.registry.summary())
            }
            Reference::Github {
                owner, repository, ..
            } => Ok(self.open.github(&owner, &repository).registry.summary()),
            Reference::Registered { registry, .. } => {
                let name = registry.as_deref().unwrap_or(DEFAULT);
                Ok(self.open.by_name(name).await?.registry.summary())
            }
        }
    }

    /// The error for a name that no registry has. It names those that there are.
    pub async fn unknown(&self, name: &str) -> RegistryError {
        self.open.unknown(name).await
    }

    /// The templates of a registry, sorted by name. `pattern` is a regular expression that names must match.
    pub async fn templates(
        &self,
        registry: &str,
        pattern: Option<&str>,
    ) -> Result<Vec<TemplateSummary>, RegistryError> {
        let pattern = pattern.map(compile).transpose()?;
        let listing = async {
            let open = self.open.by_name(registry).await?;
            locate::templates(&*open.registry, open.collection.as_deref()).await
        };
        let mut templates = in_time(registry, listing).await?;
        templates.retain(|template| {
            pattern
                .as_ref()
                .is_none_or(|pattern| pattern.is_match(&template.name))
        });
        templates.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(templates)
    }

    /// The templates of a registry as it has them now: answers that are kept do not count.
    pub async fn refreshed(&self, registry: &str) -> Result<Vec<TemplateSummary>, RegistryError> {
        self.open.by_name(registry).await?.registry.expire();
        self.templates(registry, None).await
    }

    /// One file of a registry.
    pub async fn download(&self, registry: &str, file: &str) -> Result<Vec<u8>, RegistryError> {
        let path = FilePath::parse(file)?;
        let registry = self.open.by_name(registry).await?.registry;
        let bytes = in_time(file, registry.read(&path)).await?;
        bytes.ok_or_else(|| RegistryError::FileNotFound {
            file: registry.path_of(&path),
        })
    }

    /// For `/readyz`. It reports a missing bundled registry, but the manager stays ready, because everything else works. It
    /// sends no request.
    pub async fn health(&self) -> Check {
        const NAME: &str = "registry";
        let default = match self.open.default().await {
            Ok(default) => default,
            Err(error) => return Check::ready(NAME, error.to_string()),
        };
        let definition = default.registry.summary().definition;
        if definition.registry_type != RegistryType::Directory {
            return Check::ready(NAME, definition.url);
        }
        match default.registry.entries(&FilePath::root()).await {
            Ok(_) => Check::ready(NAME, definition.url),
            Err(error) => Check::down(NAME, error.to_string()),
        }
    }

    fn url_folder(&self, base: Url) -> UrlFolder {
        UrlFolder::new(self.web.clone(), base, MaxAge::from_duration(self.refresh))
    }
}

/// `info.title`, or `title` as in JSON Schema.
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
