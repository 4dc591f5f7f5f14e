//! The files of an expansion: those of the caller, and those that were fetched for template references.
//!
//! The caller's files win: a type with the name of an import is never looked up in a registry.

use std::collections::HashSet;

use common::model::Import;
use common::model::limits::IMPORTS;

/// Why files cannot be combined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportsError {
    #[error("the import {0:?} is given twice: give each file its own name")]
    Twice(String),
    #[error("there are more than {IMPORTS} imported files, with those of the referenced templates")]
    TooMany,
}

/// Files with distinct names, in the order of addition.
#[derive(Debug, Clone, Default)]
pub struct Imports {
    files: Vec<Import>,
    names: HashSet<String>,
}

impl Imports {
    /// The caller's files. Two files of the same name are an error.
    pub fn of_request(files: Vec<Import>) -> Result<Self, ImportsError> {
        let mut imports = Self::default();
        for file in files {
            if imports.contains(&file.name) {
                return Err(ImportsError::Twice(file.name));
            }
            imports.push(file)?;
        }
        Ok(imports)
    }

    /// Adds the files of a template reference. Existing names are kept, so that the caller can replace a helper.
    pub fn add(&mut self, fetched: impl IntoIterator<Item = Import>) -> Result<(), ImportsError> {
        for file in fetched {
            if !self.contains(&file.name) {
                self.push(file)?;
            }
        }
        Ok(())
    }

    pub fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub fn files(&self) -> &[Import] {
        &self.files
    }

    fn push(&mut self, file: Import) -> Result<(), ImportsError> {
        if self.files.len() == IMPORTS {
            return Err(ImportsError::TooMany);
        }
        self.names.insert(file.name.clone());
        self.files.push(file);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, content: &str) -> Import {
        Import {
            name: name.to_owned(),
            path: None,
            content: content.to_owned(),
        }
    }

    #[test]
    fn a_name_given_twice_by_the_caller_is_refused() {
        let error = Imports::of_request(vec![file("a.py", "1"), file("a.py", "2")]).unwrap_err();
        assert_eq!(error, ImportsError::Twice("a.py".to_owned()));
    }

    #[test]
    fn what_the_caller_sent_wins_over_what_is_fetched() {
        let mut imports = Imports::of_request(vec![file("helper.py", "mine")]).unwrap();
        imports
            .add([file("t:v1", "template"), file("helper.py", "theirs")])
            .unwrap();
        let contents: Vec<_> = imports
            .files()
            .iter()
            .map(|file| file.content.as_str())
            .collect();
        assert_eq!(contents, ["mine", "template"]);
    }

    #[test]
    fn the_number_of_files_is_bounded() {
        let many = (0..=IMPORTS).map(|n| file(&n.to_string(), "")).collect();
        assert_eq!(
            Imports::of_request(many).unwrap_err(),
            ImportsError::TooMany
        );
    }
}
