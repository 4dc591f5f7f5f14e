//! What there is to check in files and folders.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use common::manifests::{is_manifests, is_template_object};
use common::model::Version;
use common::model::language::{self, Form};
use common::registry::SCHEMA;

use crate::bundle::{chart, files};
use crate::error::Failure;

/// Files that one run looks at.
const FILES: usize = 10_000;
/// Folders within each other.
const DEPTH: usize = 16;
/// Functions that make a Python file a template. Others are its helpers.
const PYTHON: [&str; 2] = ["def GenerateConfig", "def generate_config"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A configuration, or Kubernetes objects.
    Configuration,
    /// A template in a language that has properties.
    Template,
    /// A schema without its template.
    Schema,
    Chart,
    /// A folder TEMPLATE/VERSION, with the name of its template's file.
    Version(String),
}

#[derive(Debug)]
pub struct Subject {
    pub path: PathBuf,
    pub kind: Kind,
}

/// # Errors
/// A path does not exist, cannot be read, or there are too many files.
pub fn subjects(paths: &[PathBuf]) -> Result<Vec<Subject>, Failure> {
    let mut walk = Walk::default();
    for path in paths {
        let unreadable = |error: std::io::Error| {
            Failure::not_found(format!("{} cannot be read: {error}", path.display()))
        };
        match fs::metadata(path).map_err(unreadable)?.is_dir() {
            true => walk.folder(path, DEPTH)?,
            false => walk.named(path),
        }
    }
    Ok(walk.found)
}

#[derive(Default)]
struct Walk {
    found: Vec<Subject>,
    seen: usize,
}

impl Walk {
    fn folder(&mut self, folder: &Path, depth: usize) -> Result<(), Failure> {
        if chart::is_chart(folder) {
            self.add(folder, Kind::Chart);
            return Ok(());
        }
        if let Some(template) = version(folder) {
            self.add(folder, Kind::Version(template));
            return Ok(());
        }
        let unreadable = |error: std::io::Error| {
            Failure::failed(format!("{} cannot be read: {error}", folder.display()))
        };
        let entries = fs::read_dir(folder).map_err(unreadable)?;
        let entries: Result<Vec<_>, _> = entries.collect();
        let mut entries = entries.map_err(unreadable)?;
        entries.sort_unstable_by_key(fs::DirEntry::file_name);
        for entry in entries {
            self.seen += 1;
            if self.seen > FILES {
                let reason =
                    format!("there are more than {FILES} files; name the folders to check");
                return Err(Failure::failed(reason));
            }
            let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            // Links could lead back.
            if kind.is_dir() && !is_hidden && depth > 0 {
                self.folder(&path, depth - 1)?;
            } else if kind.is_file() && !is_hidden {
                self.file(&path);
            }
        }
        Ok(())
    }

    /// A file among others: what is no template and no configuration is none of ours.
    fn file(&mut self, path: &Path) {
        if let Some(kind) = kind(path) {
            self.add(path, kind);
        }
    }

    /// A file that the user names is a configuration if it is nothing else.
    fn named(&mut self, path: &Path) {
        self.add(path, kind(path).unwrap_or(Kind::Configuration));
    }

    fn add(&mut self, path: &Path, kind: Kind) {
        // So that messages begin as the user would write them.
        let path = path.strip_prefix("./").unwrap_or(path).to_owned();
        self.found.push(Subject { path, kind });
    }
}

/// The template's file, if the folder is that of a version.
fn version(folder: &Path) -> Option<String> {
    let whole = folder.canonicalize().ok()?;
    whole.file_name()?.to_str()?.parse::<Version>().ok()?;
    let template = whole.parent()?.file_name()?.to_str()?;
    let found = language::find(template, |file| whole.join(file).is_file());
    let found = found.ok().flatten()?;
    (found.row.form == Form::File).then_some(found.name)
}

fn kind(path: &Path) -> Option<Kind> {
    let name = path.file_name()?.to_str()?;
    if let Some(template) = name.strip_suffix(SCHEMA) {
        // It is checked with its template.
        return (!path.with_file_name(template).is_file()).then_some(Kind::Schema);
    }
    if name.ends_with(".jinja") || name.ends_with(".gotmpl") {
        return Some(Kind::Template);
    }
    let ending = name.rsplit('.').next()?;
    if !["py", "yaml", "yml", "json"].contains(&ending) {
        return None;
    }
    let text = files::text(File::open(path).ok()?).ok()?;
    if ending == "py" {
        let is_template = PYTHON.iter().any(|function| text.contains(function));
        return is_template.then_some(Kind::Template);
    }
    let begins = |line: &str| line.starts_with("resources:") || line.starts_with("imports:");
    let is_configuration = text.lines().any(begins) || text.contains("\"resources\"");
    let is_one = is_template_object(&text) || is_manifests(&text) || is_configuration;
    is_one.then_some(Kind::Configuration)
}
