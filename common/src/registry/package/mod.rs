//! The original's packages: a folder with a `Chart.yaml`, and Kubernetes objects as they are in `manifests`.
//!
//! Responsible for the template that is made of such a folder: one without properties that has a resource for each object.
//! It refuses to know where the folder is, and what the objects mean.

mod chart;
mod error;
mod objects;

use serde_json::{Value, json};

use crate::yaml;

pub use chart::Chart;
pub use error::PackageError;
use objects::Object;

/// What describes a package, in its folder.
pub const CHART: &str = "Chart.yaml";
/// The folder of its objects, in its folder.
pub const MANIFESTS: &str = "manifests";
/// As many as a template's schema may import.
pub const MANIFEST_FILES: usize = super::TEMPLATE_IMPORTS;
/// Objects of one package.
pub const OBJECTS: usize = 1_000;
const MANIFEST_ENDINGS: [&str; 3] = [".yaml", ".yml", ".json"];

/// Whether a file in [`MANIFESTS`] holds objects, by its name.
pub fn is_manifest(name: &str) -> bool {
    let mut endings = MANIFEST_ENDINGS.iter();
    !name.starts_with('.') && endings.any(|ending| name.ends_with(ending))
}

/// What a package comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// A Jinja template.
    pub template: String,
    /// Its schema.
    pub schema: String,
}

/// The template that is made of a package. `folder` is what errors call it; `manifests` are the files' names and texts.
pub fn made<'a>(
    chart: &Chart,
    name: &str,
    folder: &str,
    manifests: impl IntoIterator<Item = (String, &'a str)>,
) -> Result<Made, PackageError> {
    let folder = || folder.to_owned();
    let mut found = Vec::new();
    for (file, text) in manifests {
        found.extend(objects::read(&file, text)?);
        if found.len() > OBJECTS {
            return Err(PackageError::TooManyObjects { folder: folder() });
        }
    }
    if found.is_empty() {
        return Err(PackageError::NoObjects { folder: folder() });
    }
    let named = objects::named(found).map_err(|object| PackageError::SameObject {
        folder: folder(),
        object,
    })?;
    let written = |value: &Value| {
        yaml::write(value).map_err(|source| PackageError::Write {
            folder: folder(),
            source,
        })
    };
    Ok(Made {
        template: plain(&written(&resources(named))?),
        schema: written(&chart.schema(name))?,
    })
}

/// What a configuration looks like that uses it.
pub fn example(name: &str, type_name: &str) -> String {
    format!("resources:\n- name: {name}\n  type: {type_name}\n")
}

fn resources(named: Vec<(String, Object)>) -> Value {
    let resource = |(name, object): (String, Object)| json!({"name": name, "type": object.kind, "properties": object.value});
    json!({"resources": named.into_iter().map(resource).collect::<Vec<_>>()})
}

/// A template that gives this text: only braces mean something to Jinja.
fn plain(text: &str) -> String {
    text.replace('{', "{{'{'}}")
}
