//! A template version: its template, its schema and its example, from any source of files.
//!
//! ```text
//! a folder, a registry, what is to be published ─► Files ─► TemplateVersion ─┬─ its example, with itself or another version ─► Bundle
//!                                                                    └─ compare(before, now) ─► what the version rules forbid
//! ```
//!
//! It refuses to know which files a version may have ([`crate::authoring::package`]), and the languages of templates.

pub mod compare;
pub mod expander;

use std::collections::BTreeMap;
use std::rc::Rc;

use common::model::Version;
use common::model::language::{self, Form, TwoTemplates};
use common::registry::package::{self, CHART, Chart, MANIFEST_FILES, MANIFESTS, PackageError};
use common::registry::{FilePath, SCHEMA};
use common::yaml::{self, Duplicates, Limits};
use serde_json::Value;

use crate::bundle::files::{Files, ReadError, beside};
use crate::bundle::{Bundle, BundleError, Bundler, imports};
use crate::error::CommandError;

/// All files of a version, by path.
pub type VersionFiles = BTreeMap<FilePath, Vec<u8>>;

/// The configuration that deploys an instance.
pub const EXAMPLE: &str = "example.yaml";

#[derive(Debug, thiserror::Error)]
pub enum VersionError {
    #[error(
        "{folder} holds no template: name it {template}.jinja or {template}.py, or name TEMPLATE/VERSION"
    )]
    NoTemplate { folder: String, template: String },
    #[error("{folder} holds two templates, {first} and {second}: a version has one")]
    TwoTemplates {
        folder: String,
        first: String,
        second: String,
    },
    #[error("there is no {0}")]
    NoExample(String),
    #[error("{EXAMPLE} has no resource of type {0}")]
    NoInstance(String),
    #[error(transparent)]
    Bundle(#[from] BundleError),
    #[error(transparent)]
    Package(#[from] PackageError),
}

impl CommandError for VersionError {}

pub struct TemplateVersion {
    pub template: String,
    /// Unknown if the folder's name is not a version.
    pub version: Option<Version>,
    pub schema: Option<Value>,
    /// The template; of a package, its chart.
    file: String,
    /// Of a package, the paths of its objects.
    manifests: Vec<String>,
    files: Rc<Files>,
}

/// The example of a version.
struct Example {
    content: String,
    shown: String,
    configuration: Value,
    /// The resources that are instances of the version: name and type.
    instances: Vec<(String, String)>,
}

impl TemplateVersion {
    /// `folder` names the place of the files in errors.
    pub fn read(
        template: &str,
        version: Option<Version>,
        folder: &str,
        files: Rc<Files>,
    ) -> Result<Self, VersionError> {
        let folder_name = || folder.to_owned();
        let found = language::find(template, |file| files.has(file));
        let found = found.map_err(
            |TwoTemplates { first, second }| VersionError::TwoTemplates {
                folder: folder_name(),
                first,
                second,
            },
        )?;
        let found = found.ok_or_else(|| VersionError::NoTemplate {
            folder: folder_name(),
            template: template.to_owned(),
        })?;
        if found.row.form == Form::Folder {
            return Self::package(template, version, folder, files);
        }
        let file = found.name;
        Ok(Self {
            template: template.to_owned(),
            version,
            schema: schema(&files, &file)?,
            file,
            manifests: Vec::new(),
            files,
        })
    }

    /// From all files of a version, as published. Files that are not text cannot be in a configuration.
    pub fn from_contents(
        template: &str,
        version: Version,
        folder: &str,
        contents: &VersionFiles,
    ) -> Result<Self, VersionError> {
        let text = |bytes: &Vec<u8>| std::str::from_utf8(bytes).ok().map(str::to_owned);
        let files = contents
            .iter()
            .filter_map(|(path, bytes)| Some((path.to_string(), text(bytes)?)));
        let files = Rc::new(Files::Archive(files.collect()));
        Self::read(template, Some(version), folder, files)
    }

    /// A package, with the schema that registries make of its chart.
    fn package(
        name: &str,
        version: Option<Version>,
        folder: &str,
        files: Rc<Files>,
    ) -> Result<Self, VersionError> {
        let chart = read(&files, CHART)?;
        let file = || files.shown(CHART);
        let chart = Chart::parse(&chart, name).map_err(|reason| PackageError::Chart {
            file: file(),
            reason,
        })?;
        if let Some(wanted) = version.filter(|version| *version != chart.number()) {
            return Err(PackageError::OtherVersion {
                file: file(),
                version: chart.version,
                wanted: wanted.to_string(),
            }
            .into());
        }
        let manifests = manifests(folder, &files)?;
        let texts = manifests
            .iter()
            .map(|(path, text)| (files.shown(path), text.as_str()));
        package::check(folder, texts)?;
        let made = BTreeMap::from([(format!("{CHART}{SCHEMA}"), chart.schema(name)?)]);
        let files = Rc::new(Files::Over(Rc::new(Files::Archive(made)), files));
        Ok(Self {
            template: name.to_owned(),
            version: Some(chart.number()),
            schema: schema(&files, CHART)?,
            file: CHART.to_owned(),
            manifests: manifests.into_iter().map(|(path, _)| path).collect(),
            files,
        })
    }

    /// The example with the version's own files, so that no registry is needed.
    pub fn bundle(&self) -> Result<Bundle, VersionError> {
        self.bundled(self, &self.files)
    }

    /// The same example with the files of a different version.
    pub fn bundle_by(&self, other: &Self) -> Result<Bundle, VersionError> {
        let schema = format!("{}{SCHEMA}", self.file);
        let is_other = |path: &String| *path != self.file && *path != schema;
        let beside = self.bundle()?.imports.into_iter().filter_map(|import| {
            let path = import.path.filter(is_other)?;
            Some((path, import.content))
        });
        let beside = Rc::new(Files::Archive(beside.collect()));
        let files = Rc::new(Files::Over(Rc::clone(&other.files), beside));
        self.bundled(other, &files)
    }

    fn bundled(&self, by: &Self, files: &Rc<Files>) -> Result<Bundle, VersionError> {
        let example = self.example()?;
        let mut bundler = Bundler::new(example.content, &example.shown, EXAMPLE, files)?;
        for (_, type_name) in example.instances {
            // The imports of the example are included already.
            if self.means(&type_name) {
                bundler.want(files, type_name, by.file.clone(), &example.shown);
            }
        }
        for path in &by.manifests {
            bundler.want(files, path.clone(), path.clone(), &by.file);
        }
        Ok(bundler.finish()?)
    }

    /// The example with this reference as the type: the same template in a different registry is a different type.
    pub fn bundle_of(&self, reference: &str) -> Result<Bundle, VersionError> {
        let mut example = self.example()?;
        let resources = example.configuration.get_mut("resources");
        let resources = resources.and_then(Value::as_array_mut);
        for resource in resources.into_iter().flatten() {
            let name = resource.get("name").and_then(Value::as_str);
            let is_instance = example
                .instances
                .iter()
                .any(|(own, _)| Some(own.as_str()) == name);
            if let Some(Value::String(type_name)) = resource.get_mut("type").filter(|_| is_instance)
            {
                reference.clone_into(type_name);
            }
        }
        let content = yaml::write(&example.configuration).unwrap_or(example.content);
        let bundler = Bundler::new(content, &example.shown, EXAMPLE, &self.files)?;
        Ok(bundler.finish()?)
    }

    fn example(&self) -> Result<Example, VersionError> {
        let shown = self.files.shown(EXAMPLE);
        let content = match self.files.read(EXAMPLE) {
            Ok(content) => content,
            Err(ReadError::Missing) if !self.manifests.is_empty() => {
                package::example(&self.template, &self.file)
            }
            Err(ReadError::Missing) => return Err(VersionError::NoExample(shown)),
            Err(reason) => return Err(unreadable(shown, reason).into()),
        };
        let configuration = parsed(&shown, &content)?;
        let imported = imports::declared(&content, &shown)?.into_iter();
        let imported: Vec<String> = imported
            .filter(|import| beside(EXAMPLE, &import.path) == self.file)
            .map(|import| import.name.unwrap_or(import.path))
            .collect();
        let is_instance = |name: &str| self.means(name) || imported.iter().any(|own| own == name);
        let resources = configuration.get("resources").and_then(Value::as_array);
        let text = |resource: &Value, key: &str| Some(resource.get(key)?.as_str()?.to_owned());
        let instances: Vec<_> = resources
            .into_iter()
            .flatten()
            .filter_map(|resource| Some((text(resource, "name")?, text(resource, "type")?)))
            .filter(|(_, type_name)| is_instance(type_name))
            .collect();
        if instances.is_empty() {
            let version = self.version.map(|version| format!(":{version}"));
            let named = format!("{}{}", self.template, version.unwrap_or_default());
            return Err(VersionError::NoInstance(named));
        }
        Ok(Example {
            content,
            shown,
            configuration,
            instances,
        })
    }

    /// The names of the instances in the example.
    fn instances(&self) -> Result<Vec<String>, VersionError> {
        let instances = self.example()?.instances.into_iter();
        Ok(instances.map(|(name, _)| name).collect())
    }

    /// Whether a type in the example means this version: by its file, or by a reference in any registry.
    fn means(&self, type_name: &str) -> bool {
        if type_name == self.file {
            return true;
        }
        let last = type_name.rsplit('/').next().unwrap_or_default();
        let Some((template, version)) = last.split_once(':') else {
            return false;
        };
        // A reference means the highest PATCH: only MAJOR and MINOR count.
        let minor = |version: Version| (version.major, version.minor);
        let is_version = match (self.version, version.parse()) {
            (Some(own), Ok(named)) => minor(own) == minor(named),
            (None, Ok(_)) => true,
            (_, Err(_)) => false,
        };
        template == self.template && is_version
    }
}

/// The files of objects, by path, in the order of their names.
fn manifests(folder: &str, files: &Files) -> Result<Vec<(String, String)>, VersionError> {
    let folder = || folder.to_owned();
    let names = files.names(MANIFESTS);
    let names = names.map_err(|reason| unreadable(files.shown(MANIFESTS), reason))?;
    let names: Vec<_> = names
        .into_iter()
        .filter(|name| package::is_manifest(name))
        .collect();
    match names.len() {
        0 => return Err(PackageError::NoManifests { folder: folder() }.into()),
        1..=MANIFEST_FILES => {}
        _ => return Err(PackageError::TooManyFiles { folder: folder() }.into()),
    }
    let path = |name: String| format!("{MANIFESTS}/{name}");
    let read = |path: String| Ok((path.clone(), read(files, &path)?));
    names.into_iter().map(path).map(read).collect()
}

/// A template without a schema takes any properties.
fn schema(files: &Files, file: &str) -> Result<Option<Value>, BundleError> {
    let path = format!("{file}{SCHEMA}");
    match files.read(&path) {
        Ok(text) => parsed(&files.shown(&path), &text).map(Some),
        Err(ReadError::Missing) => Ok(None),
        Err(reason) => Err(unreadable(files.shown(&path), reason)),
    }
}

fn read(files: &Files, path: &str) -> Result<String, BundleError> {
    files
        .read(path)
        .map_err(|reason| unreadable(files.shown(path), reason))
}

fn unreadable(file: String, reason: ReadError) -> BundleError {
    BundleError::File {
        file,
        reason,
        asked: String::new(),
    }
}

fn parsed(shown: &str, text: &str) -> Result<Value, BundleError> {
    let document = yaml::read(text, &Limits::DEFAULT, Duplicates::Error);
    let document = document.map_err(|error| BundleError::Malformed {
        place: format!("{shown}:{}:{}", error.location.line, error.location.column),
        reason: error.kind.to_string(),
        excerpt: error.excerpt(),
    })?;
    Ok(document.value)
}

#[cfg(test)]
mod tests;
