//! Reads the files of the catalog: documents of several kinds, checked as a whole.

use std::collections::BTreeSet;
use std::path::PathBuf;

use common::node::{Faults, placed};
use common::yaml::{self, Duplicates, Limits};

use super::Catalog;
use super::kinds::{self, Document, Gathered};
use super::source::File;

/// What was read, and the files on disk that it depends on beside its own.
pub struct Reading {
    /// The catalog, or every fault with its place.
    pub catalog: Result<Catalog, Vec<String>>,
    pub files: BTreeSet<PathBuf>,
}

/// Reads all files as one catalog.
pub fn read<'f>(files: impl IntoIterator<Item = &'f File>) -> Reading {
    let (mut gathered, mut faults) = (Gathered::default(), Vec::new());
    for file in files {
        faults.extend(read_file(file, &mut gathered));
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
fn read_file(file: &File, gathered: &mut Gathered) -> Vec<String> {
    let name = file.path.display().to_string();
    let documents = yaml::read_all(&file.text, &Limits::DEFAULT, Duplicates::Error);
    let documents = match documents {
        Ok(documents) => documents,
        Err(error) => {
            let yaml::Location { line, column, .. } = error.location;
            return vec![format!("{name}:{line}:{column}: {}", error.kind)];
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
            file,
            value: &document.value,
            faults: &faults,
        };
        (row.read)(&document, gathered);
        all.extend(placed(&name, &file.text, index, faults.into_inner()));
    }
    if known == 0 {
        let names = kinds::names();
        all.push(format!("{name}: it has none of {names}"));
    }
    all
}
