//! Kubernetes objects without templates: a file of them, or a package (a folder with a `Chart.yaml` and files in
//! `manifests/`).
//!
//! Decides which files hold the objects. It does not name the objects as resources: the expansion does.

use common::api::error::ErrorCode;
use common::manifests::{self, ManifestError, Object};
use common::model::Language;
use serde_json::Value;

use super::{Engine, EngineError, Instance, Output, Rendered};

/// The folder of the objects, in the package.
const FOLDER: &str = "manifests/";

#[derive(Debug, Clone, Copy, Default)]
pub struct Manifests;

impl Engine for Manifests {
    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError> {
        check_properties(instance)?;
        let in_folder = instance.tree.iter().filter(|(path, _)| is_manifest(path));
        let files: Vec<_> = match instance.language == Language::Package {
            true => in_folder.map(|(_, file)| *file).collect(),
            false => vec![instance.template],
        };
        let mut objects: Vec<Object> = Vec::new();
        for file in files {
            let read = manifests::read(file.path(), &file.content);
            objects.extend(read?);
        }
        match objects.is_empty() {
            true => Err(failed(
                instance,
                ErrorCode::InvalidConfiguration,
                "has no Kubernetes object; add one, or remove the resource",
            )),
            false => Ok(Output::new(Rendered::Objects(objects))),
        }
    }
}

/// Files directly in the folder. Files in subfolders do not count.
fn is_manifest(path: &str) -> bool {
    let mut endings = manifests::ENDINGS.iter();
    path.strip_prefix(FOLDER).is_some_and(|name| {
        !name.contains('/')
            && !name.starts_with('.')
            && endings.any(|ending| name.ends_with(ending))
    })
}

/// Plain objects cannot use properties.
fn check_properties(instance: &Instance<'_>) -> Result<(), EngineError> {
    let is_empty = match instance.properties {
        None | Some(Value::Null) => true,
        Some(Value::Object(map)) => map.is_empty(),
        Some(_) => false,
    };
    match is_empty {
        true => Ok(()),
        false => Err(failed(
            instance,
            ErrorCode::InvalidProperties,
            "contains plain Kubernetes objects and takes no properties; remove the properties",
        )),
    }
}

fn failed(instance: &Instance<'_>, code: ErrorCode, reason: &str) -> EngineError {
    let file = instance.template.path();
    EngineError {
        file: Some(file.to_owned()),
        ..EngineError::new(code, format!("'{file}' {reason}"))
    }
}

impl From<ManifestError> for EngineError {
    fn from(error: ManifestError) -> Self {
        let (file, line) = error.location();
        let (code, excerpt) = match &error {
            ManifestError::Yaml { source, .. } if source.kind.is_limit() => {
                (ErrorCode::YamlTooLarge, source.excerpt())
            }
            ManifestError::Yaml { source, .. } => {
                (ErrorCode::InvalidConfiguration, source.excerpt())
            }
            ManifestError::Object { .. } | ManifestError::SameObject { .. } => {
                (ErrorCode::InvalidConfiguration, String::new())
            }
        };
        Self {
            code,
            message: error.to_string(),
            file: Some(file.to_owned()),
            line: u32::try_from(line).ok(),
            column: None,
            excerpt,
            causes: Vec::new(),
        }
    }
}
