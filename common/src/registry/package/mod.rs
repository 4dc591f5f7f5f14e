//! Packages: a folder with a `Chart.yaml`, and Kubernetes objects in `manifests`.
//!
//! Such a folder is a template without properties that has one resource per object. Decides which folders are packages,
//! and checks them. It does not know where the folder is, and what the objects mean.

mod chart;
mod error;

use crate::manifests;

pub use chart::Chart;
pub use error::PackageError;

/// The file that describes a package, in its folder.
pub const CHART: &str = "Chart.yaml";
/// The folder of the objects, in the package's folder.
pub const MANIFESTS: &str = "manifests";
/// As many as a template's schema may import.
pub const MANIFEST_FILES: usize = super::TEMPLATE_IMPORTS;
/// Objects of one package.
pub const OBJECTS: usize = 1_000;

/// Whether a file in [`MANIFESTS`] holds objects, by its name.
pub fn is_manifest(name: &str) -> bool {
    let mut endings = manifests::ENDINGS.iter();
    !name.starts_with('.') && endings.any(|ending| name.ends_with(ending))
}

/// Checks the objects of a package. `folder` is its name in errors. `manifests` are the names and texts of the files.
///
/// # Errors
/// A file cannot be read, an object is there twice, or there are none or too many.
pub fn check<'a>(
    folder: &str,
    manifests: impl IntoIterator<Item = (String, &'a str)>,
) -> Result<(), PackageError> {
    let folder = || folder.to_owned();
    let mut found = Vec::new();
    for (file, text) in manifests {
        found.extend(manifests::read(&file, text)?);
        if found.len() > OBJECTS {
            return Err(PackageError::TooManyObjects { folder: folder() });
        }
    }
    if found.is_empty() {
        return Err(PackageError::NoObjects { folder: folder() });
    }
    manifests::named(found)?;
    Ok(())
}

/// An example configuration that uses it.
pub fn example(name: &str, type_name: &str) -> String {
    format!("resources:\n- name: {name}\n  type: {type_name}\n")
}
