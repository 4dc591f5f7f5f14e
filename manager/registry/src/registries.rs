//! All registries that the manager knows, and the operations on them.

use std::sync::Arc;
use std::time::Duration;

use common::api::error::ErrorCode;
use common::api::manager::{RegistrySummary, TemplateDescription, TemplateSummary};
use common::canonical::digest_bytes;
use common::model::{
    Import, RegistryDefinition, RegistryType, ResolvedFile, ResolvedType, Scope, TypeName, Version,
};
use common::registry::FilePath;
use common::server::health::Check;
use serde_json::Value;
use url::Url;

use crate::RegistryError;
use crate::adapter::url::UrlFolder;
use crate::adapter::{Files, Registry};
use crate::cache::{DiskCache, MemoryCache};
use crate::catalog::example;
use crate::catalog::fetch::{self, Role, TemplateFile};
use crate::catalog::locate::{self, Form, Located};
use crate::catalog::package::Package;
use crate::catalog::signed::Signed;
use crate::open_registries::{DEFAULT, OpenRegistries, OpenRegistry};
use crate::options::Options;
use crate::reference::{Identity, Reference, TemplateVersion};
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

/// The target of a reference.
struct Found {
    files: Arc<dyn Files>,
    template: FilePath,
    /// The package of the template, if there is no template file.
    package: Option<Package>,
    version: Option<String>,
    scope: Option<Scope>,
    key: Option<TemplateKey>,
    known: Option<Arc<Vec<TemplateFile>>>,
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

