//! Finds and fetches the template that a reference means.

use std::sync::Arc;

use common::api::error::ErrorCode;
use common::model::{Scope, TypeName, Version};
use common::registry::FilePath;

use super::found::{Found, Source};
use super::{Registries, TemplateKey};
use crate::RegistryError;
use crate::adapter::Registry;
use crate::catalog::chart::ChartFolder;
use crate::catalog::fetch::{self, TemplateFile};
use crate::catalog::locate::{self, Form, Located};
use crate::catalog::package::Package;
use crate::catalog::signed::Signed;
use crate::open_registries::{DEFAULT, OpenRegistry};
use crate::reference::{Reference, TemplateVersion};
use crate::trust::Trust;

impl Registries {
    /// Looks up the first part of a reference: it is the name of a registry or of a collection.
    pub(super) async fn parse(&self, type_name: &TypeName) -> Result<Reference, RegistryError> {
        let first = type_name.as_str().split('/').next().unwrap_or_default();
        let known = [first];
        let registered: &[&str] = match self.open.knows(first).await? {
            true => &known,
            false => &[],
        };
        match Reference::parse(type_name.as_str(), registered) {
            Ok(reference) => Ok(reference),
            // Its first part can only be meant as a registry.
            Err(_) if registered.is_empty() && Reference::is_of_registry(type_name.as_str()) => {
                Err(RegistryError::UnknownRegistryOf {
                    reference: type_name.to_string(),
                    unknown: Box::new(self.open.unknown(first).await),
                })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The template that a reference means. `version` replaces the version of the reference.
    pub(super) async fn find(
        &self,
        type_name: &TypeName,
        version: Option<Version>,
    ) -> Result<Found, RegistryError> {
        let at = |template: TemplateVersion| TemplateVersion {
            version: version.unwrap_or(template.version),
            ..template
        };
        match self.parse(type_name).await? {
            Reference::Chart(reference) => self.find_chart(reference, version).await,
            Reference::Url { base, file } => Ok(Found {
                files: Arc::new(self.url_folder(base.clone())),
                registry: base.to_string(),
                template: FilePath::parse(&file)?,
                source: Source::File,
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
                match self.find_version(open, at(template), scope).await {
                    Err(RegistryError::CollectionNotFound {
                        collection,
                        collections,
                        ..
                    }) if registry.is_none() => {
                        Err(self.open.neither(collection, collections).await)
                    }
                    found => found,
                }
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
        let located = located(&*registry, &wanted).await?;
        let key = self.key(&registry, &trust, &located).await?;
        let known = key.as_ref().and_then(|key| self.templates.get(key));
        let signed = trust.is_needed().then(|| {
            let subject = subject(&wanted.template, &located);
            Signed::new(registry.clone(), trust.clone(), &located, subject)
        });
        let (template, source) = match known.as_deref().and_then(|files| files.first()) {
            Some(template) => (template.path.clone(), Source::File),
            None => {
                if let Some(signed) = &signed {
                    signed.check().await?;
                }
                template_in(&registry, &located, wanted.template).await?
            }
        };
        Ok(Found {
            registry: registry.summary().name,
            files: match signed {
                Some(signed) => Arc::new(signed),
                None => registry,
            },
            template,
            source,
            version: Some(located.version),
            scope,
            key,
            known,
        })
    }

    /// Under which the version's files are kept; `None` if they may change.
    async fn key(
        &self,
        registry: &Arc<dyn Registry>,
        trust: &Trust,
        located: &Located,
    ) -> Result<Option<TemplateKey>, RegistryError> {
        let revision = match &located.revision {
            Some(revision) => Some(revision.clone()),
            None => registry.revision(&located.folder).await?,
        };
        // Files that were read without these keys may not be signed by one of them.
        let name = format!("{}{}", registry.path_of(&located.folder), trust.id());
        Ok(revision.map(|revision| (name, revision)))
    }

    pub(super) async fn fetch(
        &self,
        found: &Found,
    ) -> Result<Arc<Vec<TemplateFile>>, RegistryError> {
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

/// The version that is wanted. It may be newer than what is held of the registry, so that is asked a second time.
async fn located(
    registry: &dyn Registry,
    wanted: &TemplateVersion,
) -> Result<Located, RegistryError> {
    match locate::locate(registry, wanted).await {
        Err(error) if error.code() == ErrorCode::TemplateNotFound => {
            registry.expire();
            locate::locate(registry, wanted).await
        }
        located => located,
    }
}

/// The template in the folder of a version, or the path of a template that is made from a package or a chart.
async fn template_in(
    registry: &Arc<dyn Registry>,
    located: &Located,
    template: String,
) -> Result<(FilePath, Source), RegistryError> {
    match locate::form(&**registry, located, &template).await? {
        Form::Template(file) => Ok((file, Source::File)),
        Form::Chart => {
            let chart = ChartFolder {
                registry: registry.clone(),
                folder: located.folder.clone(),
                name: template,
                is_whole: located.is_whole,
            };
            Ok((chart.template()?, Source::Chart(chart)))
        }
        Form::Package => {
            let package = Package {
                registry: registry.clone(),
                folder: located.folder.clone(),
                name: template,
                version: located.version.clone(),
            };
            Ok((package.template()?, Source::Package(package)))
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
    match &found.source {
        Source::File => {}
        Source::Package(package) => return package.files(&*found.files).await,
        Source::Chart(chart) => return chart.files(&*found.files).await,
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
