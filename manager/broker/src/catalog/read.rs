//! Reads the files of the catalog: documents of several kinds, checked as a whole.

use std::collections::BTreeSet;
use std::path::PathBuf;

use common::node::{Faults, placed};
use common::yaml::{self, Duplicates, Limits};

use super::Catalog;
use super::kinds::{self, Document, Gathered};

/// A file of the catalog.
pub struct Source {
    pub path: PathBuf,
    pub text: String,
}

/// What was read, and the files that it depends on beside the sources.
pub struct Reading {
    /// The catalog, or every fault with its place.
    pub catalog: Result<Catalog, Vec<String>>,
    pub files: BTreeSet<PathBuf>,
}

/// Reads all files as one catalog.
pub fn read(sources: &[Source]) -> Reading {
    let (mut gathered, mut faults) = (Gathered::default(), Vec::new());
    for source in sources {
        faults.extend(read_source(source, &mut gathered));
    }
    faults.extend(kinds::interoperator::join(&mut gathered));
    let catalog = match faults.is_empty() {
        true => Ok(Catalog::new(gathered.services, gathered.listed)),
        false => Err(faults),
    };
    Reading {
        catalog,
        files: gathered.files,
    }
}

/// The faults of a file.
fn read_source(source: &Source, gathered: &mut Gathered) -> Vec<String> {
    let file = source.path.display().to_string();
    let documents = yaml::read_all(&source.text, &Limits::DEFAULT, Duplicates::Error);
    let documents = match documents {
        Ok(documents) => documents,
        Err(error) => {
            let yaml::Location { line, column, .. } = error.location;
            return vec![format!("{file}:{line}:{column}: {}", error.kind)];
        }
    };
    let (mut all, mut known) = (Vec::new(), 0);
    for (index, document) in documents.iter().enumerate() {
        let faults = Faults::default();
        let Some(row) = kinds::of(&document.value) else {
            continue;
        };
        known += 1;
        let document = Document {
            path: &source.path,
            text: &source.text,
            value: &document.value,
            faults: &faults,
        };
        (row.read)(&document, gathered);
        all.extend(placed(&file, &source.text, index, faults.into_inner()));
    }
    if known == 0 {
        let names = kinds::names();
        all.push(format!("{file}: it has none of {names}"));
    }
    all
}
