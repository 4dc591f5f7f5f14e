//! A template version: its template, its schema and its example, from any source of files.
//!
//! ```text
//! a folder, a registry, what is to be published ─► Files ─► TemplateVersion ─┬─ its example, with itself or another version ─► Bundle
//!                                                                    └─ compare(before, now) ─► what the version rules forbid
//! ```
//!
//! It refuses to know which files a version may have ([`crate::authoring::package`]), and the languages of templates.

pub mod compare;
mod contents;
mod example;
pub mod expander;

use std::collections::BTreeMap;
use std::rc::Rc;

use common::model::Version;
use common::model::language::{self, Form, TwoTemplates};
use common::registry::package::{self, CHART, PackageError};
use common::registry::{FilePath, SCHEMA};
use serde_json::Value;

use self::contents::{manifests, read, schema};
use crate::bundle::files::Files;
use crate::bundle::{BundleError, chart};
use crate::error::CommandError;

pub use contents::described;
pub use example::EXAMPLE;

/// All files of a version, by path.
pub type VersionFiles = BTreeMap<FilePath, Vec<u8>>;

/// Whether a version is a Helm chart. It has templates, and a package has manifests.
pub fn is_chart(files: &VersionFiles) -> bool {
    chart::are_chart(files.keys().map(FilePath::as_str))
}

#[derive(Debug, thiserror::Error)]
pub enum VersionError {
    #[error(
        "{folder} contains no template: name it {template}.jinja, {template}.gotmpl or {template}.py, or name TEMPLATE/VERSION"
    )]
    NoTemplate { folder: String, template: String },
    #[error("{folder} contains two templates, {first} and {second}: keep one of them")]
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
        let chart = described(name, version, files.shown(CHART), &chart)?;
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

#[cfg(test)]
mod tests;
