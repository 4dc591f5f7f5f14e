//! The original's packages: a folder with a `Chart.yaml`, and Kubernetes objects as they are in `manifests`.
//!
//! ```text
//! redis/Chart.yaml                   name: redis, version: 0.1.0      is redis:v0.1.0
//! redis/manifests/*.yaml             .yml and .json too; several documents in a file, and Lists
//! redis/v0.2.0/Chart.yaml            or a folder for each version, as other templates have them
//! redis/v0.2.0/manifests/*.yaml
//! ```
//!
//! Here such a folder becomes a template without properties that has a resource for each object, so that nobody behind
//! the registries needs to know of packages. It refuses to know what the objects mean.

mod chart;
mod error;
mod objects;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use common::yaml;
use serde_json::{Value, json};

use chart::Chart;
pub use error::PackageError;
use objects::Object;

use super::fetch::{self, Role, SCHEMA, TemplateFile};
use super::path::FilePath;
use super::{Entry, EntryKind, Files, Registry, RegistryError};

const CHART: &str = "Chart.yaml";
const MANIFESTS: &str = "manifests";
const MANIFEST_ENDINGS: [&str; 3] = [".yaml", ".yml", ".json"];
/// As many as a template's schema may import.
const MANIFEST_FILES: usize = 100;
/// Objects of one package.
const OBJECTS: usize = 1_000;

/// One version of a package.
pub struct Package {
    pub registry: Arc<dyn Registry>,
    pub folder: FilePath,
    pub name: String,
    /// As a template's version is written.
    pub version: String,
}

/// Whether a folder describes a package, though it may lack the manifests.
pub fn is_described(entries: &[Entry]) -> bool {
    has(entries, CHART, EntryKind::File)
}

/// The version of the package that a template's folder itself is, written as a template's; `None` if it is none.
pub async fn version(
    registry: &dyn Registry,
    folder: &FilePath,
    entries: &[Entry],
) -> Result<Option<String>, RegistryError> {
    if !is_described(entries) || !has(entries, MANIFESTS, EntryKind::Folder) {
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
    /// The template that is made of the package and that template's schema; then the package's own files.
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
        let mut own = vec![chart_file];
        let manifests = self.manifests(files).await?;
        let gone = fetch::append(files, &self.folder, manifests, &mut own).await?;
        if let Some(path) = gone.into_iter().next() {
            return Err(RegistryError::NotOrdinary { path });
        }
        let mut made = self.made(files, &chart, &own)?;
        made.extend(own.into_iter().map(|file| TemplateFile {
            role: Role::Source,
            ..file
        }));
        Ok(made)
    }

    /// What a configuration looks like that uses it.
    pub fn example(name: &str, type_name: &str) -> String {
        format!("resources:\n- name: {name}\n  type: {type_name}\n")
    }

    /// The path of the template that is made of the package.
    pub fn template(&self) -> Result<FilePath, RegistryError> {
        Ok(self.folder.join_text(&format!("{}.jinja", self.name))?)
    }

    /// In the order of their names.
    async fn manifests(&self, files: &dyn Files) -> Result<Vec<FilePath>, RegistryError> {
        let folder = self.folder.join_text(MANIFESTS)?;
        let entries = self.registry.entries(&folder).await?.unwrap_or_default();
        let is_manifest = |entry: &&Entry| {
            let mut endings = MANIFEST_ENDINGS.iter();
            entry.kind != EntryKind::Folder
                && !entry.name.starts_with('.')
                && endings.any(|ending| entry.name.ends_with(*ending))
        };
        let found = entries.iter().filter(is_manifest);
        let found: Result<Vec<_>, _> = found.map(|entry| folder.join_text(&entry.name)).collect();
        let (found, folder) = (found?, files.path_of(&self.folder));
        match found.len() {
            0 => Err(PackageError::NoManifests { folder }.into()),
            1..=MANIFEST_FILES => Ok(found),
            _ => Err(PackageError::TooManyFiles { folder }.into()),
        }
    }

    fn made(
        &self,
        files: &dyn Files,
        chart: &Chart,
        own: &[TemplateFile],
    ) -> Result<Vec<TemplateFile>, RegistryError> {
        let folder = || files.path_of(&self.folder);
        let mut found = Vec::new();
        for manifest in &own[1..] {
            found.extend(objects::read(
                &files.path_of(&manifest.path),
                &manifest.content,
            )?);
            if found.len() > OBJECTS {
                return Err(PackageError::TooManyObjects { folder: folder() }.into());
            }
        }
        if found.is_empty() {
            return Err(PackageError::NoObjects { folder: folder() }.into());
        }
        let named = objects::named(found);
        let named = named.map_err(|object| PackageError::SameObject {
            folder: folder(),
            object,
        })?;
        let written = |value: &Value| {
            yaml::write(value).map_err(|source| PackageError::Write {
                folder: folder(),
                source,
            })
        };
        let template = self.template()?;
        let schema = template.with_ending(SCHEMA);
        let made = |path: FilePath, content: String| TemplateFile {
            path,
            content,
            role: Role::Made,
        };
        Ok(vec![
            made(template, plain(&written(&resources(named))?)),
            made(schema, written(&chart.schema(&self.name))?),
        ])
    }
}

fn resources(named: Vec<(String, Object)>) -> Value {
    let resource = |(name, object): (String, Object)| json!({"name": name, "type": object.kind, "properties": object.value});
    json!({"resources": named.into_iter().map(resource).collect::<Vec<_>>()})
}

/// A template that gives this text: only braces mean something to Jinja.
fn plain(text: &str) -> String {
    text.replace('{', "{{'{'}}")
}
