//! A template version in a folder: `TEMPLATE/VERSION/`, with the other versions beside it; or a package, whose Chart.yaml names
//! its version.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use common::model::Version;

use super::{Previous, TestSubject, tried};
use crate::authoring::version::{TemplateVersion, VersionError};
use crate::bundle::files::Files;
use crate::error::Failure;

pub fn read(folder: &Path) -> Result<TestSubject, Failure> {
    // So that "." has a name and a parent.
    let whole = folder
        .canonicalize()
        .map_err(|error| unreadable(folder, &error))?;
    let version: Option<Version> = name_of(&whole).and_then(|name| name.parse().ok());
    let (template, versions) = match whole.parent().filter(|_| version.is_some()) {
        Some(parent) => (name_of(parent), parent),
        None => (name_of(&whole), whole.as_path()),
    };
    let template = template.unwrap_or_default();
    let release = release(template, version, folder)?;
    Ok(TestSubject {
        shown: folder.display().to_string(),
        example: tried(release.bundle())?,
        promises: promises(release, versions)?,
    })
}

fn name_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

fn release(
    template: &str,
    version: Option<Version>,
    folder: &Path,
) -> Result<TemplateVersion, VersionError> {
    let files = Rc::new(Files::Folder(folder.to_owned()));
    let shown = folder.display().to_string();
    TemplateVersion::read(template, version, &shown, files)
}

/// `around` is the folder that has all versions.
fn promises(now: TemplateVersion, around: &Path) -> Result<Previous, Failure> {
    let Some(version) = now.version else {
        let reason = "not compared: the folder's name is not a version";
        return Ok(Previous::None(reason.to_owned()));
    };
    let Some((version, folder)) = highest_below(around, version)? else {
        return Ok(Previous::first());
    };
    let before = release(&now.template, Some(version), &folder)?;
    Ok(Previous::Version(Box::new([before, now])))
}

fn highest_below(around: &Path, version: Version) -> Result<Option<(Version, PathBuf)>, Failure> {
    let failed = |error| unreadable(around, &error);
    let mut highest = None;
    for entry in std::fs::read_dir(around).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let named = name_of(&path).and_then(|name| name.parse().ok());
        let found = named.filter(|named| *named < version && path.is_dir());
        highest = highest.max(found.map(|version| (version, path)));
    }
    Ok(highest)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("{}: {error}", path.display()))
}
