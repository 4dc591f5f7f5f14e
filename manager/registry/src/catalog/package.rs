//! Packages: a folder with a `Chart.yaml`, and plain Kubernetes objects in `manifests`.
//!
//! ```text
//! redis/Chart.yaml                   name: redis, version: 0.1.0      is redis:v0.1.0
//! redis/manifests/*.yaml             .yml and .json too; several documents in a file, and Lists
//! redis/v0.2.0/Chart.yaml            or a folder for each version, as other templates have them
//! redis/v0.2.0/manifests/*.yaml
//! ```
//!
//! Such a folder is a template without properties that has one resource per object. This module does not know what the
//! objects mean, and how they become resources: the expander's engine does that.

use std::sync::Arc;

pub use common::registry::package::PackageError;
use common::registry::package::{self as form, CHART, Chart, MANIFEST_FILES, MANIFESTS};

use crate::RegistryError;
use crate::adapter::{Entry, EntryKind, Files, Registry};
use crate::catalog::chart::has_templates;
use crate::catalog::fetch;
use crate::catalog::fetch::{Role, SCHEMA, TemplateFile};
use common::registry::FilePath;

/// One version of a package.
pub struct Package {
    pub registry: Arc<dyn Registry>,
    pub folder: FilePath,
    pub name: String,
    /// In the notation of a template's version.
    pub version: String,
}

/// Whether a folder describes a package. The manifests may be missing.
pub fn is_described(entries: &[Entry]) -> bool {
    has(entries, CHART, EntryKind::File)
}

/// The version of a template's folder that is itself a package or a chart, in the notation of a template's version. `None` if it
/// is not a package.
pub async fn version(
    registry: &dyn Registry,
    folder: &FilePath,
    entries: &[Entry],
) -> Result<Option<String>, RegistryError> {
    let has_content = has(entries, MANIFESTS, EntryKind::Folder) || has_templates(entries);
    if !is_described(entries) || !has_content {
        return Ok(None);
    }
    let name = folder.names().last().unwrap_or_default();
    let (_, chart) = chart(registry, folder, name).await?;
    Ok(Some(chart.version))
}

fn has(entries: &[Entry], name: &str, kind: EntryKind) -> bool {
    let is_it = |entry: &Entry| entry.name == name && entry.kind == kind;
    entries.iter().any(is_it)
}

async fn chart(
    files: &dyn Files,
    folder: &FilePath,
    name: &str,
) -> Result<(TemplateFile, Chart), RegistryError> {
    let place = folder.join_text(CHART)?;
    let path = files.path_of(&place);
    let Some(file) = fetch::text(files, &place).await? else {
        return Err(RegistryError::FileNotFound { file: path });
    };
    let chart = Chart::parse(&file.content, name);
    let chart = chart.map_err(|reason| PackageError::Chart { file: path, reason })?;
    Ok((file, chart))
}

impl Package {
    /// Its chart, which is the template, the schema that is made from it, and its manifests.
    pub async fn files(&self, files: &dyn Files) -> Result<Vec<TemplateFile>, RegistryError> {
        let (chart_file, chart) = chart(files, &self.folder, &self.name).await?;
        if !chart.is(&self.version) {
            return Err(PackageError::OtherVersion {
                file: files.path_of(&chart_file.path),
                version: chart.version,
                wanted: self.version.clone(),
            }
            .into());
        }
        let place = chart_file.path.with_ending(SCHEMA);
        let schema = TemplateFile::new(place, chart.schema(&self.name)?, Role::Made);
        let mut found = vec![chart_file, schema];
        let manifests = self.manifests(files).await?;
        let gone = fetch::append(files, &self.folder, manifests, &mut found).await?;
        if let Some(path) = gone.into_iter().next() {
            return Err(RegistryError::NotOrdinary { path });
        }
        let manifests = found[2..].iter();
        let texts = manifests.map(|file| (files.path_of(&file.path), file.content.as_str()));
        form::check(&files.path_of(&self.folder), texts)?;
        Ok(found)
    }

    /// The path of its chart.
    pub fn template(&self) -> Result<FilePath, RegistryError> {
        Ok(self.folder.join_text(CHART)?)
    }

    /// In the order of their names.
    async fn manifests(&self, files: &dyn Files) -> Result<Vec<FilePath>, RegistryError> {
        let folder = self.folder.join_text(MANIFESTS)?;
        let entries = self.registry.entries(&folder).await?.unwrap_or_default();
        let is_manifest =
            |entry: &&Entry| entry.kind != EntryKind::Folder && form::is_manifest(&entry.name);
        let found = entries.iter().filter(is_manifest);
        let found: Result<Vec<_>, _> = found.map(|entry| folder.join_text(&entry.name)).collect();
        let (found, folder) = (found?, files.path_of(&self.folder));
        match found.len() {
            0 => Err(PackageError::NoManifests { folder }.into()),
            1..=MANIFEST_FILES => Ok(found),
            _ => Err(PackageError::TooManyFiles { folder }.into()),
        }
    }
}
