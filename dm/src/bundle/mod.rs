//! A configuration with all files that it needs, as the manager expects it.
//!
//! Follows the `imports` of the configuration, `FILE.schema` beside a file, and the `imports` of that schema. Paths in a bundle
//! are relative to the configuration, so the same files make the same request from any folder. Refuses to know the languages of
//! templates.

pub mod archive;
pub mod chart;
pub mod files;
pub mod imports;
pub mod manifests;
mod pattern;

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use common::api::manager::UpdateDeployment;
use common::model::Import;
use common::model::limits::IMPORTS;

use crate::error::{CommandError, Sources};
use files::{Files, ReadError, beside};
use imports::Declared;
use manifests::{Manifests, ManifestsError};

/// Three quarters of the limit of a request. The escapes of JSON need the rest.
pub const TOTAL_BYTES: usize = common::model::limits::REQUEST_BYTES / 4 * 3;

#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    #[error("{file} cannot be read: {reason}{asked}")]
    File {
        file: String,
        reason: ReadError,
        asked: String,
    },
    #[error("{place}: {reason}\n{excerpt}")]
    Malformed {
        place: String,
        reason: String,
        excerpt: String,
    },
    #[error(
        "{file}: its import {path:?} is a URL; use the URL as the type of a resource, and the manager fetches it"
    )]
    Url { file: String, path: String },
    #[error("{file}: no file matches its import {pattern:?}; correct the pattern, or remove it")]
    NoMatch { file: String, pattern: String },
    #[error(
        "two files are imported as {name:?}: {first} and {second}; give one of them a different name"
    )]
    SameName {
        name: String,
        first: String,
        second: String,
    },
    #[error(transparent)]
    Manifests(#[from] ManifestsError),
    #[error("more than {IMPORTS} files are imported")]
    TooManyFiles,
    #[error("the configuration and its files are larger than {TOTAL_BYTES} bytes together")]
    TooLarge,
}

impl CommandError for BundleError {}

/// What dm sends, and the sources of it.
#[derive(Debug, Default)]
pub struct Bundle {
    pub content: String,
    pub imports: Vec<Import>,
    pub sources: Sources,
}

impl Bundle {
    /// The new configuration for an update, and the sources for its errors.
    pub fn into_update(self) -> (UpdateDeployment, Sources) {
        let update = UpdateDeployment {
            content: Some(self.content),
            imports: self.imports,
            ..UpdateDeployment::default()
        };
        (update, self.sources)
    }
}

/// Whether a file is a configuration, by its name.
pub fn is_configuration(path: &str) -> bool {
    [".yaml", ".yml", ".json"]
        .iter()
        .any(|suffix| path.ends_with(suffix))
}

/// A file to read.
struct Wanted {
    files: Rc<Files>,
    name: String,
    path: String,
    /// The file that imports it, for errors. None for the optional schema of a file.
    asked_by: Option<String>,
}

/// Collects the files of a bundle.
pub struct Bundler {
    queue: VecDeque<Wanted>,
    bundle: Bundle,
    /// The source of each import, by name.
    taken: BTreeMap<String, String>,
    bytes: usize,
}

impl Bundler {
    /// Begins with a configuration. `shown` is its name in errors. Its imports are relative to `path`.
    pub fn new(
        content: String,
        shown: &str,
        path: &str,
        files: &Rc<Files>,
    ) -> Result<Self, BundleError> {
        let mut bundler = Self {
            queue: VecDeque::new(),
            bytes: content.len(),
            taken: BTreeMap::new(),
            bundle: Bundle {
                content,
                ..Bundle::default()
            },
        };
        let declared = imports::declared(&bundler.bundle.content, shown)?;
        bundler
            .bundle
            .sources
            .add(vec![path.to_owned()], shown, &bundler.bundle.content);
        for Declared { path: import, name } in declared {
            if import.contains("://") {
                return Err(BundleError::Url {
                    file: shown.to_owned(),
                    path: import,
                });
            }
            if import.contains('*') && name.is_none() {
                bundler.want_all(files, &import, path, shown)?;
                continue;
            }
            let name = name.unwrap_or_else(|| import.clone());
            bundler.want(files, name, beside(path, &import), shown);
        }
        Ok(bundler)
    }