    pub async fn describe(
        &self,
        type_name: &TypeName,
    ) -> Result<TemplateDescription, RegistryError> {
        let describing = async {
            let found = self.find(type_name, None).await?;
            let files = self.fetch(&found).await?;
            let example = found.template.parent().join_text(EXAMPLE)?;
            let example = fetch::text(&*found.files, &example).await?;
            let schema = found.schema(&files)?;
            Ok(TemplateDescription {
                resolved: found.resolved(type_name, &files).resolved,
                title: info(schema.as_ref(), "title"),
                description: info(schema.as_ref(), "description"),
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
            Reference::Github {
                owner, repository, ..
            } => Ok(self.open.github(&owner, &repository).registry.summary()),
            Reference::Registered { registry, .. } => {
                let name = registry.as_deref().unwrap_or(DEFAULT);
                Ok(self.open.by_name(name).await?.registry.summary())
            }
        }
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

    /// Looks up the first part of a reference: it is the name of a registry or of a collection.
    async fn parse(&self, type_name: &TypeName) -> Result<Reference, RegistryError> {
        let first = type_name.as_str().split('/').next().unwrap_or_default();
        let known = [first];
        let registered: &[&str] = match self.open.knows(first).await? {
            true => &known,
            false => &[],
        };
        Ok(Reference::parse(type_name.as_str(), registered)?)
    }

    fn url_folder(&self, base: Url) -> UrlFolder {
        UrlFolder::new(self.web.clone(), base, MaxAge::from_duration(self.refresh))
    }

    /// The template that a reference means. `version` replaces the version of the reference.
    async fn find(
        &self,
        type_name: &TypeName,
        version: Option<Version>,
    ) -> Result<Found, RegistryError> {
        let at = |template: TemplateVersion| TemplateVersion {
            version: version.unwrap_or(template.version),
            ..template
        };
        match self.parse(type_name).await? {
            Reference::Url { base, file } => Ok(Found {
                files: Arc::new(self.url_folder(base)),
                template: FilePath::parse(&file)?,
                package: None,
                version: None,
                scope: None,
                key: None,
                known: None,
            }),
            Reference::Github {
                owner,
                repository,
                template,
            } => {
                let open = self.open.github(&owner, &repository);
                let scope = Scope {
                    registry: open.registry.summary().name,
                    collection: template.collection.clone(),
                };
                self.find_version(open, at(template), Some(scope)).await
            }
            Reference::Registered { registry, template } => {
                let name = registry.as_deref().unwrap_or(DEFAULT);
                let scope = scope(name, &template);
                let open = self.open.by_name(name).await?;
                self.find_version(open, at(template), scope).await
            }
        }
    }

    async fn find_version(
        &self,
        open: OpenRegistry,
        mut wanted: TemplateVersion,
        scope: Option<Scope>,
    ) -> Result<Found, RegistryError> {
        wanted.collection = wanted.collection.or(open.collection);
        let (registry, trust) = (open.registry, open.trust);
        let located = match locate::locate(&*registry, &wanted).await {
            // It may be newer than the cached list of the registry.
            Err(error) if error.code() == ErrorCode::TemplateNotFound => {
                registry.expire();
                locate::locate(&*registry, &wanted).await?
            }
            located => located?,
        };
        let revision = match &located.revision {
            Some(revision) => Some(revision.clone()),
            None => registry.revision(&located.folder).await?,
        };
        // Files that were read without these keys may not be signed by one of them.
        let name = format!("{}{}", registry.path_of(&located.folder), trust.id());
        let key = revision.map(|revision| (name, revision));
        let known = key.as_ref().and_then(|key| self.templates.get(key));
        let signed = trust.is_needed().then(|| {
            let subject = subject(&wanted.template, &located);
            Signed::new(registry.clone(), trust.clone(), &located, subject)
        });
        let (template, package) = match known.as_deref().and_then(|files| files.first()) {
            Some(template) => (template.path.clone(), None),
            None => {
                if let Some(signed) = &signed {
                    signed.check().await?;
                }
                template_in(&registry, &located, wanted.template).await?
            }
        };
        let files: Arc<dyn Files> = match signed {
            Some(signed) => Arc::new(signed),
            None => registry,
        };
        Ok(Found {
            files,
            template,
            package,
            version: Some(located.version),
            scope,
            key,
            known,
        })
    }

    async fn fetch(&self, found: &Found) -> Result<Arc<Vec<TemplateFile>>, RegistryError> {
        if let Some(files) = &found.known {
            return Ok(files.clone());
        }
        let files = match template(found).await {
            // It may have appeared since the search.
            Err(RegistryError::UrlNotFound { .. } | RegistryError::ImportsNotFound { .. }) => {
                found.files.expire();
                template(found).await?
            }
            files => files?,
        };
        let files = Arc::new(files);
        if let Some(key) = found.key.clone() {
            self.templates.put(key, files.clone(), fetch::size(&files));
        }
        Ok(files)
    }
}

/// The template in the folder of a version, or the path of a template that is made from a package.
async fn template_in(
    registry: &Arc<dyn Registry>,
    located: &Located,
    template: String,
) -> Result<(FilePath, Option<Package>), RegistryError> {
    match locate::form(&**registry, located, &template).await? {
        Form::Template(file) => Ok((file, None)),
        Form::Package => {
            let package = Package {
                registry: registry.clone(),
                folder: located.folder.clone(),
                name: template,
                version: located.version.clone(),
            };
            Ok((package.template()?, Some(package)))
        }
    }
}

/// The signed content of a template's version.
fn subject(template: &str, located: &Located) -> String {
    match located.is_whole {
        true => format!("{template}/"),
        false => format!("{template}/{}/", located.version),
    }
}

async fn template(found: &Found) -> Result<Vec<TemplateFile>, RegistryError> {
    if let Some(package) = &found.package {
        return package.files(&*found.files).await;
    }
    let files = fetch::template(&*found.files, &found.template).await?;
    files.ok_or_else(|| RegistryError::UrlNotFound {
        url: found.files.url_of(&found.template),
    })
}

/// The scope of short references in a template of the registry with this name. Templates at the root of the default
/// registry have the same scope as a configuration.
fn scope(registry: &str, template: &TemplateVersion) -> Option<Scope> {
    let collection = template.collection.clone();
    (registry != DEFAULT || collection.is_some()).then(|| Scope {
        registry: registry.to_owned(),
        collection,
    })
}

impl Found {
    fn resolved(&self, type_name: &TypeName, files: &[TemplateFile]) -> ResolvedTemplate {
        let schema = self.template.with_ending(fetch::SCHEMA);
        let name = |path: &FilePath| match path {
            path if *path == self.template => type_name.to_string(),
            path if *path == schema => format!("{type_name}{}", fetch::SCHEMA),
            path => self.files.path_of(path),
        };
        let is_given = |file: &&TemplateFile| file.role != Role::Made;
        let url = match files.iter().find(is_given) {
            Some(first) => self.files.url_of(&first.path),
            None => self.files.url_of(&self.template),
        };
        let import = |file: &TemplateFile| Import {
            name: name(&file.path),
            path: Some(self.files.path_of(&file.path)),
            content: file.content.clone(),
        };
        let record = |file: &TemplateFile| ResolvedFile {
            name: name(&file.path),
            url: self.files.url_of(&file.path),
            sha256: digest_bytes(file.content.as_bytes()).to_string(),
        };
        ResolvedTemplate {
            resolved: ResolvedType {
                type_name: type_name.clone(),
                version: self.version.clone(),
                url,
                sha256: fetch::sha256(files),
                files: files.iter().filter(is_given).map(record).collect(),
            },
            imports: files.iter().map(import).collect(),
            scope: self.scope.clone(),
            warning: self.warning(),
        }
    }

    fn warning(&self) -> Option<String> {
        let staleness = self.files.stale()?;
        let registry = match &self.scope {
            Some(scope) => scope.registry.clone(),
            None if self.version.is_some() => DEFAULT.to_owned(),
            None => self.files.url_of(&FilePath::root()),
        };
        Some(format!("registry {registry} is unreachable; {staleness}"))
    }

    fn portable(&self, text: String, type_name: &TypeName) -> String {
        let file = self.template.names().last().unwrap_or_default();
        example::portable(text, type_name, file, self.scope.as_ref())
    }

    /// A package has no properties, so its example is known.
    fn example(&self, type_name: &TypeName, files: &[TemplateFile]) -> Option<String> {
        let is_package = files.iter().any(|file| file.role == Role::Made);
        let template = type_name.as_str().rsplit('/').next()?;
        let name = template.split(':').next()?;
        is_package.then(|| common::registry::package::example(name, type_name.as_str()))
    }

    fn schema(&self, files: &[TemplateFile]) -> Result<Option<Value>, RegistryError> {
        let path = self.template.with_ending(fetch::SCHEMA);
        let schema = files.iter().find(|file| file.path == path);
        schema
            .map(|schema| fetch::parse_schema(&*self.files, schema))
            .transpose()
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
