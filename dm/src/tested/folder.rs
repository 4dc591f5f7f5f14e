//! A version's folder: `TEMPLATE/VERSION/`, with its siblings as the versions before it.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use common::model::Version;
use serde_json::Value;

use super::{EXAMPLE, Meant, Previous, Tested, parsed, types};
use crate::bundle::files::{Files, ReadError};
use crate::bundle::{Bundle, BundleError, Bundler};
use crate::error::Failure;

/// The template languages.
const SUFFIXES: [&str; 2] = [".jinja", ".py"];

pub fn read(folder: &Path) -> Result<Tested, Failure> {
    let failed = |error| Failure::File {
        path: folder.to_owned(),
        error,
    };
    // "." has a name and a parent, too.
    let whole = folder.canonicalize().map_err(failed)?;
    let version: Option<Version> = name_of(&whole).and_then(|name| name.parse().ok());
    let template = match whole.parent().filter(|_| version.is_some()) {
        Some(parent) => name_of(parent),
        None => name_of(&whole),
    };
    let template = template.unwrap_or_default().to_owned();
    let file = template_file(&whole, &template)?.ok_or_else(|| {
        let shown = folder.display();
        Failure::Configuration(format!(
            "{shown} holds no template: name it {template}.jinja or {template}.py, or test TEMPLATE/VERSION"
        ))
    })?;
    let meant = Meant {
        template: &template,
        version,
        file: &file,
    };
    Ok(Tested {
        shown: folder.display().to_string(),
        version,
        schema: schema(folder, &file)?,
        example: example(folder, &meant)?,
        previous: previous(&whole, version, &template)?,
    })
}

fn name_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// The file that bears the template's name; not both languages.
fn template_file(folder: &Path, template: &str) -> Result<Option<String>, Failure> {
    let candidates = SUFFIXES.map(|suffix| format!("{template}{suffix}"));
    let mut found = candidates
        .into_iter()
        .filter(|file| folder.join(file).is_file());
    match (found.next(), found.next()) {
        (Some(first), Some(second)) => Err(Failure::Configuration(format!(
            "{} holds two templates, {first} and {second}: a version has one",
            folder.display()
        ))),
        (first, _) => Ok(first),
    }
}

fn schema(folder: &Path, file: &str) -> Result<Option<Value>, BundleError> {
    let files = Files::Folder(folder.to_owned());
    let path = format!("{file}.schema");
    let shown = files.shown(&path);
    match files.read(&path) {
        Ok(text) => parsed(&shown, &text).map(Some),
        Err(ReadError::Missing) => Ok(None),
        Err(reason) => Err(unreadable(shown, reason)),
    }
}

fn unreadable(file: String, reason: ReadError) -> BundleError {
    BundleError::File {
        file,
        reason,
        asked: String::new(),
    }
}

/// The example with the template's own files under the names that it uses for them, so that no registry is asked.
fn example(folder: &Path, meant: &Meant<'_>) -> Result<Result<Bundle, String>, BundleError> {
    let files = Rc::new(Files::Folder(folder.to_owned()));
    let shown = files.shown(EXAMPLE);
    let content = match files.read(EXAMPLE) {
        Ok(content) => content,
        Err(ReadError::Missing) => return Ok(Err(format!("there is no {shown}"))),
        Err(reason) => return Err(unreadable(shown, reason)),
    };
    let configuration = parsed(&shown, &content)?;
    let mut bundler = Bundler::new(content, &shown, EXAMPLE, &files)?;
    let types = types(&configuration);
    let mut instances = types.into_iter().filter(|name| meant.by(name)).peekable();
    if instances.peek().is_none() {
        return Ok(Err(meant.missing()));
    }
    for name in instances {
        bundler.want(&files, name.to_owned(), meant.file.to_owned(), &shown);
    }
    bundler.finish().map(Ok)
}

fn previous(
    folder: &Path,
    version: Option<Version>,
    template: &str,
) -> Result<Option<Previous>, Failure> {
    let (Some(version), Some(parent)) = (version, folder.parent()) else {
        return Ok(None);
    };
    let Some((version, folder)) = sibling_below(parent, version)? else {
        return Ok(None);
    };
    let Some(file) = template_file(&folder, template)? else {
        return Err(Failure::Configuration(format!(
            "{} holds no template: it is the version before",
            folder.display()
        )));
    };
    let schema = schema(&folder, &file)?;
    Ok(Some(Previous { version, schema }))
}

fn sibling_below(parent: &Path, version: Version) -> Result<Option<(Version, PathBuf)>, Failure> {
    let failed = |error| Failure::File {
        path: parent.to_owned(),
        error,
    };
    let mut highest = None;
    for entry in std::fs::read_dir(parent).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let named = name_of(&path).and_then(|name| name.parse().ok());
        let found = named.filter(|named| *named < version && path.is_dir());
        highest = highest.max(found.map(|version| (version, path)));
    }
    Ok(highest)
}