    /// Asks for every file that a pattern like `helpers/*.py` matches. Each is imported under its path.
    fn want_all(
        &mut self,
        files: &Rc<Files>,
        pattern: &str,
        path: &str,
        shown: &str,
    ) -> Result<(), BundleError> {
        let (folder, wanted) = match pattern.rsplit_once('/') {
            Some((folder, wanted)) => (format!("{folder}/"), wanted),
            None => (String::new(), pattern),
        };
        let place = match beside(path, &format!("{folder}.")) {
            place if place.is_empty() => ".".to_owned(),
            place => place,
        };
        let unreadable = |reason| BundleError::File {
            file: files.shown(&place),
            reason,
            asked: format!("; {shown} imports files of it"),
        };
        let names = files.names(&place).map_err(unreadable)?;
        let is_wanted = |name: &&String| pattern::matches(wanted, name) && !name.ends_with(SCHEMA);
        let names: Vec<&String> = names.iter().filter(is_wanted).collect();
        if names.is_empty() {
            return Err(BundleError::NoMatch {
                file: shown.to_owned(),
                pattern: pattern.to_owned(),
            });
        }
        for name in names {
            let import = format!("{folder}{name}");
            self.want(files, import.clone(), beside(path, &import), shown);
        }
        Ok(())
    }

    /// Begins with Kubernetes objects from several files.
    pub fn from_manifests(manifests: Manifests) -> Self {
        let mut bundle = Bundle {
            content: manifests.text,
            ..Bundle::default()
        };
        for file in manifests.files {
            bundle
                .sources
                .add_part(Vec::new(), &file.shown, &file.content, file.first_line);
        }
        Self {
            queue: VecDeque::new(),
            bytes: bundle.content.len(),
            taken: BTreeMap::new(),
            bundle,
        }
    }

    /// Asks for one more file, by the name of which errors can say that `asked_by` wants it.
    pub fn want(&mut self, files: &Rc<Files>, name: String, path: String, asked_by: &str) {
        self.queue.push_back(Wanted {
            files: Rc::clone(files),
            name,
            path,
            asked_by: Some(asked_by.to_owned()),
        });
    }

    /// Reads the files, and the files that these import.
    pub fn finish(mut self) -> Result<Bundle, BundleError> {
        while let Some(wanted) = self.queue.pop_front() {
            let shown = wanted.files.shown(&wanted.path);
            if self.is_taken(&wanted.name, &shown)? {
                continue;
            }
            let content = match wanted.files.read(&wanted.path) {
                Ok(content) => content,
                Err(ReadError::Missing) if wanted.asked_by.is_none() => continue,
                Err(reason) => {
                    let asked = wanted
                        .asked_by
                        .map(|asker| format!("; {asker} imports it"))
                        .unwrap_or_default();
                    return Err(BundleError::File {
                        file: shown,
                        reason,
                        asked,
                    });
                }
            };
            self.take(wanted, shown, content)?;
        }
        if self.bytes > TOTAL_BYTES {
            return Err(BundleError::TooLarge);
        }
        Ok(self.bundle)
    }

    fn is_taken(&self, name: &str, shown: &str) -> Result<bool, BundleError> {
        match self.taken.get(name) {
            None => Ok(false),
            Some(first) if first == shown => Ok(true),
            Some(first) => Err(BundleError::SameName {
                name: name.to_owned(),
                first: first.clone(),
                second: shown.to_owned(),
            }),
        }
    }

    fn take(&mut self, wanted: Wanted, shown: String, content: String) -> Result<(), BundleError> {
        let Wanted {
            files,
            name,
            mut path,
            ..
        } = wanted;
        // A folder that was packed has the ending of packed charts.
        if files.is_chart(&path) && !path.ends_with(chart::ENDING) {
            path.push_str(chart::ENDING);
        }
        self.bytes += content.len();
        if self.bundle.imports.len() == IMPORTS {
            return Err(BundleError::TooManyFiles);
        }
        if self.bytes > TOTAL_BYTES {
            return Err(BundleError::TooLarge);
        }
        if name.ends_with(SCHEMA) {
            self.want_imports_of_schema(&files, &path, &shown, &content)?;
        } else {
            let (name, path) = (format!("{name}{SCHEMA}"), format!("{path}{SCHEMA}"));
            self.queue.push_back(Wanted {
                files,
                name,
                path,
                asked_by: None,
            });
        }
        self.bundle
            .sources
            .add(vec![name.clone(), path.clone()], &shown, &content);
        self.taken.insert(name.clone(), shown);
        self.bundle.imports.push(Import {
            name,
            path: Some(path),
            content,
        });
        Ok(())
    }

    /// URLs stay: the manager fetches them.
    fn want_imports_of_schema(
        &mut self,
        files: &Rc<Files>,
        path: &str,
        shown: &str,
        content: &str,
    ) -> Result<(), BundleError> {
        for Declared { path: import, name } in imports::declared(content, shown)? {
            if !import.contains("://") {
                self.want(
                    files,
                    name.unwrap_or_else(|| import.clone()),
                    beside(path, &import),
                    shown,
                );
            }
        }
        Ok(())
    }
}

/// The ending of a schema's name, after the name of its template.
const SCHEMA: &str = ".schema";

#[cfg(test)]
mod tests;
