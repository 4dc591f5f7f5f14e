//! The contents of a registry: the folder that a reference means, and the list of templates.
//!
//! Every registry has the layout `[collection/]template/version/` (docs/reference/registries.md). Templates are discovered only
//! at the root of a collection.

use common::api::manager::TemplateSummary;
use common::model::language;
use common::model::registry::scope::is_part;
use common::registry::FilePath;

use crate::RegistryError;
use crate::adapter::{Entry, EntryKind, Registry};
use crate::catalog::chart;
use crate::catalog::collections::{self, Collections};
use crate::catalog::fetch::each;
use crate::catalog::package::{self, PackageError};
use crate::reference::TemplateVersion;
use crate::reference::versions::{self, SameVersion};

/// The folder of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    pub folder: FilePath,
    /// The version in the registry's notation: the name of its folder, or the version in a package's `Chart.yaml`.
    pub version: String,
    pub revision: Option<String>,
    pub is_whole: bool,
}

/// The content of a version's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    Template(FilePath),
    Package,
    Chart,
}

/// The version folder that a reference means.
pub async fn locate(
    registry: &dyn Registry,
    wanted: &TemplateVersion,
) -> Result<Located, RegistryError> {
    let folder = match &wanted.collection {
        Some(name) => collections::read(registry).await?.folder(name)?,
        None => FilePath::root(),
    };
    let folder = folder.join_text(&wanted.template)?;
    let Some(entries) = registry.entries(&folder).await? else {
        return Err(missing(registry, wanted).await);
    };
    let whole = package::version(registry, &folder, &entries).await?;
    let known = || folders(&entries).chain(whole.as_deref());
    let chosen =
        versions::choose(wanted.version, known()).map_err(|SameVersion(first, second)| {
            let (registry, template) = (registry.summary().name, folder.to_string());
            RegistryError::SameVersion {
                registry,
                template,
                first,
                second,
            }
        })?;
    let Some(chosen) = chosen else {
        let versions = versions::sorted(known());
        if versions.is_empty() && package::is_described(&entries) {
            let folder = registry.path_of(&folder);
            return Err(PackageError::NoManifests { folder }.into());
        }
        return Err(RegistryError::VersionNotFound {
            registry: registry.summary().name,
            template: folder.to_string(),
            wanted: wanted.version.to_string(),
            versions,
        });
    };
    let revision = |entries: &[Entry], name: &str| {
        let entry = entries.iter().find(|entry| entry.name == name)?;
        entry.revision.clone()
    };
    let version = chosen.to_owned();
    if Some(chosen) == whole.as_deref() {
        let around = registry.entries(&folder.parent()).await?;
        return Ok(Located {
            revision: revision(&around.unwrap_or_default(), &wanted.template),
            folder,
            version,
            is_whole: true,
        });
    }
    Ok(Located {
        folder: folder.join_text(chosen)?,
        revision: revision(&entries, chosen),
        version,
        is_whole: false,
    })
}

/// The content of a version's folder: one template, a package, or a chart.
pub async fn form(
    registry: &dyn Registry,
    located: &Located,
    template: &str,
) -> Result<Form, RegistryError> {
    let folder = &located.folder;
    let entries = registry.entries(folder).await?.unwrap_or_default();
    let of_folder = || match chart::has_templates(&entries) {
        true => Form::Chart,
        false => Form::Package,
    };
    if located.is_whole {
        return Ok(of_folder());
    }
    let is_file = |name: &str| {
        entries
            .iter()
            .any(|entry| entry.name == name && entry.kind == EntryKind::File)
    };
    let folder_name = || registry.path_of(folder);
    match language::find(template, is_file) {
        Ok(Some(found)) => Ok(match found.row.form {
            language::Form::File => Form::Template(folder.join_text(&found.name)?),
            language::Form::Folder => of_folder(),
        }),
        Ok(None) => match chart::packed(&entries, template) {
            Some(name) => Ok(Form::Template(folder.join_text(name)?)),
            None => Err(RegistryError::NoTemplateFile {
                folder: folder_name(),
                template: template.to_owned(),
            }),
        },
        Err(_) => Err(RegistryError::TwoTemplateFiles {
            folder: folder_name(),
            template: template.to_owned(),
        }),
    }
}

/// All templates at the roots of collections: of one collection, or of the unnamed and all named ones.
pub async fn templates(
    registry: &dyn Registry,
    only: Option<&str>,
) -> Result<Vec<TemplateSummary>, RegistryError> {
    let name = || registry.summary().name;
    let collections = collections::read(registry).await?;
    if let Some(collection) = only {
        let folder = collections.folder(collection)?;
        let found = collection_templates(registry, &folder, "").await?;
        return found.ok_or_else(|| RegistryError::CollectionNotFound {
            registry: name(),
            collection: collection.to_owned(),
            collections: Vec::new(),
        });
    }
    let root = registry.entries(&FilePath::root()).await?;
    let root = root.ok_or_else(|| RegistryError::RegistryMissing { registry: name() })?;
    let tops: Vec<String> = folders(&root).map(str::to_owned).collect();
    let collections = &collections;
    let unmapped = each(tops, |top| top_level(registry, collections, top)).await?;
    let names: Vec<String> = collections.names().map(str::to_owned).collect();
    let mapped = each(names, |name| mapped(registry, collections, name)).await?;
    Ok(unmapped.into_iter().chain(mapped).flatten().collect())
}

