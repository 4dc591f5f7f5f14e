//! Reads the files of a version.

use common::manifests;
use common::model::{Language, Version, language};
use common::registry::SCHEMA;
use common::registry::package::{self, Chart, MANIFEST_FILES, MANIFESTS, PackageError};
use common::yaml::{self, Duplicates, Limits};
use expandybird_templateobject::Template;
use serde_json::Value;

use super::VersionError;
use crate::bundle::BundleError;
use crate::bundle::files::{Files, ReadError};

/// What a `Chart.yaml` says. Its name and its version must be those of its folder.
pub fn described(
    name: &str,
    version: Option<Version>,
    file: String,
    text: &str,
) -> Result<Chart, PackageError> {
    let chart = match Chart::parse(text, name) {
        Ok(chart) => chart,
        Err(reason) => return Err(PackageError::Chart { file, reason }),
    };
    match version.filter(|version| *version != chart.number()) {
        None => Ok(chart),
        Some(wanted) => Err(PackageError::OtherVersion {
            file,
            version: chart.version,
            wanted: wanted.to_string(),
        }),
    }
}

/// The files of objects, by path, in the order of their names.
pub fn manifests(folder: &str, files: &Files) -> Result<Vec<(String, String)>, VersionError> {
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

/// A template without a schema takes any properties. A Template object takes its parameters.
pub fn schema(files: &Files, file: &str) -> Result<Option<Value>, BundleError> {
    let path = format!("{file}{SCHEMA}");
    match files.read(&path) {
        Ok(text) => parsed(&files.shown(&path), &text).map(Some),
        Err(ReadError::Missing) => Ok(of_parameters(files, file)),
        Err(reason) => Err(unreadable(files.shown(&path), reason)),
    }
}

/// Of a Template object that is valid.
fn of_parameters(files: &Files, file: &str) -> Option<Value> {
    let text = files.read(file).ok()?;
    let row = language::of_file(file, &text)?;
    let is_object = row.language == Language::TemplateObject;
    let document = is_object.then(|| manifests::read_template_object(&text).ok())??;
    let template = Template::read(document).ok()?;
    Some(expandybird_templateobject::schema(&template))
}

pub fn read(files: &Files, path: &str) -> Result<String, BundleError> {
    files
        .read(path)
        .map_err(|reason| unreadable(files.shown(path), reason))
}

pub fn unreadable(file: String, reason: ReadError) -> BundleError {
    BundleError::File {
        file,
        reason,
        asked: String::new(),
    }
}

pub fn parsed(shown: &str, text: &str) -> Result<Value, BundleError> {
    let document = yaml::read(text, &Limits::DEFAULT, Duplicates::Error);
    let document = document.map_err(|error| BundleError::Malformed {
        place: format!("{shown}:{}:{}", error.location.line, error.location.column),
        reason: error.kind.to_string(),
        excerpt: error.excerpt(),
    })?;
    Ok(document.value)
}
