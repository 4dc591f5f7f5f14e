//! Reads the files of the catalog: documents of several kinds, checked as a whole.

use std::collections::BTreeSet;
use std::path::PathBuf;

use common::node::{Faults, placed};
use common::yaml::{self, Duplicates, Limits};
use serde_json::Value;

use super::kinds::{self, Document, Gathered};
use super::source::File;
use super::{Catalog, Service};

/// What was read, and the files on disk that it depends on beside its own.
pub struct Reading {
    /// The catalog, or every fault with its place.
    pub catalog: Result<Catalog, Vec<String>>,
    pub files: BTreeSet<PathBuf>,
}

/// Bytes of the documents of all files.
pub const DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
/// Faults that are named. Nothing is read after the last of them.
const FAULTS: usize = 100;

/// Reads all files as one catalog. The texts are of a limited size, and only so many documents with faults are looked at.
pub fn read<'f>(files: impl IntoIterator<Item = &'f File>) -> Reading {
    let (mut gathered, mut faults) = (Gathered::default(), Vec::new());
    let mut left = DOCUMENT_BYTES;
    for file in files {
        let Some(rest) = left.checked_sub(file.text.len()) else {
            let (name, most) = (file.path.display(), DOCUMENT_BYTES / (1024 * 1024));
            faults.push(format!(
                "{name}: all documents of the catalog are larger than {most} MiB together; offer fewer services"
            ));
            break;
        };
        left = rest;
        faults.extend(read_file(file, &mut gathered));
        if faults.len() > FAULTS {
            break;
        }
    }
    faults.extend(kinds::interoperator::join(&mut gathered));
    Reading {
        catalog: outcome(gathered.services, gathered.listed, faults),
        files: gathered.files,
    }
}

fn outcome(
    services: Vec<Service>,
    listed: Vec<Value>,
    mut faults: Vec<String>,
) -> Result<Catalog, Vec<String>> {
    if faults.is_empty() {
        return Ok(Catalog::new(services, listed));
    }
    if faults.len() > FAULTS {
        faults.truncate(FAULTS);
        faults.push("there are more faults".to_owned());
    }
    Err(faults)
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
        let faults = faults.into_inner().into_iter().take(FAULTS + 1);
        all.extend(placed(&name, &file.text, index, faults.collect()));
        if all.len() > FAULTS {
            break;
        }
    }
    if known == 0 {
        let names = kinds::names();
        all.push(format!("{name}: it has none of {names}"));
    }
    all
}
