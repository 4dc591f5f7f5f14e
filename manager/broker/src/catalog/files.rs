//! The template files beside a catalog: a type that is a file, its schema, and what the schema imports.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;

use common::model::{Import, language};
use common::yaml::{self, Duplicates, Limits};
use serde_json::Value;

use super::budget::Budget;
use super::source::Folder;

/// Types with these endings are files, and never kinds of the cluster.
const ENDINGS: [&str; 6] = [".jinja", ".py", ".gotmpl", ".yaml", ".yml", ".json"];

pub struct Files<'f> {
    folder: &'f Folder,
    budget: &'f mut Budget,
    /// Where every file that was read is on disk.
    pub places: BTreeSet<PathBuf>,
}

impl<'f> Files<'f> {
    pub fn new(folder: &'f Folder, budget: &'f mut Budget) -> Self {
        Self {
            folder,
            budget,
            places: BTreeSet::new(),
        }
    }

    /// The files of a type. A type that is no file has none: it is a reference, or a kind of the cluster.
    pub fn imports(&mut self, type_name: &str) -> Result<Vec<Import>, String> {
        let type_name = language::part(type_name).map_or(type_name, |(file, _)| file);
        if type_name.contains("://") || !ENDINGS.iter().any(|end| type_name.ends_with(end)) {
            return Ok(Vec::new());
        }
        let mut imports: Vec<Import> = Vec::new();
        let mut queue = VecDeque::from([(type_name.to_owned(), type_name.to_owned())]);
        while let Some((name, path)) = queue.pop_front() {
            if imports.iter().any(|import| import.name == name) {
                continue;
            }
            let schema = format!("{path}.schema");
            if self.folder.has(&schema) {
                let text = self.text(&schema)?;
                queue.extend(declared(&text, &schema)?);
                imports.push(import(format!("{name}.schema"), &schema, text));
            }
            let text = self.text(&path)?;
            imports.push(import(name, &path, text));
        }
        Ok(imports)
    }

    fn text(&mut self, path: &str) -> Result<String, String> {
        self.places.extend(self.folder.place(path));
        let text = self.folder.text(path)?;
        self.budget.spend(text.len())?;
        Ok(text)
    }
}

fn import(name: String, path: &str, content: String) -> Import {
    Import {
        path: (name != path).then(|| path.to_owned()),
        name,
        content,
    }
}

/// The names and paths of the files that a schema imports. Paths are relative to the schema.
fn declared(text: &str, schema: &str) -> Result<Vec<(String, String)>, String> {
    let document = yaml::read(text, &Limits::DEFAULT, Duplicates::Warn);
    let document =
        document.map_err(|error| format!("{schema}: {}: {}", error.location, error.kind))?;
    let entries = document.value["imports"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let folder = schema.rsplit_once('/').map(|(folder, _)| folder);
    let entries = entries.iter().map(|entry| {
        let path = entry["path"].as_str();
        let path = path.ok_or_else(|| format!("{schema}: an import is written {{path: FILE}}"))?;
        let name = entry.get("name").and_then(Value::as_str).unwrap_or(path);
        let path = folder.map_or_else(|| path.to_owned(), |folder| format!("{folder}/{path}"));
        Ok((name.to_owned(), path))
    });
    entries.collect()
}