/// A top-level folder: a template of the unnamed collection, or a collection unless its name leads elsewhere.
async fn top_level(
    registry: &dyn Registry,
    collections: &Collections,
    name: String,
) -> Result<Vec<TemplateSummary>, RegistryError> {
    let folder = FilePath::parse(&name)?;
    if let Some(template) = summary(registry, &folder, name.clone()).await? {
        return Ok(vec![template]);
    }
    if collections.contains(&name) {
        return Ok(Vec::new());
    }
    let found = collection_templates(registry, &folder, &format!("{name}/")).await?;
    Ok(found.unwrap_or_default())
}

/// The templates of a collection that the registry's metadata file names.
async fn mapped(
    registry: &dyn Registry,
    collections: &Collections,
    name: String,
) -> Result<Vec<TemplateSummary>, RegistryError> {
    let folder = collections.folder(&name)?;
    let found = collection_templates(registry, &folder, &format!("{name}/")).await?;
    found.ok_or_else(|| RegistryError::CollectionFolder {
        registry: registry.summary().name,
        collection: name,
        folder: folder.to_string(),
    })
}

/// The templates at the root of a folder. `None` if there is no such folder.
async fn collection_templates(
    registry: &dyn Registry,
    folder: &FilePath,
    prefix: &str,
) -> Result<Option<Vec<TemplateSummary>>, RegistryError> {
    let Some(entries) = registry.entries(folder).await? else {
        return Ok(None);
    };
    let names: Vec<String> = folders(&entries).map(str::to_owned).collect();
    let found = each(names, |name| async move {
        summary(
            registry,
            &folder.join_text(&name)?,
            format!("{prefix}{name}"),
        )
        .await
    });
    Ok(Some(found.await?.into_iter().flatten().collect()))
}

/// A folder with version folders is a template, and so is a package. A faulty template does not hide the others: a request
/// for it returns its fault.
async fn summary(
    registry: &dyn Registry,
    folder: &FilePath,
    name: String,
) -> Result<Option<TemplateSummary>, RegistryError> {
    let entries = registry.entries(folder).await?.unwrap_or_default();
    let whole = match package::version(registry, folder, &entries).await {
        Err(RegistryError::Package(fault)) => {
            tracing::warn!("a package is not listed: {fault}");
            None
        }
        whole => whole?,
    };
    let versions = versions::sorted(folders(&entries).chain(whole.as_deref()));
    Ok((!versions.is_empty()).then_some(TemplateSummary { name, versions }))
}

/// Names of folders that can be part of a reference.
fn folders(entries: &[Entry]) -> impl Iterator<Item = &str> {
    let folders = entries
        .iter()
        .filter(|entry| entry.kind == EntryKind::Folder && is_part(&entry.name));
    folders.map(|entry| entry.name.as_str())
}

async fn collections_with_templates(registry: &dyn Registry) -> Result<Vec<String>, RegistryError> {
    let templates = templates(registry, None).await?;
    let collections = templates
        .iter()
        .filter_map(|template| Some(template.name.split_once('/')?.0.to_owned()));
    let mut collections: Vec<String> = collections.collect();
    collections.sort_unstable();
    collections.dedup();
    Ok(collections)
}

/// Names the part of the reference that does not exist, with the names that do.
async fn missing(registry: &dyn Registry, wanted: &TemplateVersion) -> RegistryError {
    match missing_part(registry, wanted).await {
        Ok(error) | Err(error) => error,
    }
}

async fn missing_part(
    registry: &dyn Registry,
    wanted: &TemplateVersion,
) -> Result<RegistryError, RegistryError> {
    let name = registry.summary().name;
    let names =
        |entries: &[Entry]| -> Vec<String> { folders(entries).map(str::to_owned).collect() };
    let Some(root) = registry.entries(&FilePath::root()).await? else {
        return Ok(RegistryError::RegistryMissing { registry: name });
    };
    let (template, siblings) = match &wanted.collection {
        None => (wanted.template.clone(), root),
        Some(collection) => {
            let collections = collections::read(registry).await?;
            let folder = collections.folder(collection)?;
            match registry.entries(&folder).await? {
                Some(siblings) => (format!("{collection}/{}", wanted.template), siblings),
                None if collections.contains(collection) => {
                    return Ok(RegistryError::CollectionFolder {
                        registry: name,
                        collection: collection.clone(),
                        folder: folder.to_string(),
                    });
                }
                None => {
                    return Ok(RegistryError::CollectionNotFound {
                        registry: name,
                        collection: collection.clone(),
                        collections: collections_with_templates(registry).await?,
                    });
                }
            }
        }
    };
    Ok(RegistryError::TemplateNotFound {
        registry: name,
        template,
        templates: names(&siblings),
    })
}
